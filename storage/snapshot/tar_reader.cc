#include "storage/snapshot/tar_reader.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage::snapshot {
namespace {

constexpr size_t kBlock = 512;

// Offsets and sizes of a header's fields.
struct Field {
  size_t offset;
  size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kSize{124, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kMagic{257, 5};
constexpr Field kPrefix{345, 155};

std::string_view Text(const char* header, Field field) {
  const std::string_view bytes(header + field.offset, field.size);
  return bytes.substr(0, bytes.find('\0'));
}

// Octal digits, spaces around them.
std::optional<uint64_t> Number(const char* header, Field field) {
  std::string_view digits = Text(header, field);
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  if (digits.empty()) return std::nullopt;
  uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '7') return std::nullopt;
    number = number * 8 + static_cast<uint64_t>(c - '0');  // at most 36 bits
  }
  return number;
}

// The sum of the header's bytes, its own field counting as spaces.
uint64_t Checksum(const char* header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    sum += own ? uint64_t{' '} : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

absl::Status Invalid(const std::string& problem) { return absl::DataLossError(problem); }

}  // namespace

absl::Status TarReader::ReadFully(char* buffer, size_t size) {
  while (size > 0) {
    absl::StatusOr<size_t> got = source_(buffer, size);
    if (!got.ok()) return got.status();
    if (*got == 0) return Invalid("the tar file is cut short");
    buffer += *got;
    size -= *got;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<TarReader::Entry>> TarReader::Next() {
  char block[kBlock];
  for (uint64_t skip = left_ + padding_; skip > 0;) {
    const size_t size = static_cast<size_t>(std::min<uint64_t>(skip, kBlock));
    if (absl::Status status = ReadFully(block, size); !status.ok()) return status;
    skip -= size;
  }
  left_ = padding_ = 0;
  if (absl::Status status = ReadFully(block, kBlock); !status.ok()) return status;
  if (std::all_of(block, block + kBlock, [](char c) { return c == '\0'; })) return std::nullopt;
  if (Number(block, kChecksum) != Checksum(block) || Text(block, kMagic) != "ustar") {
    return Invalid("not a tar file");
  }
  const char type = block[kType.offset];
  if ((type != '0' && type != '\0') || !Text(block, kPrefix).empty()) {
    return Invalid(absl::StrCat("a tar file with something else than plain files in it (\"",
                                std::string(Text(block, kName)), "\")"));
  }
  const std::optional<uint64_t> size = Number(block, kSize);
  if (!size) return Invalid("a file of unknown size in the tar file");
  left_ = *size;
  padding_ = (kBlock - *size % kBlock) % kBlock;
  return Entry{std::string(Text(block, kName)), *size};
}

absl::StatusOr<size_t> TarReader::Read(char* buffer, size_t size) {
  if (left_ == 0) return size_t{0};
  absl::StatusOr<size_t> got =
      source_(buffer, static_cast<size_t>(std::min<uint64_t>(size, left_)));
  if (!got.ok()) return got.status();
  if (*got == 0) return Invalid("the tar file is cut short");
  left_ -= *got;
  return got;
}

}  // namespace blockreplay::storage::snapshot
