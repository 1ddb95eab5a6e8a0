#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace blockreplay::replay {

// What something takes on disk, before it is made.
struct DiskBytes {
  uint64_t least = 0;   // no less
  uint64_t likely = 0;  // at least `least`

  DiskBytes& operator+=(const DiskBytes& other) {
    least += other.least;
    likely += other.likely;
    return *this;
  }
};

struct DiskNeed {
  DiskBytes recording;
  DiskBytes scratch;  // of the replay, in the folder for temporary files
};

// What is free where the two go.
struct DiskPlaces {
  std::string recording;  // paths, for messages
  std::string scratch;
  uint64_t recording_free = 0;
  uint64_t scratch_free = 0;
  bool same_disk = false;
};

// `out` need not exist. kNotFound and others where the system does not tell.
absl::StatusOr<DiskPlaces> FindDiskPlaces(const std::string& out);

// kResourceExhausted where there is not the least that is needed, with numbers and what to do. A
// warning likewise where there is less than is likely; empty if there is enough.
absl::StatusOr<std::string> CheckDiskSpace(const DiskNeed& need, const DiskPlaces& places);

}  // namespace blockreplay::replay
