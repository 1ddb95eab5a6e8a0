#include "storage/bptree/record.h"

#include <gtest/gtest.h>

#include "storage/bptree/crc32c.h"
#include "storage/bptree/simple_merkle.h"
#include "storage/bptree/test_support.h"

namespace blockreplay::storage::bptree {
namespace {

std::string Payload(const Node& node) {
  std::string record;
  SealNode(node, &record);
  return record.substr(0, record.size() - 4);
}

Ref<Node> Leaf() {
  Ref<Node> node(new LeafNode);
  for (const char key : {'a', 'b', 'c'}) {
    Ref<Entry> entry = Entry::Make(std::string(1, key), "value");
    entry->value_key = {1, 0};
    node->leaf()->Insert(node->count, std::move(entry));
  }
  return node;
}

Ref<Node> Inner() {
  Ref<Node> node(new InnerNode);
  node->height = 1;
  node->count = 2;
  node->inner()->SetSeparator(0, SharedKey::Make("m"));
  for (size_t i = 0; i < 2; ++i) {
    node->inner()->children[i].record = {1, static_cast<uint32_t>(i + 1)};
    node->inner()->children[i].size = 20;
  }
  return node;
}

TEST(Crc32cTest, HasTheCheckValue) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(RecordTest, ReadsWhatItWrites) {
  for (const Ref<Node>& node : {Leaf(), Inner()}) {
    const std::string payload = Payload(*node);
    const auto parsed = ParseNode({1, 7}, payload, node->height);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ((*parsed)->record, (RecordKey{1, 7}));
    EXPECT_EQ(Payload(**parsed), payload);
  }
}

TEST(RecordTest, RefusesNodesThatDoNotFitTheirParent) {
  EXPECT_EQ(ParseNode({1, 1}, Payload(*Leaf()), 1).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseNode({1, 1}, Payload(*Inner()), 0).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseNode({1, 1}, Payload(*Inner()), 2).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(ParseNode({1, 1}, Payload(*Inner()), std::nullopt).ok());
}

TEST(RecordTest, RefusesMalformedPayloads) {
  for (const Ref<Node>& node : {Leaf(), Inner()}) {
    const std::string payload = Payload(*node);
    for (size_t size = 0; size < payload.size(); ++size)
      EXPECT_FALSE(ParseNode({1, 1}, payload.substr(0, size), std::nullopt).ok()) << size;
    EXPECT_FALSE(ParseNode({1, 1}, payload + "x", std::nullopt).ok());
  }
  std::string swapped = Payload(*Leaf());
  std::swap(swapped[3], swapped[5]);  // keys out of order
  EXPECT_FALSE(ParseNode({1, 1}, swapped, std::nullopt).ok());
  std::string number = Payload(*Leaf());
  number[1] = 33;
  EXPECT_FALSE(ParseNode({1, 1}, number, std::nullopt).ok());
  EXPECT_FALSE(ParseRoot(std::string(31, 'x')).ok());
  EXPECT_FALSE(ParseOrphans(std::string("\x02", 1) + std::string(12, 'x')).ok());
  EXPECT_FALSE(ParseOrphans("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").ok());
  EXPECT_FALSE(Unseal("abc").ok());
}

TEST(SimpleMerkleTest, ReproducesTheHashesOfMaps) {
  size_t checked = 0;
  for (const char* file : {"bptree_vectors.json", "multistore_vectors.json"}) {
    const nlohmann::json fixture = ReadFixture(file);
    for (const auto& vector : fixture.at("simple_hash_from_map")) {
      std::vector<std::pair<std::string, std::string>> entries;
      for (const auto& [name, value] : vector.at("map").items())
        entries.emplace_back(name, Unhex(value.get<std::string>()));
      const std::optional<Hash> hash = SimpleMapHash(entries);
      EXPECT_EQ(vector.at("hash"), hash ? Hex(*hash) : "");
      ++checked;
    }
  }
  EXPECT_EQ(checked, 10u);
}

}  // namespace
}  // namespace blockreplay::storage::bptree
