#include "keeper/verify/phase_verifier.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>

#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper {
namespace {

using sdk::StrAppend;
using sdk::StrCat;

constexpr std::string_view kGenesis = "GENESIS";
constexpr std::string_view kBeginBlock = "BEGIN";
constexpr std::string_view kEndBlock = "END";

std::string DescribeEvent(const sdk::Event& event) {
  std::string text = event.type;
  for (const sdk::Attribute& attribute : event.attributes) {
    StrAppend(&text, " ", attribute.key, "=", attribute.value);
  }
  return text;
}

sdk::Event FromProto(const tendermint::abci::Event& event) {
  sdk::Event out(event.type());
  for (const auto& attribute : event.attributes()) out.Add(attribute.key(), attribute.value());
  return out;
}

bool HasMode(const tendermint::abci::Event& event, std::string_view mode) {
  if (event.attributes_size() == 0) return false;
  const auto& last = event.attributes(event.attributes_size() - 1);
  return last.key() == "mode" && last.value() == mode;
}

void AppendDifference(std::string* text, std::string_view what, std::string_view expected,
                      std::string_view actual) {
  StrAppend(text, "    ", what, ":\n      recorded: ", expected, "\n      native:   ", actual,
            "\n");
}

}  // namespace

absl::StatusOr<RecordedWrites> RecordedWrites::From(const v1::Phase* phase,
                                                    const std::vector<std::string>& store_names) {
  RecordedWrites writes;
  writes.stores_.resize(store_names.size());
  if (phase == nullptr) return writes;
  for (const auto& pair : phase->writes()) {
    const auto name = std::lower_bound(store_names.begin(), store_names.end(), pair.store_key());
    if (name == store_names.end() || *name != pair.store_key()) {
      return absl::InvalidArgumentError(StrCat("a recorded write goes to the store ",
                                               pair.store_key(), ", which the chain doesn't have"));
    }
    writes.stores_[static_cast<size_t>(name - store_names.begin())].insert_or_assign(
        std::string_view(pair.key()), Write{pair.value(), pair.delete_()});
  }
  for (const Store& store : writes.stores_) writes.count_ += static_cast<int64_t>(store.size());
  return writes;
}

void RecordedWrites::ApplyTo(sdk::MultiStore* state) const {
  for (size_t i = 0; i < stores_.size(); ++i) {
    sdk::StoreBranch& store = state->store(static_cast<sdk::StoreId>(i));
    for (const auto& [key, write] : stores_[i]) {
      if (write.deleted) {
        store.Delete(key);
      } else {
        store.Set(key, write.value);
      }
    }
  }
}

KindCoverage Coverage::Total() const {
  KindCoverage total;
  for (const auto& [name, kind] : by_kind) {
    total.phases += kind.phases;
    total.executed += kind.executed;
    total.matched += kind.matched;
    total.writes += kind.writes;
    total.matched_writes += kind.matched_writes;
  }
  return total;
}

bool Coverage::AllMatched() const {
  const KindCoverage total = Total();
  return total.matched == total.executed && genesis.matched == genesis.executed;
}

void Coverage::Add(const Coverage& other) {
  const auto add = [](const KindCoverage& kind, KindCoverage* to) {
    to->phases += kind.phases;
    to->executed += kind.executed;
    to->matched += kind.matched;
    to->writes += kind.writes;
    to->matched_writes += kind.matched_writes;
    to->differences.insert(to->differences.end(), kind.differences.begin(), kind.differences.end());
    if (to->not_native.empty()) to->not_native = kind.not_native;
  };
  for (const auto& [name, kind] : other.by_kind) add(kind, &by_kind[name]);
  add(other.genesis, &genesis);
}

std::string Coverage::TableToString() const {
  std::string text;
  char line[256];
  const auto row = [&](const std::string& name, const KindCoverage& kind) {
    std::snprintf(line, sizeof(line), "%-52s %7lld %8lld %7lld  %6.2f%%  %9lld", name.c_str(),
                  static_cast<long long>(kind.phases), static_cast<long long>(kind.executed),
                  static_cast<long long>(kind.matched),
                  kind.phases == 0 ? 0.0
                                   : 100.0 * static_cast<double>(kind.matched) /
                                         static_cast<double>(kind.phases),
                  static_cast<long long>(kind.writes));
    StrAppend(&text, line, kind.not_native.empty() ? "" : "  not native: ", kind.not_native, "\n");
  };
  std::snprintf(line, sizeof(line), "%-52s %7s %8s %7s  %7s  %9s\n", "kind", "phases", "executed",
                "matched", "", "writes");
  text += line;
  for (const auto& [name, kind] : by_kind) row(name, kind);
  row("total", Total());
  if (genesis.phases > 0) row("genesis (not in the total)", genesis);
  return text;
}

