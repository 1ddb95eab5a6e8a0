// Checks the documents against THORNode 3.17.0's own (built with mocknet), for made-up
// transactions of every message.

#include "keeper/thorchain/amino_json.h"

#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "keeper/thorchain/common/vectors.h"

namespace blockreplay::keeper::thorchain {
namespace {

TEST(AminoJsonTest, DocumentsAreThoseOfTheOriginal) {
  for (const nlohmann::json& row : LoadVectors(THORCHAIN_TESTDATA "/sign_docs.jsonl")) {
    cosmos::tx::v1beta1::TxRaw raw;
    ASSERT_TRUE(raw.ParseFromString(Base64Of(row, "in")));
    sdk::Tx tx;
    tx.body_bytes = raw.body_bytes();
    ASSERT_TRUE(tx.body.ParseFromString(raw.body_bytes()));
    ASSERT_TRUE(tx.auth_info.ParseFromString(raw.auth_info_bytes()));
    const std::optional<std::string> document =
        AminoSignDoc(tx, "thorchain", row.at("account_number"), row.at("sequence"), MockNet());
    EXPECT_EQ(document.value_or("error"), row.value("doc", "error"));
  }
}

TEST(AminoJsonTest, TextIsEscapedAsInGo) {
  EXPECT_EQ(JsonText("a\"\\/<&>\n\x01\x7f"), "\"a\\\"\\\\/\\u003c\\u0026\\u003e\\n\\u0001\x7f\"");
  EXPECT_EQ(JsonText("\xe2\x80\xa8\xe2\x80\xa9\xe2\x82\xac"), "\"\\u2028\\u2029\xe2\x82\xac\"");
  EXPECT_EQ(JsonText("\xff\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
