#include "replay/import/formats/change_set_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/import/formats/input_file.h"
#include "replay/recording/delimited_reader.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

using cosmos::store::v1beta1::StoreKVPair;

constexpr size_t kBufferSize = size_t{128} << 10;
constexpr int kMaxVarintBytes = 10;
constexpr size_t kHeaderSize = 16;
// A key or value of a node; the same limit as for a message of a recording.
constexpr uint64_t kMaxBytes = DelimitedReader::kMaxMessageSize;

uint64_t LittleEndian(const char* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// First version in a file's name.
std::optional<int64_t> FirstVersion(std::string_view name) {
  constexpr std::string_view kPrefix = "block-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(".zz")) name.remove_suffix(3);
  int64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  if (error != std::errc() || end != name.data() + name.size() || version < 0) return std::nullopt;
  return version;
}

absl::StatusOr<std::vector<std::string>> FilesOfStore(const std::filesystem::path& dir) {
  std::error_code error;
  std::filesystem::directory_iterator entries(dir, error);
  if (error) return ErrnoStatus(error.value(), "read folder", dir.string());
  std::vector<std::pair<int64_t, std::string>> found;
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (error) return ErrnoStatus(error.value(), "read folder", dir.string());
    const std::optional<int64_t> version = FirstVersion(entries->path().filename().string());
    if (version) found.emplace_back(*version, entries->path().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> files;
  for (auto& [version, path] : found) files.push_back(std::move(path));
  return files;
}

}  // namespace

ChangeSetReader::ChangeSetReader(std::string store, std::vector<std::string> files)
    : store_(std::move(store)), files_(std::move(files)) {}

absl::Status ChangeSetReader::Damaged(const std::string& problem) const {
  return absl::DataLossError(absl::StrCat(files_[opened_ - 1], ": version ", version_,
                                          ", uncompressed offset ", offset_, ": ", problem));
}

absl::StatusOr<bool> ChangeSetReader::AtEnd() {
  if (position_ < buffer_.size()) return false;
  buffer_.resize(kBufferSize);
  const absl::StatusOr<size_t> size = source_->Read(buffer_.data(), buffer_.size());
  position_ = 0;
  buffer_.resize(size.ok() ? *size : 0);
  if (!size.ok()) return size.status();
  return buffer_.empty();
}

absl::Status ChangeSetReader::ReadBytes(uint64_t size, std::string* bytes) {
  bytes->clear();
  while (bytes->size() < size) {
    const absl::StatusOr<bool> at_end = AtEnd();
    if (!at_end.ok()) return at_end.status();
    if (*at_end) return Damaged("the file ends inside a change set: it is truncated");
    const auto take =
        static_cast<size_t>(std::min<uint64_t>(size - bytes->size(), buffer_.size() - position_));
    bytes->append(buffer_, position_, take);
    position_ += take;
    offset_ += take;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ChangeSetReader::ReadVarint() {
  uint64_t value = 0;
  std::string byte;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    if (absl::Status status = ReadBytes(1, &byte); !status.ok()) return status;
    const auto bits = static_cast<uint8_t>(byte[0]);
    if (i == kMaxVarintBytes - 1 && bits > 1) break;
    value |= uint64_t{bits & 0x7fu} << (7 * i);
    if (bits < 0x80) return value;
  }
  return Damaged("a length is no varint");
}

absl::StatusOr<int64_t> ChangeSetReader::NextVersion() {
  for (;;) {
    if (source_ != nullptr) {
      const absl::StatusOr<bool> at_end = AtEnd();
      if (!at_end.ok()) return at_end.status();
      if (!*at_end) break;
      source_ = nullptr;
    }
    if (opened_ == files_.size()) return 0;
    absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenInputFile(files_[opened_]);
    if (!source.ok()) return source.status();
    source_ = *std::move(source);
    ++opened_;
    offset_ = 0;
  }
  std::string header;
  if (absl::Status status = ReadBytes(kHeaderSize, &header); !status.ok()) return status;
  const uint64_t version = LittleEndian(header.data());
  if (version <= static_cast<uint64_t>(version_) || version > uint64_t{1} << 62) {
    return Damaged(absl::StrCat("version ", version, " comes next: versions must ascend"));
  }
  version_ = static_cast<int64_t>(version);
  size_ = LittleEndian(header.data() + 8);
  return version_;
}

absl::Status ChangeSetReader::ReadPair(uint64_t end, StoreKVPair* pair) {
  std::string kind;
  if (absl::Status status = ReadBytes(1, &kind); !status.ok()) return status;
  if (kind[0] != 0 && kind[0] != 1) {
    return Damaged(absl::StrCat("a write begins with ", static_cast<uint8_t>(kind[0]),
                                ", neither 0 (set) nor 1 (delete)"));
  }
  pair->set_store_key(store_);
  pair->set_delete_(kind[0] == 1);
  for (std::string* bytes : {pair->mutable_key(), kind[0] == 1 ? nullptr : pair->mutable_value()}) {
    if (bytes == nullptr) continue;
    const absl::StatusOr<uint64_t> size = ReadVarint();
    if (!size.ok()) return size.status();
    if (*size > kMaxBytes || offset_ > end || *size > end - offset_) {
      return Damaged(
          absl::StrCat("a key or value of ", *size, " bytes goes beyond the size of its version"));
    }
    if (absl::Status status = ReadBytes(*size, bytes); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ChangeSetReader::ReadWrites(Writes* writes) {
  if (size_ > uint64_t{1} << 62) return Damaged("its size is no size");
  const uint64_t end = offset_ + size_;
  size_ = 0;
  while (offset_ < end) {
    if (absl::Status status = ReadPair(end, writes->Add()); !status.ok()) return status;
  }
  if (offset_ != end) return Damaged("its last write goes beyond its size");
  return absl::OkStatus();
}

absl::Status ChangeSetReader::SkipWrites() {
  std::string piece;
  for (; size_ > 0; size_ -= piece.size()) {
    if (absl::Status status = ReadBytes(std::min<uint64_t>(size_, kBufferSize), &piece);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ChangeSetFiles> ChangeSetFiles::Open(const std::string& dir) {
  std::error_code error;
  std::filesystem::directory_iterator entries(dir, error);
  if (error) return ErrnoStatus(error.value(), "read folder", dir);
  ChangeSetFiles found(dir);
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (error) return ErrnoStatus(error.value(), "read folder", dir);
    if (!entries->is_directory(error)) continue;
    absl::StatusOr<std::vector<std::string>> files = FilesOfStore(entries->path());
    if (!files.ok()) return files.status();
    if (files->empty()) continue;
    const std::string name = entries->path().filename().string();
    found.stores_.push_back({name, ChangeSetReader(name, *std::move(files))});
  }
  if (found.stores_.empty()) {
    return absl::NotFoundError(absl::StrCat(
        dir,
        " has no files <store>/block-<version>[.zz]: give the folder into which the node's "
        "`changeset dump` wrote"));
  }
  std::sort(found.stores_.begin(), found.stores_.end(),
            [](const Store& a, const Store& b) { return a.name < b.name; });
  return found;
}

std::vector<std::string> ChangeSetFiles::stores() const {
  std::vector<std::string> names;
  for (const Store& store : stores_) names.push_back(store.name);
  return names;
}

absl::StatusOr<int64_t> ChangeSetFiles::FirstVersion() {
  int64_t first = 0;
  for (Store& store : stores_) {
    if (store.next_version < 0) {
      const absl::StatusOr<int64_t> next = store.reader.NextVersion();
      if (!next.ok()) return next.status();
      store.next_version = *next;
    }
    if (store.next_version > 0 && (first == 0 || store.next_version < first)) {
      first = store.next_version;
    }
  }
  if (first > 0) return first;
  return absl::NotFoundError(absl::StrCat(dir_, ": its files are empty"));
}

absl::Status ChangeSetFiles::Read(int64_t version, ChangeSetReader::Writes* writes) {
  bool any_left = false;
  for (Store& store : stores_) {
    while (store.next_version != 0 && store.next_version < version) {
      if (store.next_version > 0) {
        if (absl::Status status = store.reader.SkipWrites(); !status.ok()) return status;
      }
      const absl::StatusOr<int64_t> next = store.reader.NextVersion();
      if (!next.ok()) return next.status();
      store.next_version = *next;
    }
    any_left |= store.next_version != 0;
    if (store.next_version != version) continue;
    if (absl::Status status = store.reader.ReadWrites(writes); !status.ok()) return status;
  }
  if (any_left) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat(dir_, " has no change set of version ", version, " or later"));
}

}  // namespace blockreplay::replay