std::string Coverage::DifferencesToString() const {
  std::string text;
  const auto append = [&](std::string_view name, const KindCoverage& kind) {
    for (const PhaseDifference& difference : kind.differences) {
      StrAppend(&text, name, ": height ", difference.height);
      if (difference.tx_index >= 0) StrAppend(&text, ", transaction ", difference.tx_index);
      StrAppend(&text, ":\n", difference.text);
    }
  };
  append(kGenesis, genesis);
  for (const auto& [name, kind] : by_kind) append(name, kind);
  return text;
}

struct PhaseVerifier::Expected {
  const RecordedWrites* writes;
  const tendermint::abci::ExecTxResult* tx;  // transactions
  std::vector<const tendermint::abci::Event*> events;
  const google::protobuf::RepeatedPtrField<tendermint::abci::ValidatorUpdate>* validator_updates;
};

bool PhaseVerifier::Wanted(std::string_view kind) const {
  if (options_.only_kinds.empty()) return true;
  return std::any_of(options_.only_kinds.begin(), options_.only_kinds.end(),
                     [&](const std::string& part) { return kind.find(part) != kind.npos; });
}

absl::Status PhaseVerifier::VerifyBlock(const v1::Block& block, const v1::BlockPhases* phases,
                                        sdk::MultiStore* state, sdk::MultiStore* genesis) {
  height_ = block.height();
  const auto& request = block.request();
  const auto& response = block.response();
  const v1::Phase* init = nullptr;
  const v1::Phase* begin = nullptr;
  const v1::Phase* end = nullptr;
  std::vector<const v1::Phase*> txs(static_cast<size_t>(request.txs_size()));
  if (phases != nullptr) {
    for (const v1::Phase& phase : phases->phases()) {
      switch (phase.kind()) {
        case v1::Phase::INIT_CHAIN:
          init = &phase;
          break;
        case v1::Phase::BEGIN_BLOCK:
          begin = &phase;
          break;
        case v1::Phase::END_BLOCK:
          end = &phase;
          break;
        case v1::Phase::TX:
          if (phase.tx_index() < 0 || phase.tx_index() >= request.txs_size()) {
            return absl::DataLossError(StrCat("height ", height_, ": phases name transaction ",
                                              phase.tx_index(), " of ", request.txs_size()));
          }
          txs[static_cast<size_t>(phase.tx_index())] = &phase;
          break;
        default:
          return absl::DataLossError(StrCat("height ", height_, ": a phase of unknown kind"));
      }
    }
  }
  if (response.tx_results_size() != request.txs_size()) {
    return absl::DataLossError(StrCat("height ", height_, ": ", response.tx_results_size(),
                                      " results for ", request.txs_size(), " transactions"));
  }
  if (absl::Status status = VerifyGenesis(block, init, state, genesis); !status.ok()) return status;
  if (absl::Status status = chain_->StartBlock(request); !status.ok()) return status;

  Expected block_expected{};
  Expected end_expected{};
  for (const auto& event : response.events()) {
    (HasMode(event, "EndBlock") ? end_expected : block_expected).events.push_back(&event);
  }
  end_expected.validator_updates = &response.validator_updates();

  const auto verify = [&](PhaseKind kind, int index, const std::string& name,
                          const v1::Phase* phase, Expected expected) -> absl::Status {
    absl::StatusOr<RecordedWrites> writes = RecordedWrites::From(phase, chain_->store_names());
    if (!writes.ok()) return writes.status();
    expected.writes = &*writes;
    if (absl::Status status = VerifyPhase(kind, index, name, expected, state); !status.ok()) {
      return status;
    }
    if (!options_.keep_native_writes) writes->ApplyTo(state);
    return absl::OkStatus();
  };
  if (absl::Status status = verify(PhaseKind::kBeginBlock, -1, std::string(kBeginBlock), begin,
                                   std::move(block_expected));
      !status.ok()) {
    return status;
  }
  for (int i = 0; i < request.txs_size(); ++i) {
    Expected expected{};
    expected.tx = &response.tx_results(i);
    for (const auto& event : expected.tx->events()) expected.events.push_back(&event);
    if (absl::Status status = verify(PhaseKind::kTx, i, chain_->DescribeTx(request.txs(i)),
                                     txs[static_cast<size_t>(i)], std::move(expected));
        !status.ok()) {
      return status;
    }
  }
  return verify(PhaseKind::kEndBlock, -1, std::string(kEndBlock), end, std::move(end_expected));
}

