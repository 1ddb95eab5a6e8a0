#include "replay/record/change_set.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using cosmos::store::v1beta1::StoreKVPair;
using Writes = google::protobuf::RepeatedPtrField<StoreKVPair>;

std::string Text(const Writes& writes) {
  std::string text;
  for (const StoreKVPair& write : writes) text += Delimited(write);
  return text;
}

StoreKVPair Write(const std::string& store, const std::string& key, const std::string& value,
                  bool is_delete = false) {
  StoreKVPair write;
  write.set_store_key(store);
  write.set_key(key);
  write.set_value(value);
  write.set_delete_(is_delete);
  return write;
}

// The change sets of a real node, in the order of a recording, come out of any order in which a
// node can have listed them.
TEST(ChangeSetTest, RestoresTheOrderOfARealNode) {
  std::mt19937 random(1);
  for (const v1::Block& block :
       ReadBlocks(BLOCKREPLAY_FIXTURES "/regression/swaps-streaming-swaps")) {
    Writes writes = block.change_set();
    NormalizeChangeSet(&writes);
    ASSERT_EQ(Text(writes), Text(block.change_set())) << block.height();
    std::shuffle(writes.pointer_begin(), writes.pointer_end(), random);
    NormalizeChangeSet(&writes);
    ASSERT_EQ(Text(writes), Text(block.change_set())) << block.height();
  }
}

TEST(ChangeSetTest, KeepsTheLastWriteOfAKey) {
  Writes writes;
  *writes.Add() = Write("b", "k", "first");
  *writes.Add() = Write("a", std::string("\xff", 1), "high bytes are large");
  *writes.Add() = Write("a", "k", "");
  *writes.Add() = Write("b", "k", "", true);
  *writes.Add() = Write("a", "k", "again");
  *writes.Add() = Write("b", "k", "last");
  *writes.Add() = Write("b", "", "an empty key");
  NormalizeChangeSet(&writes);
  Writes expected;
  *expected.Add() = Write("a", "k", "again");
  *expected.Add() = Write("a", std::string("\xff", 1), "high bytes are large");
  *expected.Add() = Write("b", "", "an empty key");
  *expected.Add() = Write("b", "k", "last");
  EXPECT_EQ(Text(writes), Text(expected));
}

TEST(ChangeSetTest, LeavesAnEmptyOneEmpty) {
  Writes writes;
  NormalizeChangeSet(&writes);
  EXPECT_TRUE(writes.empty());
}

}  // namespace
}  // namespace blockreplay::replay
