// Checks the documents against THORNode 3.17.0's own (built with mocknet), for made-up
// transactions of every message.

#include "keeper/thorchain/textual.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "keeper/thorchain/common/vectors.h"

namespace blockreplay::keeper::thorchain {
namespace {

using cosmos::bank::v1beta1::Metadata;

Metadata MakeMetadata(const std::string& denom, uint32_t exponent, const std::string& display,
                      uint32_t shown) {
  Metadata metadata;
  metadata.set_display(display);
  auto* unit = metadata.add_denom_units();
  unit->set_denom(denom);
  unit->set_exponent(exponent);
  unit = metadata.add_denom_units();
  unit->set_denom(display);
  unit->set_exponent(shown);
  return metadata;
}

// What the vectors were made with.
std::optional<Metadata> ReadMetadata(const std::string& denom) {
  if (denom == "rune") return MakeMetadata("rune", 0, "RUNE", 8);
  if (denom == "BTC") return MakeMetadata("BTC", 6, "mbtc", 2);
  if (denom == "ETH-0x1") {
    Metadata metadata;
    metadata.set_display("foo");
    return metadata;
  }
  return std::nullopt;
}

TEST(TextualTest, DocumentsAreThoseOfTheOriginal) {
  for (const nlohmann::json& row : LoadVectors(THORCHAIN_TESTDATA "/sign_docs.jsonl")) {
    cosmos::tx::v1beta1::TxRaw raw;
    ASSERT_TRUE(raw.ParseFromString(Base64Of(row, "in")));
    sdk::Tx tx;
    tx.body_bytes = raw.body_bytes();
    tx.auth_info_bytes = raw.auth_info_bytes();
    ASSERT_TRUE(tx.body.ParseFromString(raw.body_bytes()));
    ASSERT_TRUE(tx.auth_info.ParseFromString(raw.auth_info_bytes()));
    TextualSigner signer;
    signer.address = "x";
    signer.chain_id = "thorchain";
    signer.account_number = row.at("account_number");
    signer.sequence = row.at("sequence");
    signer.pub_key = tx.auth_info.signer_infos(0).public_key();
    const std::optional<std::string> document = TextualSignDoc(tx, signer, &ReadMetadata);
    ASSERT_EQ(document.has_value(), row.contains("textual")) << row;
    if (document) {
      EXPECT_EQ(*document, Base64Of(row, "textual")) << row;
    }
  }
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
