#include "replay/cli/progress.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace blockreplay::replay {
namespace {

std::string Proving(const RunPlan& plan) {
  if (plan.options.exec == ExecutionMode::kNative) {
    std::string text =
        "every app hash and store root, computed from our own trees, after executing each block "
        "natively with nothing recorded but the requests (--exec native); and that each phase has "
        "the recorded code, gas, data and events";
    text += plan.manifest.StreamFiles("phases").empty()
                ? "; not proven: the writes of single phases, which are not recorded"
                : " and writes";
    return text;
  }
  std::string text =
      "every app hash and store root, computed from our own trees, after applying each block's "
      "recorded net writes (--exec ";
  absl::StrAppend(&text, NameOf(plan.options.exec), "); ");
  text += plan.options.exec == ExecutionMode::kApply
              ? "not proven: that executing the transactions gives these writes"
              : "and that executing each phase that has native code gives the recorded writes, "
                "code, gas, data and events; not proven: phases without native code";
  return text;
}

}  // namespace

RunProgress::RunProgress(const RunPlan& plan, std::string host)
    : plan_(plan),
      host_(std::move(host)),
      quiet_(plan.options.quiet),
      heights_(plan.options.quiet) {}

void RunProgress::OnListen(const std::string& url) {
  if (quiet_) return;
  std::printf("pprof       %s\n", url.c_str());
  std::fflush(stdout);
}

void RunProgress::OnOpen(const std::string& database, const std::string& seek_compaction) {
  Finish();
  if (quiet_) return;
  const RunOptions& options = plan_.options;
  const Manifest& manifest = plan_.manifest;
  std::printf("recording   %s: %s, %s %s, heights %lld to %lld\n", options.recording.c_str(),
              manifest.chain_id.c_str(), manifest.application_name.c_str(),
              manifest.application_version.c_str(), static_cast<long long>(manifest.first_height),
              static_cast<long long>(manifest.last_height));
  std::printf("digest      %s\n", plan_.digest.c_str());
  std::printf(
      "measuring   blocks %lld to %lld%s%s\n", static_cast<long long>(plan_.from),
      static_cast<long long>(plan_.to),
      options.passes > 1 ? absl::StrCat(", ", options.passes, " passes").c_str() : "",
      plan_.pace ? absl::StrCat(", at ", *plan_.pace, " times the original pace").c_str() : "");
  std::printf("proving     %s\n", Proving(plan_).c_str());
  if (options.repeat_block > 1) {
    std::printf("            each block %lld times from the same state\n",
                static_cast<long long>(options.repeat_block));
  }
  std::printf("database    %s (%s), --persist %s, --keep-recent %lld, --cache-mb %lld\n",
              database.c_str(), options.db.empty() ? "temporary" : "kept", NameOf(options.persist),
              static_cast<long long>(options.KeepRecent()),
              static_cast<long long>(options.cache_mb));
  if (options.exec != ExecutionMode::kApply) {
    std::printf("disabled    %s\n", options.disable.empty()
                                        ? "no optimisation"
                                        : absl::StrJoin(options.disable, ", ").c_str());
  }
  std::printf("compaction  seek compaction %s\n", seek_compaction.c_str());
  std::printf("host        %s; %d threads used\n", host_.c_str(), plan_.threads);
  std::fflush(stdout);
}

void RunProgress::OnRestore(const storage::SnapshotProgress& progress) {
  if (progress.total_bytes == 0) return;
  heights_.ShowShare("restoring the snapshot", static_cast<double>(progress.bytes) /
                                                   static_cast<double>(progress.total_bytes));
}

void RunProgress::OnPass(int64_t pass, int64_t next_height) {
  heights_.Start(next_height, plan_.to,
                 plan_.options.passes == 1
                     ? ""
                     : absl::StrCat("pass ", pass, "/", plan_.options.passes, "  "));
  if (!quiet_ && plan_.options.resume && next_height > plan_.manifest.first_height) {
    std::printf("resuming    at height %lld\n", static_cast<long long>(next_height));
    std::fflush(stdout);
  }
}

}  // namespace blockreplay::replay
