// Messages that proposers inject, with attestations: the first byte chooses the type, the others
// are the message. An attestation without a signature is signed by the node that the first byte of
// its key chooses, as no fuzzer finds signatures. Each is run on a state with active nodes, with
// and without what native execution remembers, to the same result.
#include <secp256k1.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keeper/chain.h"
#include "keeper/optimisations.h"
#include "keeper/sdk/pub_key.h"
#include "keeper/thorchain/bech32_addresses.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/thorchain.h"
#include "storage/kv/memory_engine.h"
#include "types/records.pb.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kNodes = 4;

struct Signer {
  std::string secret;
  std::string public_key;
};

const secp256k1_context* Secp256k1() {
  static const secp256k1_context* const context = secp256k1_context_create(SECP256K1_CONTEXT_SIGN);
  return context;
}

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Signer MakeSigner(size_t i) {
  Signer signer{std::string(32, static_cast<char>(i + 1)), std::string(33, '\0')};
  secp256k1_pubkey point;
  size_t size = signer.public_key.size();
  if (secp256k1_ec_pubkey_create(Secp256k1(), &point, Bytes(signer.secret)) != 1 ||
      secp256k1_ec_pubkey_serialize(Secp256k1(),
                                    reinterpret_cast<unsigned char*>(signer.public_key.data()),
                                    &size, &point, SECP256K1_EC_COMPRESSED) != 1) {
    std::abort();
  }
  return signer;
}

const std::vector<Signer>& Signers() {
  static const auto* const signers = [] {
    auto* made = new std::vector<Signer>;
    for (size_t i = 0; i < kNodes; ++i) made->push_back(MakeSigner(i));
    return made;
  }();
  return *signers;
}

void Complete(const std::string& signed_bytes, std::vector<Attestation>* attestations) {
  for (Attestation& attestation : *attestations) {
    if (!attestation.signature.empty() || attestation.pub_key.empty()) continue;
    const Signer& signer = Signers()[static_cast<uint8_t>(attestation.pub_key[0]) % kNodes];
    const sdk::Sha256Digest digest = sdk::Sha256Of(signed_bytes);
    secp256k1_ecdsa_signature signature;
    secp256k1_ecdsa_sign(Secp256k1(), &signature, digest.data(), Bytes(signer.secret), nullptr,
                         nullptr);
    attestation.pub_key = signer.public_key;
    attestation.signature.resize(64);
    secp256k1_ecdsa_signature_serialize_compact(
        Secp256k1(), reinterpret_cast<unsigned char*>(attestation.signature.data()), &signature);
  }
}

// What each type of message signs.
void Complete(MsgObservedTxQuorum* m) {
  if (m->quo_tx) Complete(Encode(m->quo_tx->obs_tx.tx), &m->quo_tx->attestations);
}
void Complete(MsgNetworkFeeQuorum* m) {
  if (m->quo_net_fee && m->quo_net_fee->network_fee) {
    Complete(Encode(*m->quo_net_fee->network_fee), &m->quo_net_fee->attestations);
  }
}
void Complete(MsgSolvencyQuorum* m) {
  if (m->quo_solvency && m->quo_solvency->solvency) {
    Complete(Encode(*m->quo_solvency->solvency), &m->quo_solvency->attestations);
  }
}
void Complete(MsgErrataTxQuorum* m) {
  if (m->quo_errata && m->quo_errata->errata_tx) {
    Complete(Encode(*m->quo_errata->errata_tx), &m->quo_errata->attestations);
  }
}
void Complete(MsgPriceFeedQuorumBatch* m) {
  for (QuorumPriceFeed& quorum : m->quo_price_feeds) {
    if (quorum.price_feed) Complete(Encode(*quorum.price_feed), &quorum.attestations);
  }
}

// An injected transaction with the message; with the bytes as they are if they are none.
template <typename Message>
std::string Inject(const char* type_url, std::string_view bytes) {
  Message message;
  std::string value(bytes);
  if (Decode(bytes, &message)) {
    Complete(&message);
    value = Encode(message);
  }
  ::types::InjectTx envelope;
  google::protobuf::Any* const any = envelope.add_messages();
  any->set_type_url(type_url);
  any->set_value(value);
  return envelope.SerializeAsString();
}

