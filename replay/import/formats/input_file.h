#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "replay/recording/byte_source.h"

namespace blockreplay::replay {

// The contents of a file, decompressed where its name says that it is compressed: `.zst` (zstd),
// `.zz` (zlib, as cronos writes change sets) or `.gz` (gzip, of one member or several); as it is
// otherwise. Errors name the file and the offset in it; a compressed stream that ends early is an
// error.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenInputFile(const std::string& path);

}  // namespace blockreplay::replay
