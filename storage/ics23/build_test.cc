#include "storage/ics23/build.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "storage/ics23/verify.h"

namespace blockreplay::storage::ics23 {
namespace {

nlohmann::json ReadJson(const std::string& name) {
  std::ifstream in(std::string(BLOCKREPLAY_FIXTURES) + "/iavl/" + name);
  return nlohmann::json::parse(in);
}

// JSON objects of the vectors are sorted by name already, as `std::map` is.
std::vector<NamedHash> Stores(const nlohmann::json& hashes) {
  std::vector<NamedHash> stores;
  for (const auto& [name, hex] : hashes.items()) {
    NamedHash store{name, {}};
    const std::string bytes = absl::HexStringToBytes(hex.get<std::string>());
    EXPECT_EQ(bytes.size(), store.hash.size());
    std::copy(bytes.begin(), bytes.end(), store.hash.begin());
    stores.push_back(store);
  }
  return stores;
}

std::string Bytes(const Hash& hash) { return {hash.begin(), hash.end()}; }

TEST(SimpleMap, RootIsTheAppHash) {
  int versions = 0;
  const nlohmann::json vectors = ReadJson("multistore_vectors.json");
  for (const auto& scenario : vectors["scenarios"]) {
    for (const auto& version : scenario["versions"]) {
      const std::vector<NamedHash> stores = Stores(version["store_hashes"]);
      const Hash root = SimpleMapRoot(stores);
      EXPECT_EQ(version["app_hash"], absl::BytesToHexString(Bytes(root))) << scenario["name"];
      for (size_t i = 0; i < stores.size(); ++i) {
        const CommitmentProof proof = MakeSimpleMapProof(stores, i);
        EXPECT_TRUE(VerifyMembership(TendermintSpec(), Bytes(root), proof, stores[i].name,
                                     Bytes(stores[i].hash))
                        .ok());
      }
      ++versions;
    }
  }
  EXPECT_EQ(versions, 191);
}

TEST(SimpleMap, ProofsAreTheNodes) {
  const nlohmann::json vectors = ReadJson("proof_vectors.json");
  int proofs = 0;
  for (const auto& p : vectors["multistore_proofs"]) {
    const auto& version = vectors["multistore"]["versions"][p["height"].get<size_t>() - 1];
    const std::vector<NamedHash> stores = Stores(version["store_hashes"]);
    size_t index = 0;
    while (p["store"] != stores[index].name) ++index;
    EXPECT_EQ(p["simple_proof"],
              absl::BytesToHexString(MakeSimpleMapProof(stores, index).SerializeAsString()));

    CommitmentProof in_store;
    ASSERT_TRUE(
        in_store.ParseFromString(absl::HexStringToBytes(p["iavl_proof"].get<std::string>())));
    const std::string key = absl::HexStringToBytes(p["key"].get<std::string>());
    EXPECT_EQ(p["proof_ops"],
              absl::BytesToHexString(MakeQueryProofOps(key, in_store, stores[index].name,
                                                       MakeSimpleMapProof(stores, index))
                                         .SerializeAsString()));
    ++proofs;
  }
  EXPECT_EQ(proofs, 112);
}

}  // namespace
}  // namespace blockreplay::storage::ics23
