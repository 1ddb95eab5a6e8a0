#pragma once

// The reproducible workload that the Go implementations were measured with. Every implementation
// that applies the same operations ends in the same root hashes, so a measurement proves itself.
//
// Keys 0 .. N-1 are loaded, one version for each 100,000 of them and a last one for the rest; then
// come versions of M operations: 80 % updates, 12 % inserts at the upper end of the live indices, 8
// % deletes at the lower end.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace blockreplay::storage::iavl {

class PeerWorkload {
 public:
  static constexpr size_t kValueSize = 64;
  static constexpr uint64_t kLoadBatch = 100'000;

  struct Operation {
    std::string key;
    std::string value;
    bool is_delete = false;
  };

  explicit PeerWorkload(uint64_t keys, uint64_t seed = 1) : high_(keys), state_(Mix(seed)) {}

  static uint64_t Mix(uint64_t x) {
    uint64_t z = x + kGamma;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  static void Key(uint64_t index, std::string* key) {
    key->assign("balances/");
    const uint64_t word = __builtin_bswap64(Mix(index));
    key->append(reinterpret_cast<const char*>(&word), sizeof(word));
  }

  static void Value(uint64_t index, int64_t version, std::string* value) {
    value->resize(kValueSize);
    uint64_t t = Mix(index ^ Mix(static_cast<uint64_t>(version)));
    for (size_t at = 0; at < kValueSize; at += 8) {
      const uint64_t word = Mix(t++);
      std::memcpy(value->data() + at, &word, sizeof(word));
    }
  }

  // The next operation of the version being built.
  void Next(int64_t version, Operation* operation) {
    const uint64_t percent = Draw() % 100;
    operation->is_delete = false;
    uint64_t index;
    if (percent < 80) {
      index = low_ + Draw() % (high_ - low_);
    } else if (percent < 92 || high_ - low_ < 2) {
      index = high_++;
    } else {
      index = low_++;
      operation->is_delete = true;
    }
    Key(index, &operation->key);
    if (!operation->is_delete) Value(index, version, &operation->value);
  }

  // A key that exists.
  void RandomKey(PeerWorkload* stream, std::string* key) const {
    Key(low_ + stream->Draw() % (high_ - low_), key);
  }

  uint64_t live_keys() const { return high_ - low_; }

 private:
  static constexpr uint64_t kGamma = 0x9e3779b97f4a7c15;

  uint64_t Draw() {
    const uint64_t drawn = Mix(state_);
    state_ += kGamma;
    return drawn;
  }

  uint64_t low_ = 0;
  uint64_t high_;
  uint64_t state_;
};

struct PeerRoot {
  uint64_t keys;
  int64_t version;
  const char* root;
};

// From runs of github.com/cosmos/iavl v1.2.0 and memiavl, 1,000 operations per version.
inline constexpr PeerRoot kPeerRoots[] = {
    {100'000, 1, "05feb2628eb89fcd1b4d9e2f3af91cfffb79ae5b4f8b38b90069d335d5ae5d5b"},
    {100'000, 201, "b6801ac49115df81926e2a4912f26e82ef55051e09b25c1bd73ce6fc9e809af0"},
    {100'000, 501, "9bf7b5128f1b7efd809d5a3815a9a60bd114ba8e3200b27dfd25cc67fbceff39"},
    {1'000'000, 10, "20a17b9bed900616b947398919b22d782d6303081070a9a6b55f2acee1e89f32"},
    {1'000'000, 110, "7d5b1e372f62b5ce88163252fc7d28bed63dcdea37352e10bc9d8a4626704539"},
    {1'000'000, 510, "de6cf7469c78ba746e2ff326b48aba617c7bd3a34c5246617502ce11fe57cfd2"},
};

}  // namespace blockreplay::storage::iavl
