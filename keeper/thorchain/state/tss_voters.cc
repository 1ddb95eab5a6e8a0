#include "keeper/thorchain/state/tss_voters.h"

#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string VoterKey(const std::string& id) { return StoreKey("tss/", id); }
std::string MetricKey(const PubKey& key) { return StoreKey("tss_keygen_metric/", key.ToString()); }

}  // namespace

Result<TssVoter> GetTssVoter(const Keeper& k, const Context& ctx, const std::string& id) {
  TssVoter voter;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, VoterKey(id), &voter));
  if (!found) voter.id = id;
  return voter;
}

void SetTssVoter(const Keeper& k, const Context& ctx, const TssVoter& voter) {
  SetRecord(k, ctx, VoterKey(voter.id), voter);
}

Result<TssKeygenMetric> GetKeygenMetric(const Keeper& k, const Context& ctx, const PubKey& key) {
  TssKeygenMetric metric;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, MetricKey(key), &metric));
  if (!found) metric.pub_key = key;
  return metric;
}

void SetKeygenMetric(const Keeper& k, const Context& ctx, const TssKeygenMetric& metric) {
  SetRecord(k, ctx, MetricKey(metric.pub_key), metric);
}

}  // namespace blockreplay::keeper::thorchain
