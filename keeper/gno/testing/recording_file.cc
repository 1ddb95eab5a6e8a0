#include "keeper/gno/testing/recording_file.h"

#include <zstd.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "blockreplay/v1/recording.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/delimited_message_util.h"

namespace blockreplay::keeper::gno::testing {

absl::StatusOr<std::string> ReadZstd(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot open ", path));
  const std::string compressed((std::istreambuf_iterator<char>(file)),
                               std::istreambuf_iterator<char>());
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  std::string content;
  std::string chunk(size_t{1} << 20, '\0');
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    const size_t result = ZSTD_decompressStream(context, &out, &in);
    if (ZSTD_isError(result) != 0) {
      ZSTD_freeDCtx(context);
      return absl::DataLossError(absl::StrCat(path, ": ", ZSTD_getErrorName(result)));
    }
    content.append(chunk.data(), out.pos);
  }
  // What did not fit into the last chunk.
  while (true) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(context, &out, &in)) != 0 || out.pos == 0) break;
    content.append(chunk.data(), out.pos);
  }
  ZSTD_freeDCtx(context);
  return content;
}

template <typename Message>
absl::StatusOr<std::vector<Message>> ReadMessages(const std::string& path) {
  absl::StatusOr<std::string> content = ReadZstd(path);
  if (!content.ok()) return content.status();
  google::protobuf::io::ArrayInputStream stream(content->data(), static_cast<int>(content->size()));
  std::vector<Message> messages;
  bool clean_eof = false;
  while (true) {
    Message message;
    if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&message, &stream, &clean_eof))
      break;
    messages.push_back(std::move(message));
  }
  if (!clean_eof) return absl::DataLossError(absl::StrCat(path, ": truncated"));
  return messages;
}

template absl::StatusOr<std::vector<v1::Block>> ReadMessages(const std::string& path);
template absl::StatusOr<std::vector<v1::BlockPhases>> ReadMessages(const std::string& path);

}  // namespace blockreplay::keeper::gno::testing
