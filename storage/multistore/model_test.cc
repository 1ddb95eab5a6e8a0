// Multistores with different settings do the same random things: whatever they are asked for, they
// must agree with each other in every hash, and with plain maps in their contents.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/test_util.h"
#include "storage/multistore/view.h"

namespace blockreplay::storage {
namespace {

using Map = std::map<std::string, std::string>;
using State = std::map<std::string, Map>;

// Of the candidate that prunes as the Go node does.
constexpr int64_t kPruneInterval = 3;
constexpr int64_t kKeepRecent = 4;

Pairs AsPairs(const Map& map) { return {map.begin(), map.end()}; }

struct Candidate {
  std::string name;
  MultistoreOptions options;
  std::unique_ptr<MemoryEngine> engine = std::make_unique<MemoryEngine>();
  std::unique_ptr<Multistore> store;

  void Open(const StoreUpgrades& upgrades, const std::vector<std::string>& names) {
    store.reset();
    MultistoreOptions with = options;
    with.upgrades = upgrades;
    with.stores = Specs(names);
    store = OpenOrDie(engine.get(), with);
  }
  bool deferred() const { return options.persistence == Persistence::kDeferred; }
};

class ModelTest : public ::testing::TestWithParam<int> {
 protected:
  ModelTest() : random_(static_cast<uint64_t>(GetParam())) {
    const auto add = [&](const std::string& name, auto&& change) {
      Candidate& candidate = candidates_.emplace_back();
      candidate.name = name;
      candidate.options.flush_interval_blocks = 5;
      change(&candidate.options);
      candidate.Open({}, names_);
    };
    add("every", [](MultistoreOptions* o) { o->persistence = Persistence::kEvery; });
    add("every, pruned, tiny cache, threads", [](MultistoreOptions* o) {
      o->persistence = Persistence::kEvery;
      o->prune_interval = kPruneInterval;
      o->keep_recent = kKeepRecent;
      o->threads = 4;
      o->cache_bytes = 4096;
    });
    add("deferred, in place", [](MultistoreOptions*) {});
    add("deferred, tiny cache, threads", [](MultistoreOptions* o) {
      o->threads = 2;
      o->cache_bytes = 16384;
    });
    add("deferred, copying, keeps 3", [](MultistoreOptions* o) {
      o->copy_on_write = true;
      o->keep_recent = 3;
      o->threads = 3;
    });
    for (const std::string& name : names_) state_[name];
  }

  void Write() {
    const std::string& name = names_[random_.Below(names_.size())];
    const std::string key = absl::StrCat("key", random_.Below(60));
    const bool remove = random_.Below(3) == 0;
    const std::string value(random_.Below(40), static_cast<char>('a' + random_.Below(26)));
    if (remove) {
      state_[name].erase(key);
    } else {
      state_[name][key] = value;
    }
    for (Candidate& c : candidates_) {
      Store* const store = c.store->store(name);
      ASSERT_NE(store, nullptr) << c.name;
      ASSERT_STATUS_OK(remove ? store->Delete(key) : store->Set(key, value));
    }
  }

  void Commit() {
    ++version_;
    if (version_ % kPruneInterval == 0)
      pruned_to_ = std::max(pruned_to_, version_ - 1 - kKeepRecent);
    const BlockTime time{.seconds = version_ * 6, .nanos = 7};
    for (Candidate& c : candidates_) {
      SCOPED_TRACE(c.name);
      const auto info = c.store->WorkingCommit(time);
      ASSERT_TRUE(info.ok()) << info.status();
      ASSERT_STATUS_OK(c.store->Commit());
      ASSERT_EQ(c.store->version(), version_);
      ASSERT_EQ(ToHex(c.store->app_hash()), ToHex(candidates_[0].store->app_hash()));
      ASSERT_EQ(EncodeCommitInfo(*info), EncodeCommitInfo(candidates_[0].store->last_commit()));
    }
    history_.resize(static_cast<size_t>(version_));
    history_.emplace_back(state_, candidates_[0].store->app_hash());
  }

  void RollBack() {
    state_ = history_.back().first;
    for (Candidate& c : candidates_) {
      SCOPED_TRACE(c.name);
      ASSERT_STATUS_OK(c.store->Rollback());
    }
  }

  void RollBackFurther() {
    RollBack();
    int64_t first = std::max(last_upgrade_, version_ - 3);
    for (const Candidate& c : candidates_) {
      if (c.deferred()) first = std::max(first, c.store->stats().flushed_version);
    }
    if (first < 1 || first > version_) return;
    const int64_t target =
        first + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(version_ - first + 1)));
    for (Candidate& c : candidates_) {
      SCOPED_TRACE(absl::StrCat(c.name, " from ", version_, " to ", target));
      ASSERT_STATUS_OK(c.store->RollbackToVersion(target));
      ASSERT_EQ(c.store->version(), target);
      ASSERT_EQ(ToHex(c.store->app_hash()), ToHex(history_[static_cast<size_t>(target)].second));
    }
    version_ = target;
    history_.resize(static_cast<size_t>(target) + 1);
    state_ = history_.back().first;
  }