absl::Status PhaseVerifier::VerifyGenesis(const v1::Block& block, const v1::Phase* phase,
                                          sdk::MultiStore* state, sdk::MultiStore* genesis) {
  if (!block.has_init_chain() && phase == nullptr) return absl::OkStatus();
  absl::StatusOr<RecordedWrites> writes = RecordedWrites::From(phase, chain_->store_names());
  if (!writes.ok()) return writes.status();
  if (block.has_init_chain() && genesis != nullptr) {
    absl::Status status = chain_->InitChain(block.init_chain(), genesis, state);
    if (options_.keep_native_writes && !status.ok()) return status;
    const bool broken = absl::IsInternal(status);
    if (!status.ok() && !broken && !absl::IsUnimplemented(status)) return status;
    if (status.ok() || broken) {
      // One branch with both, to compare with what is recorded in one phase.
      sdk::MultiStore written(genesis);
      for (const sdk::MultiStore* branch : {genesis, state}) {
        for (size_t i = 0; i < written.size(); ++i) {
          sdk::StoreBranch& to = written.store(static_cast<sdk::StoreId>(i));
          for (const auto& [key, operation] :
               branch->store(static_cast<sdk::StoreId>(i)).operations()) {
            if (operation.deleted) {
              to.Delete(key);
            } else {
              to.Set(key, operation.value);
            }
          }
        }
      }
      Expected expected{};
      expected.writes = &*writes;
      KindCoverage& coverage = coverage_.genesis;
      ++coverage.phases;
      ++coverage.executed;
      coverage.writes += writes->count();
      std::string difference =
          broken ? StrCat("    ", std::string(status.message()), "\n")
                 : Compare(PhaseResult(), expected, written, sdk::MultiStore(genesis));
      if (difference.empty()) {
        ++coverage.matched;
        coverage.matched_writes += writes->count();
      } else if (coverage.differences.size() < options_.keep_differences) {
        coverage.differences.push_back({height_, -1, std::move(difference)});
      }
    }
  }
  if (options_.keep_native_writes) return absl::OkStatus();
  if (genesis != nullptr) genesis->Discard();
  state->Discard();
  writes->ApplyTo(state);
  return absl::OkStatus();
}

absl::Status PhaseVerifier::VerifyPhase(PhaseKind kind, int index, const std::string& name,
                                        const Expected& expected, sdk::MultiStore* state) {
  std::string key = name;
  if (expected.tx != nullptr && expected.tx->code() != 0) key += " (failed)";
  KindCoverage& coverage = coverage_.by_kind[key];
  ++coverage.phases;
  coverage.writes += expected.writes->count();
  if (!Wanted(key)) return absl::OkStatus();

  sdk::MultiStore branch(state);
  if (options_.observer != nullptr) options_.observer->OnStart(kind, index, name);
  absl::StatusOr<PhaseResult> result = kind == PhaseKind::kBeginBlock ? chain_->BeginBlock(&branch)
                                       : kind == PhaseKind::kTx ? chain_->DeliverTx(index, &branch)
                                                                : chain_->EndBlock(&branch);
  if (options_.observer != nullptr) {
    options_.observer->OnFinish(kind, index, result.ok() ? &*result : nullptr);
  }
  if (options_.keep_native_writes && !result.ok()) {
    return absl::Status(result.status().code(),
                        StrCat(name, index < 0 ? "" : StrCat(", transaction ", index), ": ",
                               std::string(result.status().message())));
  }
  if (absl::IsUnimplemented(result.status())) {
    if (coverage.not_native.empty()) coverage.not_native = std::string(result.status().message());
    return absl::OkStatus();
  }
  // The node came through this phase, so breaking an invariant in it is a difference.
  const bool broken = absl::IsInternal(result.status());
  if (!result.ok() && !broken) return result.status();
  ++coverage.executed;
  std::string difference = broken ? StrCat("    ", std::string(result.status().message()), "\n")
                                  : Compare(*result, expected, branch, *state);
  if (difference.empty()) {
    ++coverage.matched;
    coverage.matched_writes += expected.writes->count();
  } else if (coverage.differences.size() < options_.keep_differences) {
    coverage.differences.push_back({height_, index, std::move(difference)});
  }
  if (options_.keep_native_writes) branch.Write();
  return absl::OkStatus();
}

