#include "replay/import/formats/input_file.h"

#include <zlib.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

// `window_bits` as zlib counts them: 15 for its own header, 31 for gzip's.
std::string Deflated(const std::string& bytes, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class InputFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Contents(const std::string& name, const std::string& bytes) {
    WriteBytes(folder_.Path(name), bytes);
    auto source = OpenInputFile(folder_.Path(name));
    if (!source.ok()) return source.status();
    std::string contents;
    char buffer[1000];
    for (;;) {
      const auto size = (*source)->Read(buffer, sizeof(buffer));
      if (!size.ok()) return size.status();
      if (*size == 0) return contents;
      contents.append(buffer, *size);
    }
  }

  TemporaryDir folder_;
};

TEST_F(InputFileTest, DecompressesByName) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i);
  EXPECT_EQ(Contents("plain", text).value(), text);
  EXPECT_EQ(Contents("a.zst", Compressed(text)).value(), text);
  EXPECT_EQ(Contents("a.zz", Deflated(text, 15)).value(), text);
  EXPECT_EQ(Contents("a.gz", Deflated(text, 31)).value(), text);
  EXPECT_EQ(Contents("b.gz", Deflated(text, 31) + Deflated("more", 31)).value(), text + "more");
  EXPECT_EQ(Contents("empty", "").value(), "");
}

TEST_F(InputFileTest, SaysWhereACompressedFileIsDamaged) {
  const std::string whole = Deflated(std::string(10'000, 'x') + "end", 15);
  EXPECT_THAT(Contents("a.zz", whole.substr(0, whole.size() / 2)).status().message(),
              HasSubstr("a.zz: the compressed stream ends early"));
  EXPECT_THAT(Contents("a.zz", "").status().message(), HasSubstr("ends early"));
  EXPECT_THAT(Contents("a.zz", "nonsense").status().message(), HasSubstr("damaged zlib stream"));
  EXPECT_THAT(Contents("a.zz", whole + "nonsense").status().message(),
              HasSubstr("damaged zlib stream"));
  std::string changed = whole;
  changed.back() = static_cast<char>(~changed.back());
  EXPECT_THAT(Contents("a.zz", changed).status().message(), HasSubstr("incorrect data check"));
  EXPECT_EQ(OpenInputFile(folder_.Path("none.zz")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace blockreplay::replay
