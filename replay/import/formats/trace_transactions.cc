#include "replay/import/formats/trace_transactions.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "cosmos/tx/v1beta1/tx.pb.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

using cosmos::store::v1beta1::StoreKVPair;
using Writes = std::vector<StoreKVPair>;
using KeySet = std::set<std::pair<std::string_view, std::string_view>>;

Writes Sorted(Writes writes) {
  std::stable_sort(writes.begin(), writes.end(), [](const StoreKVPair& a, const StoreKVPair& b) {
    return a.store_key() < b.store_key();
  });
  return writes;
}

// `writes` must outlive `keys`.
void AddKeys(const Writes& writes, KeySet* keys) {
  for (const StoreKVPair& write : writes) keys->emplace(write.store_key(), write.key());
}

bool ContainsAll(const KeySet& keys, const KeySet& wanted) {
  return std::includes(keys.begin(), keys.end(), wanted.begin(), wanted.end());
}

// Whether the ante handler of a transaction that succeeded flushed something. One that has signers
// raises their sequences; one without (consensus messages that a proposer injects) is let pass.
bool HasSigners(const std::string& bytes) {
  cosmos::tx::v1beta1::TxRaw raw;
  if (!raw.ParseFromString(bytes)) return false;
  return std::any_of(raw.signatures().begin(), raw.signatures().end(),
                     [](const std::string& signature) { return !signature.empty(); });
}

enum class Flushed { kYes, kNo, kUnknown };

// The runs between two points where the hash changes, for one hash.
using Section = std::vector<const TraceRun*>;

// Index of the run that flushes a message layer if it is the last one there: what its nested layers
// flushed before must be in it. Nothing if that is not so.
bool CanEndMessages(const Section& section, size_t end) {
  KeySet nested;
  for (size_t i = 0; i + 1 < end; ++i) AddKeys(section[i]->writes, &nested);
  const Writes flush = LastFlush(*section[end - 1]);
  KeySet flushed;
  AddKeys(flush, &flushed);
  return ContainsAll(flushed, nested);
}

struct Split {
  bool known = true;
  const TraceRun* messages = nullptr;
  const TraceRun* next_ante = nullptr;
};

// Who wrote what in the section of transaction i's hash: i's messages and the ante handler of i+1.
Split SplitSection(const Section& section, bool succeeded, Flushed ante) {
  Split split;
  if (section.empty()) return split;
  if (!succeeded) {
    // Nested layers of failed messages flush into a layer that is dropped.
    split.known = ante != Flushed::kUnknown;
    if (ante == Flushed::kYes) split.next_ante = section.back();
    return split;
  }
  if (ante == Flushed::kUnknown) {
    const bool without = CanEndMessages(section, section.size());
    const bool with = section.size() == 1 || CanEndMessages(section, section.size() - 1);
    split.known = with != without;
    ante = without ? Flushed::kNo : Flushed::kYes;
  }
  if (ante == Flushed::kYes) {
    split.next_ante = section.back();
    if (section.size() > 1) split.messages = section[section.size() - 2];
  } else {
    split.messages = section.back();
  }
  return split;
}

// The last section belongs to the last transaction's messages and to nested layers of end block.
Split SplitLastSection(const Section& section, bool succeeded) {
  Split split;
  if (!succeeded) return split;
  for (size_t end = section.size(); end > 0; --end) {
    if (!CanEndMessages(section, end)) continue;
    split.messages = section[end - 1];
    break;
  }
  return split;
}

}  // namespace

TracedTransactions TransactionsOfTrace(const TracedBlock& traced, const v1::Block& block) {
  const int count = block.request().txs_size();
  TracedTransactions result;
  result.writes.resize(static_cast<size_t>(count));
  if (count == 0 || block.response().tx_results_size() != count) return result;
  const auto succeeded = [&](int i) { return block.response().tx_results(i).code() == 0; };
  const auto ante = [&](int i) {
    if (!HasSigners(block.request().txs(i))) return Flushed::kNo;
    return succeeded(i) ? Flushed::kYes : Flushed::kUnknown;
  };

  // Sections from the last to the first: what is not of a transaction's hash ends the search, since
  // before the first transaction comes what CheckTx did with the same hashes.
  std::vector<Section> sections(static_cast<size_t>(count));
  size_t end = traced.runs.size();
  for (int i = count - 1; i >= 0; --i) {
    const std::string hash = absl::AsciiStrToUpper(HexOf(Sha256Of(block.request().txs(i))));
    while (end > 0 && traced.runs[end - 1].tx_hash == hash) {
      Section& section = sections[static_cast<size_t>(i)];
      section.insert(section.begin(), &traced.runs[--end]);
    }
  }
  Section first;  // the first ante handler's, behind nested layers of begin block and CheckTx
  if (end > 0 && traced.runs[end - 1].tx_hash.empty()) first.push_back(&traced.runs[end - 1]);

  // The ante handler's flush of each transaction, and whether that is known.
  std::vector<Split> splits;
  for (int i = 0; i < count; ++i) {
    const Section& section = sections[static_cast<size_t>(i)];
    splits.push_back(i + 1 < count ? SplitSection(section, succeeded(i), ante(i + 1))
                                   : SplitLastSection(section, succeeded(i)));
  }
  for (int i = 0; i < count; ++i) {
    const Split& split = splits[static_cast<size_t>(i)];
    const TraceRun* ante_run = nullptr;
    bool ante_known = true;
    if (i > 0) {
      ante_run = splits[static_cast<size_t>(i - 1)].next_ante;
      ante_known = splits[static_cast<size_t>(i - 1)].known;
    } else {
      ante_known = ante(0) != Flushed::kUnknown;
      if (ante(0) == Flushed::kYes) {
        ante_known = !first.empty();
        if (ante_known) ante_run = first.front();
      }
    }
    if (!split.known || !ante_known) continue;
    Writes writes;
    for (const TraceRun* run : {ante_run, split.messages}) {
      if (run == nullptr) continue;
      Writes flush = Sorted(LastFlush(*run));
      writes.insert(writes.end(), std::make_move_iterator(flush.begin()),
                    std::make_move_iterator(flush.end()));
    }
    result.writes[static_cast<size_t>(i)] = std::move(writes);
  }
  return result;
}

}  // namespace blockreplay::replay