  void Reopen() {
    RollBack();
    for (Candidate& c : candidates_) {
      SCOPED_TRACE(c.name);
      ASSERT_STATUS_OK(c.store->Sync());
      c.Open({}, names_);
      ASSERT_EQ(c.store->version(), version_);
    }
  }

  void Upgrade() {
    if (version_ == 0) return;
    RollBack();
    StoreUpgrades upgrades;
    State next = state_;
    std::vector<std::string> open = names_;
    const std::string fresh = absl::StrCat("new", version_);
    const std::string victim = names_[random_.Below(names_.size())];
    switch (names_.size() > 2 ? random_.Below(3) : 0) {
      case 0:
        upgrades.added = {fresh};
        open.push_back(fresh);
        next[fresh];
        break;
      case 1:
        upgrades.deleted = {victim};
        next.erase(victim);
        break;
      default:
        upgrades.renamed = {{victim, fresh}};
        std::replace(open.begin(), open.end(), victim, fresh);
        next[fresh] = next[victim];
        next.erase(victim);
    }
    std::sort(open.begin(), open.end());
    for (Candidate& c : candidates_) {
      SCOPED_TRACE(c.name);
      ASSERT_STATUS_OK(c.store->Sync());
      c.Open(upgrades, open);
    }
    state_ = next;
    names_.clear();
    for (const auto& [name, map] : state_) names_.push_back(name);
    for (uint64_t i = random_.Below(5); i > 0; --i) Write();
    last_upgrade_ = version_ + 1;
    Commit();
  }

  void Compare() {
    for (Candidate& c : candidates_) {
      SCOPED_TRACE(c.name);
      EXPECT_EQ(c.store->store_names(), names_);
      for (const std::string& name : names_) {
        EXPECT_EQ(Contents(*c.store->store(name)), AsPairs(state_[name])) << name;
      }
    }
  }

  // Every version that must still be there, and the last one from the database alone.
  void CompareViews() {
    RollBack();
    for (Candidate& c : candidates_) {
      SCOPED_TRACE(c.name);
      ASSERT_STATUS_OK(c.store->Sync());
      const int64_t first = c.deferred()                   ? version_
                            : c.options.prune_interval > 0 ? pruned_to_ + 1
                                                           : 1;
      for (int64_t version = std::max<int64_t>(1, first); version <= version_; ++version) {
        const auto view = c.store->View(version);
        ASSERT_TRUE(view.ok()) << view.status();
        CompareView(version, view->get());
      }
      const auto view = MultistoreView::Open(c.engine.get(), 0);
      if (version_ == 0) continue;
      ASSERT_TRUE(view.ok()) << view.status();
      ASSERT_EQ((*view)->version(), version_);
      CompareView(version_, view->get());
    }
  }

  void CompareView(int64_t version, MultistoreView* view) {
    SCOPED_TRACE(absl::StrCat("version ", version));
    const auto& [state, hash] = history_[static_cast<size_t>(version)];
    EXPECT_EQ(AppHash(view->commit_info()), hash);
    ASSERT_EQ(view->commit_info().stores.size(), state.size());
    for (const auto& [name, map] : state) {
      const auto tree = view->store(name);
      ASSERT_TRUE(tree.ok()) << tree.status();
      EXPECT_EQ(Contents(**tree), AsPairs(map)) << name;
    }
  }

  Random random_;
  std::vector<std::string> names_ = {"acc", "bank", "gov"};
  std::vector<Candidate> candidates_;
  State state_;
  int64_t version_ = 0;
  int64_t last_upgrade_ = 0;
  int64_t pruned_to_ = 0;  // versions that were pruned before a rollback do not come back
  // By version: contents and app hash.
  std::vector<std::pair<State, Hash>> history_ = {
      {{{"acc", {}}, {"bank", {}}, {"gov", {}}}, Hash{}}};
};

TEST_P(ModelTest, AllAgree) {
  for (int step = 0; step < 120; ++step) {
    SCOPED_TRACE(absl::StrCat("seed ", GetParam(), " step ", step, " version ", version_));
    for (uint64_t i = random_.Below(25); i > 0; --i) Write();
    switch (random_.Below(12)) {
      case 0:
        RollBack();
        break;
      case 1:
        Reopen();
        break;
      case 2:
        Upgrade();
        break;
      case 3:
        RollBackFurther();
        break;
      case 4:
        CompareViews();
        break;
      case 5:
        Commit();
        for (Candidate& c : candidates_) ASSERT_STATUS_OK(c.store->Flush());
        break;
      default:
        Commit();
    }
    if (HasFailure()) return;
    Compare();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, ::testing::Range(1, 13));

}  // namespace
}  // namespace blockreplay::storage