std::string PhaseVerifier::Compare(const PhaseResult& actual, const Expected& expected,
                                   const sdk::MultiStore& branch,
                                   const sdk::MultiStore& state) const {
  std::string text;
  if (expected.tx != nullptr) {
    const auto& tx = *expected.tx;
    if (tx.code() != actual.code || tx.codespace() != actual.codespace) {
      AppendDifference(&text, "code", StrCat(tx.codespace(), "/", tx.code(), " ", tx.log()),
                       StrCat(actual.codespace, "/", actual.code, " ", actual.log));
    }
    if (tx.gas_wanted() != actual.gas_wanted) {
      AppendDifference(&text, "gas wanted", StrCat(tx.gas_wanted()), StrCat(actual.gas_wanted));
    }
    if (tx.gas_used() != actual.gas_used) {
      AppendDifference(&text, "gas used", StrCat(tx.gas_used()),
                       StrCat(actual.gas_used, " (", actual.gas_used - tx.gas_used(), " more)"));
    }
    if (tx.data() != actual.data) AppendDifference(&text, "data", tx.data(), actual.data);
  }

  constexpr int kShown = 6;
  int differences = 0;
  const auto describe = [&](const std::string& store, std::string_view key, std::string_view value,
                            bool deleted) {
    return deleted ? std::string("deleted") : chain_->DescribeValue(store, key, value);
  };
  const size_t compared = options_.compare_writes ? expected.writes->stores().size() : 0;
  for (size_t i = 0; i < compared; ++i) {
    const std::string& store = chain_->store_names()[i];
    const RecordedWrites::Store& recorded = expected.writes->stores()[i];
    const auto& native = branch.store(static_cast<sdk::StoreId>(i)).operations();
    auto r = recorded.begin();
    auto n = native.begin();
    while (r != recorded.end() || n != native.end()) {
      const bool has_recorded = r != recorded.end() && (n == native.end() || r->first <= n->first);
      const bool has_native = n != native.end() && (r == recorded.end() || n->first <= r->first);
      const std::string_view key = has_recorded ? r->first : n->first;
      if (!has_recorded || !has_native || r->second.deleted != n->second.deleted ||
          r->second.value != n->second.value) {
        if (++differences <= kShown) {
          const std::optional<std::string_view> before =
              state.store(static_cast<sdk::StoreId>(i)).Get(key);
          AppendDifference(
              &text,
              StrCat("write to ", store, " ", chain_->DescribeKey(store, key), " (before: ",
                     before ? chain_->DescribeValue(store, key, *before) : "absent", ")"),
              has_recorded ? describe(store, key, r->second.value, r->second.deleted) : "no write",
              has_native ? describe(store, key, n->second.value, n->second.deleted) : "no write");
        }
      }
      if (has_recorded) ++r;
      if (has_native) ++n;
    }
  }
  if (differences > kShown) StrAppend(&text, "    and ", differences - kShown, " more writes\n");

  const size_t events = std::max(expected.events.size(), actual.events.size());
  for (size_t i = 0; i < events; ++i) {
    const std::optional<sdk::Event> recorded =
        i < expected.events.size() ? std::optional(FromProto(*expected.events[i])) : std::nullopt;
    const sdk::Event* native = i < actual.events.size() ? &actual.events[i] : nullptr;
    if (recorded && native != nullptr && *recorded == *native) continue;
    AppendDifference(&text,
                     StrCat("event ", i, " of ", expected.events.size(), " recorded, ",
                            actual.events.size(), " native"),
                     recorded ? DescribeEvent(*recorded) : "none",
                     native != nullptr ? DescribeEvent(*native) : "none");
    break;
  }

  if (expected.validator_updates != nullptr) {
    const auto& recorded = *expected.validator_updates;
    bool same = static_cast<size_t>(recorded.size()) == actual.validator_updates.size();
    for (int i = 0; same && i < recorded.size(); ++i) {
      same = recorded[i].SerializeAsString() ==
             actual.validator_updates[static_cast<size_t>(i)].SerializeAsString();
    }
    if (!same) {
      AppendDifference(&text, "validator updates", StrCat(recorded.size()),
                       StrCat(actual.validator_updates.size(), ", or others"));
    }
  }
  return text;
}

}  // namespace blockreplay::keeper