std::string Inject(uint8_t type, std::string_view bytes) {
  switch (type % 5) {
    case 0:
      return Inject<MsgObservedTxQuorum>("/types.MsgObservedTxQuorum", bytes);
    case 1:
      return Inject<MsgNetworkFeeQuorum>("/types.MsgNetworkFeeQuorum", bytes);
    case 2:
      return Inject<MsgSolvencyQuorum>("/types.MsgSolvencyQuorum", bytes);
    case 3:
      return Inject<MsgErrataTxQuorum>("/types.MsgErrataTxQuorum", bytes);
    default:
      return Inject<MsgPriceFeedQuorumBatch>("/types.MsgPriceFeedQuorumBatch", bytes);
  }
}

// A state with active nodes.
class World {
 public:
  World() {
    const Build build = *Build::Make("3.17.0", "mainnet", "", {});
    Bech32Addresses addresses(build.network);
    const Keeper k{&build, &addresses, nullptr, nullptr};
    sdk::BlockInfo block;
    sdk::GasMeter gas = sdk::GasMeter::Infinite();
    sdk::EventManager events;
    const Context ctx(&block, &state_, &gas, &events);
    for (const Signer& signer : Signers()) {
      const CryptoKey key{CryptoKey::Type::kSecp256k1, signer.public_key};
      NodeAccount node;
      node.node_address = AccAddress(key.AddressBytes());
      node.pub_key_set.secp256k1 = PubKey::FromKey(key, *build.network);
      node.type = NodeType::TypeValidator;
      node.status = NodeStatus::Active;
      node.active_block_height = 1;
      SetNodeAccount(k, ctx, node);
    }
  }

  // Result and writes as text.
  std::string Run(const std::string& tx, OptimisationSet off) {
    SwitchOff(off);
    tendermint::abci::RequestFinalizeBlock request;
    request.set_height(100);
    request.add_txs(tx);
    if (!chain_->StartBlock(request).ok()) std::abort();
    sdk::MultiStore branch(&state_);
    const absl::StatusOr<PhaseResult> result = chain_->DeliverTx(0, &branch);
    if (!result.ok()) return std::string(result.status().message());
    std::string text =
        sdk::StrCat(result->code, " ", result->codespace, " ", result->gas_used, " ", result->log);
    for (const sdk::Event& event : result->events) {
      text += sdk::StrCat("\n", event.type);
      for (const sdk::Attribute& a : event.attributes)
        text += sdk::StrCat(" ", a.key, "=", a.value);
    }
    for (size_t i = 0; i < branch.size(); ++i) {
      for (const auto& [key, operation] : branch.store(static_cast<sdk::StoreId>(i)).operations()) {
        text +=
            sdk::StrCat("\n", i, " ", key, operation.deleted ? " deleted" : "=", operation.value);
      }
    }
    return text;
  }

 private:
  storage::MemoryEngine engine_;
  sdk::ReaderStore base_{&engine_};
  sdk::MultiStore state_{std::vector<sdk::BaseStore*>(StoreNames().size(), &base_)};
  std::unique_ptr<keeper::Chain> chain_ =
      *NewThorchain({"thornode", "3.17.0", "mainnet", "thorchain-1", "", ""});
};

void Run(uint8_t type, std::string_view bytes) {
  static auto* const world = new World;
  OptimisationSet all;
  for (size_t i = 0; i < kOptimisationNames.size(); ++i) all.Add(static_cast<Optimisation>(i));
  const std::string tx = Inject(type, bytes);
  const std::string without = world->Run(tx, all);
  for (int times = 0; times < 2; ++times) {
    if (world->Run(tx, {}) != without) {
      std::fprintf(stderr, "broken: what is remembered changes nothing\n");
      std::abort();
    }
  }
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  blockreplay::keeper::thorchain::Run(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
