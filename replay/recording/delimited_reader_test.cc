#include "replay/recording/delimited_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

// Hands out `bytes` in pieces of at most `piece` bytes.
class StringSource : public ByteSource {
 public:
  StringSource(std::string bytes, size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    const size_t size = std::min({capacity, piece_, bytes_.size() - at_});
    std::copy_n(bytes_.data() + at_, size, buffer);
    at_ += size;
    return size;
  }

 private:
  std::string bytes_;
  size_t piece_;
  size_t at_ = 0;
};

DelimitedReader ReaderOf(std::string bytes, size_t piece = 4096) {
  return DelimitedReader(std::make_unique<StringSource>(std::move(bytes), piece), "stream");
}

TEST(DelimitedReader, CutsMessagesWhereverTheStreamIsCut) {
  const std::string long_message(300, 'x');
  const std::string stream =
      std::string("\x03") + "abc" + std::string(1, '\0') + "\xac\x02" + long_message;
  for (const size_t piece : {1u, 2u, 3u, 7u, 1000u}) {
    DelimitedReader reader = ReaderOf(stream, piece);
    std::string message;
    ASSERT_TRUE(*reader.Next(&message));
    EXPECT_EQ(message, "abc");
    EXPECT_EQ(reader.message_offset(), 0u);
    ASSERT_TRUE(*reader.Next(&message));
    EXPECT_EQ(message, "");
    EXPECT_EQ(reader.message_offset(), 4u);
    ASSERT_TRUE(*reader.Next(&message));
    EXPECT_EQ(message, long_message);
    EXPECT_EQ(reader.message_offset(), 5u);
    EXPECT_FALSE(*reader.Next(&message));
  }
}

TEST(DelimitedReader, AClaimedLengthIsNotAllocated) {
  DelimitedReader reader = ReaderOf(std::string("\x80\x80\x80\xfa\x01", 5) + "abc");
  std::string message;
  const absl::StatusOr<bool> more = reader.Next(&message);
  ASSERT_FALSE(more.ok());
  EXPECT_THAT(std::string(more.status().message()), HasSubstr("after 3 of its 524288000 bytes"));
  EXPECT_LT(message.capacity(), size_t{1} << 20);
}

TEST(DelimitedReader, LengthsAboveTheLimitAreRefusedAtOnce) {
  DelimitedReader reader = ReaderOf(std::string("\x81\x80\x80\x80\x02", 5) + std::string(10, 'x'));
  std::string message;
  EXPECT_THAT(std::string(reader.Next(&message).status().message()),
              HasSubstr("claims 536870913 bytes, the most is 536870912"));
}

}  // namespace
}  // namespace blockreplay::replay
