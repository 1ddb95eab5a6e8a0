// Every kind of stored value, and every message: what can be decoded must be a fixed point after
// one encoding, and be described.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/descriptor.h"
#include "keeper/thorchain/records.h"
#include "keeper/thorchain/state_schema.h"
#include "types/messages.pb.h"

namespace blockreplay::keeper::thorchain {
namespace {

template <typename Encode>
void CheckFixedPoint(std::string_view type, std::string_view bytes, Encode&& reencode) {
  const std::optional<std::string> once = reencode(bytes);
  if (!once || reencode(*once) == once) return;
  std::fprintf(stderr, "%s: encoding is no fixed point\n", std::string(type).c_str());
  std::abort();
}

void Check(uint8_t index, std::string_view bytes) {
  const auto kinds = AllStoredKinds();
  const StoredKind& kind = *kinds[index % kinds.size()];
  CheckFixedPoint(kind.name, bytes,
                  [&](std::string_view value) { return ReencodeValue(kind, value); });
  (void)DescribeStoredValue(kind.store, kind.prefix, bytes);

  const google::protobuf::FileDescriptor* const messages = ::types::MsgSend::descriptor()->file();
  const std::string& type =
      messages->message_type(index % messages->message_type_count())->full_name();
  CheckFixedPoint(type, bytes, [&](std::string_view value) {
    bool ok = false;
    std::optional<std::string> encoded = Reencode(type, value, &ok);
    return ok ? encoded : std::nullopt;
  });
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  blockreplay::keeper::thorchain::Check(data[0],
                                        {reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
