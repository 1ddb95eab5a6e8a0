// Every stored record type: what can be decoded must be a fixed point after one encoding.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/descriptor.h"
#include "keeper/thorchain/records.h"
#include "types/messages.pb.h"
#include "types/records.pb.h"

namespace {

void Check(const google::protobuf::FileDescriptor* file, int index, std::string_view bytes) {
  const std::string& type = file->message_type(index % file->message_type_count())->full_name();
  bool ok = false;
  const std::optional<std::string> once =
      blockreplay::keeper::thorchain::Reencode(type, bytes, &ok);
  if (!once || !ok) return;
  const std::optional<std::string> twice =
      blockreplay::keeper::thorchain::Reencode(type, *once, &ok);
  if (!ok || twice != once) {
    std::fprintf(stderr, "%s: encoding is no fixed point\n", type.c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  Check(types::Pool::descriptor()->file(), data[0], bytes);
  Check(types::MsgSend::descriptor()->file(), data[0], bytes);
  return 0;
}
