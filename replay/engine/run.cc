#include "replay/engine/run.h"

#include <time.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "keeper/optimisations.h"
#include "profiling/labels.h"
#include "profiling/pprof_server.h"
#include "profiling/thread_clock.h"
#include "replay/engine/block_replayer.h"
#include "replay/engine/checktx_verifier.h"
#include "replay/engine/database_dir.h"
#include "replay/engine/interrupt.h"
#include "replay/engine/measurement.h"
#include "replay/engine/pace.h"
#include "replay/engine/profiling_session.h"
#include "replay/engine/replay_state.h"
#include "replay/engine/verify_executor.h"
#include "replay/native/chain_spec.h"
#include "replay/recording/block_source.h"
#include "replay/recording/sha256.h"
#include "replay/report/csv.h"
#include "replay/report/results_file.h"
#include "replay/report/version.h"
#include "replay/verify/block_verifier.h"
#include "replay/verify/bundle.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
// A wait for --pace looks this often whether a signal came.
constexpr int64_t kWaitSlice = 20'000'000;

class Runner {
 public:
  Runner(const RunPlan& plan, const std::string& command_line,
         const profiling::InstructionCounter* instructions, RunObserver* observer)
      : plan_(plan),
        command_line_(command_line),
        observer_(observer),
        measurement_(instructions),
        pacer_(plan.pace),
        contents_(ChainOf(plan.manifest)) {
    RunFacts& facts = result_.facts;
    facts.recording_digest = plan.digest;
    facts.chain_id = plan.manifest.chain_id;
    facts.options = OptionsToJson(plan.options);
    facts.options["threads"] = plan.threads;
    if (!plan.options.html.empty()) result_.csv = CsvHeader();
  }

  RunResult Run() {
    Fail(RunPasses());
    if (verifier_ != nullptr) {
      result_.facts.coverage = verifier_->coverage();
      result_.facts.digests = verifier_->FinishDigests();
      result_.facts.kind_nanos = verifier_->kind_nanos();
      if (result_.outcome == RunOutcome::kVerified && !result_.facts.coverage->AllMatched()) {
        result_.outcome = RunOutcome::kExecutionDiffers;
      }
    }
    if (checktx_ != nullptr) {
      result_.facts.checktx = checktx_->report();
      if (result_.outcome == RunOutcome::kVerified && !result_.facts.checktx->AllEqual()) {
        result_.outcome = RunOutcome::kExecutionDiffers;
      }
    }
    measurement_.Stop();
    server_.reset();
    if (csv_) Note(csv_->Finish());
    if (results_) Note(results_->Finish());
    if (profiles_ != nullptr) {
      Note(profiles_->Finish());
      result_.profiles = profiles_->files();
    }
    result_.facts.app_hash_chain = RawOf(app_hash_chain_.Finish());
    result_.facts.stores = contents_.stores();
    result_.facts.slowest_blocks = contents_.Slowest();
    result_.statistics = measurement_.statistics();
    return std::move(result_);
  }

 private:
  // Null where there is no code of the recording's chain: then transactions have no names.
  static std::unique_ptr<keeper::Chain> ChainOf(const Manifest& manifest) {
    absl::StatusOr<std::unique_ptr<keeper::Chain>> chain = keeper::NewChain(ChainSpecOf(manifest));
    return chain.ok() ? *std::move(chain) : nullptr;
  }

  // The first error ends the run; a mismatch or a signal that came before stays what the run ended
  // with.
  void Fail(const absl::Status& status) {
    if (status.ok()) return;
    if (result_.outcome == RunOutcome::kVerified) {
      result_.outcome = RunOutcome::kError;
      result_.error = status;
    } else {
      Note(status);
    }
  }
  void Note(const absl::Status& status) {
    if (!status.ok()) result_.problems.push_back(std::string(status.message()));
  }

  bool Interrupted() {
    if (InterruptGuard::Received() == 0) return false;
    result_.outcome = RunOutcome::kInterrupted;
    result_.signal = InterruptGuard::Received();
    return true;
  }

  absl::Status RunPasses() {
    const RunOptions& options = plan_.options;
    if (absl::Status status = Listen(); !status.ok()) return status;
    if (plan_.threads > 1 && (options.exec != ExecutionMode::kApply || options.checktx)) {
      workers_ = std::make_unique<storage::WorkerPool>(plan_.threads, "executor");
    }
    if (options.checktx) {
      absl::StatusOr<std::unique_ptr<CheckTxVerifier>> checktx = CheckTxVerifier::Create(
          options.recording, plan_.manifest, TxCheckOptionsOf(options), workers_.get());
      if (!checktx.ok()) return checktx.status();
      checktx_ = *std::move(checktx);
    }
    if (options.exec != ExecutionMode::kApply) {
      absl::StatusOr<std::unique_ptr<VerifyExecutor>> verifier =
          VerifyExecutor::Create(options.recording, plan_.manifest, options.exec, workers_.get());
      if (!verifier.ok()) return verifier.status();
      verifier_ = *std::move(verifier);
    }
    const DatabaseInfo info{plan_.digest, plan_.manifest.chain_id, NameOf(options.persist)};
    absl::StatusOr<DatabaseDir> dir = options.db.empty() ? DatabaseDir::CreateTemporary(info)
                                      : options.resume   ? DatabaseDir::Resume(options.db, info)
                                                         : DatabaseDir::Create(options.db, info);
    if (!dir.ok()) return dir.status();
    result_.started = true;
    if (!options.csv.empty()) {
      absl::StatusOr<CsvFile> csv = CsvFile::Create(options.csv);
      if (!csv.ok()) return csv.status();
      csv_ = std::make_unique<CsvFile>(*std::move(csv));
    }
    if (!options.results.empty() && verifier_ != nullptr) {
      absl::StatusOr<ResultsFile> results = ResultsFile::Create(options.results);
      if (!results.ok()) return results.status();
      results_ = std::make_unique<ResultsFile>(*std::move(results));
      verifier_->WriteResultsTo(results_.get());
    }
    for (int64_t pass = 1; pass <= options.passes && result_.outcome == RunOutcome::kVerified;
         ++pass) {
      if (pass > 1) {
        if (absl::Status status = dir->Clear(); !status.ok()) return status;
      }
      if (absl::Status status = RunPass(pass, &*dir); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Listen() {
    const RunOptions& options = plan_.options;
    if (options.pprof_listen.empty()) return absl::OkStatus();
    absl::StatusOr<profiling::ListenAddress> address =
        profiling::ParseListenAddress(options.pprof_listen);
    if (!address.ok()) return address.status();
    profiling::PprofServer::Options server_options;
    server_options.address = *std::move(address);
    server_options.comments = ProfileComments();
    server_options.cpu_from_profiler = ProfilingSession::WantsThreads(options);
    server_options.heap_from_profiler = ProfilingSession::WantsHeap(options);
    absl::StatusOr<std::unique_ptr<profiling::PprofServer>> server =
        profiling::PprofServer::Start(server_options);
    if (!server.ok()) {
      return absl::Status(server.status().code(),
                          absl::StrCat("--pprof-listen: ", server.status().message()));
    }
    server_ = *std::move(server);
    observer_->OnListen(server_->url());
    return absl::OkStatus();
  }

  absl::Status RunPass(int64_t pass, DatabaseDir* dir) {
    const int64_t open_start = profiling::MonotonicNanos();
    absl::StatusOr<std::unique_ptr<ReplayState>> state =
        ReplayState::Open(plan_, dir, [this](const storage::SnapshotProgress& progress) {
          observer_->OnRestore(progress);
          return InterruptGuard::Received() == 0 ? absl::OkStatus()
                                                 : absl::CancelledError("interrupted");
        });
    if (absl::IsCancelled(state.status()) && Interrupted()) return absl::OkStatus();
    if (!state.ok()) return state.status();
    result_.facts.restore_nanos += profiling::MonotonicNanos() - open_start;
    if (pass == 1) {
      observer_->OnOpen(dir->path(), (*state)->engine()->SeekCompactionDescription());
    }
    absl::Status status = ReplayBlocks(pass, state->get());
    storage::Multistore* multistore = (*state)->multistore();
    result_.paused_at = multistore->version();
    // A temporary database goes away with the pass: nothing in it needs to be flushed. Broken ones
    // are left as they are; their write-ahead log has everything.
    if (status.ok() && !dir->temporary()) status = (*state)->Close();
    return status;
  }

  absl::Status ReplayBlocks(int64_t pass, ReplayState* state) {
    storage::Multistore* multistore = state->multistore();
    const int64_t version = multistore->version();
    const int64_t first = plan_.manifest.first_height;
    if (version != 0 && (version < first - 1 || version > plan_.manifest.last_height)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the database is at height ", version, ", which the recording (", first,
                       " to ", plan_.manifest.last_height, ") neither has nor starts from"));
    }
    const int64_t next = version == 0 ? first : version + 1;
    last_app_hash_ = version == 0 ? std::string() : storage::ToRaw(multistore->app_hash());
    last_results_hash_.clear();
    if (pass == 1) {
      result_.facts.base_height = version;
      result_.facts.base_app_hash = last_app_hash_;
    }
    if (result_.facts.app_hash.empty()) result_.facts.app_hash = last_app_hash_;

    BlockSource source(plan_.options.recording, plan_.manifest, std::max(first, version));
    if (version >= first) {
      absl::StatusOr<bool> proven = ProveResumed(&source, *multistore);
      if (!proven.ok()) return proven.status();
      if (!*proven) return absl::OkStatus();
    } else if (version != 0 && last_app_hash_ != plan_.manifest.base->app_hash) {
      return absl::DataLossError(
          absl::StrCat("the database is at height ", version, " with app hash ",
                       absl::BytesToHexString(last_app_hash_), ", but the recording starts from ",
                       absl::BytesToHexString(plan_.manifest.base->app_hash)));
    }
    observer_->OnPass(pass, next);

    if (verifier_ != nullptr) verifier_->StartPass(multistore, &measurement_.clock());
    if (checktx_ != nullptr) {
      if (absl::Status status = checktx_->StartPass(multistore); !status.ok()) return status;
    }
    BlockReplayer replayer(multistore, plan_.options.repeat_block, &measurement_.clock(),
                           plan_.multistore.format == storage::CommitFormat::kTm2, verifier_.get());
    pacer_.Restart();
    absl::Status status;
    for (int64_t height = next; height <= plan_.to && status.ok(); ++height) {
      if (result_.outcome != RunOutcome::kVerified || Interrupted()) break;
      if (height >= plan_.from && !measurement_.running()) {
        if (status = StartMeasuring(state, source); !status.ok()) break;
      }
      status = ReplayBlock(pass, height, &source, &replayer, state);
    }
    if (measurement_.running()) {
      // What is still being written belongs to the blocks that were measured.
      measurement_.clock().Enter(Phase::kCommit);
      if (const absl::Status synced = multistore->Sync(); status.ok()) status = synced;
      measurement_.Stop();
    }
    if (profiles_ != nullptr && pass == plan_.options.passes) profiles_->StopSampling();
    return status;
  }

  // Compares the state that a resumed run starts from with the recording's block of that height.
  absl::StatusOr<bool> ProveResumed(BlockSource* source, const storage::Multistore& multistore) {
    absl::StatusOr<std::unique_ptr<DecodedBlock>> block = source->Next();
    if (!block.ok()) return block.status();
    if (*block == nullptr) return absl::InternalError("the recording ends before its last height");
    const std::optional<AppHashMismatch> mismatch =
        CompareAppHash(***block, multistore.last_commit(), last_app_hash_);
    if (mismatch) {
      result_.outcome = RunOutcome::kAppHashMismatch;
      result_.mismatch = DescribeMismatch(*mismatch, ***block);
      return false;
    }
    last_results_hash_ = RawOf(ResultsHash((**block)->response()));
    source->Recycle(*std::move(block));
    return true;
  }

  absl::Status StartMeasuring(ReplayState* state, const BlockSource& source) {
    if (profiles_ == nullptr && ProfilingSession::Wanted(plan_.options)) {
      absl::StatusOr<std::unique_ptr<ProfilingSession>> profiles =
          ProfilingSession::Start(plan_.options, ProfileComments());
      if (!profiles.ok()) return profiles.status();
      profiles_ = *std::move(profiles);
      if (server_ != nullptr) server_->UseProfiler(profiles_->profiler());
    }
    measurement_.Start(state->engine(), state->multistore(), &source, workers_.get());
    return absl::OkStatus();
  }

  std::vector<std::string> ProfileComments() const {
    return {absl::StrCat("recording ", plan_.digest),
            absl::StrCat("chain ", plan_.manifest.chain_id),
            absl::StrCat("blocks ", plan_.from, " to ", plan_.to),
            absl::StrCat("blockreplay ", ToolVersion(), " ", ToolRevision()),
            absl::StrCat("command ", command_line_)};
  }

  absl::Status ReplayBlock(int64_t pass, int64_t height, BlockSource* source,
                           BlockReplayer* replayer, ReplayState* state) {
    PhaseClock& clock = measurement_.clock();
    clock.Enter(Phase::kDecode);
    absl::StatusOr<std::unique_ptr<DecodedBlock>> next = source->Next();
    clock.Enter(Phase::kOther);
    if (!next.ok()) return next.status();
    if (*next == nullptr) return absl::InternalError("the recording ends before its last height");
    const v1::Block& block = ***next;

    const bool measured = measurement_.running();
    if (measured) {
      Pace(block);
      if (InterruptGuard::Received() != 0) return absl::OkStatus();
      if (profiles_ != nullptr) profiles_->StartBlock(pass, height);
    }
    const profiling::ScopedHeight label(height);
    if (!CheckHeader(block)) return absl::OkStatus();

    absl::StatusOr<BlockReplayer::Outcome> outcome = replayer->Replay(
        block, height == plan_.manifest.last_height ? &plan_.manifest.final_app_hash : nullptr);
    if (absl::IsOutOfRange(outcome.status()) && plan_.manifest.partial_base) {
      return absl::OutOfRangeError(
          absl::StrCat(outcome.status().message(),
                       ": run the recording that this one was minimized from, or minimize it again "
                       "with a program that needs the same"));
    }
    if (!outcome.ok()) return outcome.status();
    if (outcome->mismatch) return HandleMismatch(*outcome, block, state->multistore());

    last_app_hash_ = outcome->app_hash;
    last_results_hash_ = outcome->results_hash;
    RunFacts& facts = result_.facts;
    facts.app_hash = last_app_hash_;
    ++facts.blocks_verified;
    facts.phases += 2 + block.request().txs_size();
    if (pass == 1) app_hash_chain_.Update(last_app_hash_);
    if (measured) {
      if (absl::Status status = CountBlock(pass, block); !status.ok()) return status;
    }
    // Handing the block back may wait for the decoding thread: decoding's time.
    clock.Enter(Phase::kDecode);
    source->Recycle(*std::move(next));
    clock.Enter(Phase::kOther);
    if (checktx_ != nullptr) {
      // No part of the block.
      if (measured) measurement_.Suspend();
      if (absl::Status status = checktx_->Committed(height); !status.ok()) return status;
      if (measured) measurement_.Resume();
    }
    observer_->OnBlock(height);
    return absl::OkStatus();
  }

  // Waits until the block's time has come.
  void Pace(const v1::Block& block) {
    const int64_t block_time =
        block.request().time().seconds() * kNanosPerSecond + block.request().time().nanos();
    int64_t left = pacer_.NanosToWait(block_time, profiling::MonotonicNanos());
    if (left == 0) return;
    measurement_.clock().Settle();
    const int64_t start = profiling::MonotonicNanos();
    const int64_t end = start + left;
    while (left > 0 && InterruptGuard::Received() == 0) {
      const timespec slice{0, static_cast<long>(std::min(left, kWaitSlice))};
      nanosleep(&slice, nullptr);
      left = end - profiling::MonotonicNanos();
    }
    measurement_.SkipPacedWait(profiling::MonotonicNanos() - start);
  }

  // What a block's header says about the block before; false ends the run.
  bool CheckHeader(const v1::Block& block) {
    if (!last_app_hash_.empty()) {
      if (const auto mismatch = CompareHeaderAppHash(block, last_app_hash_)) {
        result_.outcome = RunOutcome::kAppHashMismatch;
        result_.mismatch = DescribeMismatch(*mismatch, block);
        return false;
      }
    }
    if (!last_results_hash_.empty()) {
      if (const auto mismatch = CompareResultsHash(block, block.height() - 1, last_results_hash_)) {
        result_.outcome = RunOutcome::kResultsMismatch;
        result_.mismatch = DescribeMismatch(*mismatch);
        return false;
      }
    }
    return true;
  }

  absl::Status HandleMismatch(const BlockReplayer::Outcome& outcome, const v1::Block& block,
                              storage::Multistore* multistore) {
    measurement_.Stop();
    result_.outcome = RunOutcome::kAppHashMismatch;
    result_.mismatch = DescribeMismatch(*outcome.mismatch, block);
    if (verifier_ != nullptr && verifier_->native()) {
      result_.mismatch += verifier_->DescribeDifferentWrites(block);
    }
    if (absl::Status status = multistore->Rollback(); !status.ok()) return status;
    if (plan_.options.bundle.empty()) return absl::OkStatus();
    if (absl::Status status =
            WriteBundle(plan_.options.bundle, plan_.manifest, plan_.options.recording,
                        *outcome.mismatch, block, outcome.commit_info, multistore);
        !status.ok()) {
      return status;
    }
    result_.bundle = plan_.options.bundle;
    return absl::OkStatus();
  }

  BlockRecord RecordOf(int64_t pass, const v1::Block& block) const {
    BlockRecord record;
    record.pass = pass;
    record.height = block.height();
    record.txs = block.request().txs_size();
    record.app_hash = last_app_hash_;
    record.results_hash = last_results_hash_;
    return record;
  }

  absl::Status CountBlock(int64_t pass, const v1::Block& block) {
    const RunOptions& options = plan_.options;
    const bool rows = csv_ != nullptr || !options.html.empty();
    double block_ms = 0;
    if (!rows && options.report.empty()) {
      block_ms = measurement_.FinishBlock();
    } else {
      BlockRecord record = RecordOf(pass, block);
      block_ms = measurement_.FinishBlock(&record, rows);
      contents_.Add(block, &record);
      if (csv_ != nullptr) {
        if (absl::Status status = csv_->Append(record); !status.ok()) return status;
      }
      if (!options.html.empty()) result_.csv += CsvRow(record);
      measurement_.clock().Forget();
    }
    if (result_.facts.first_height == 0) result_.facts.first_height = block.height();
    result_.facts.last_height = std::max(result_.facts.last_height, block.height());
    if (profiles_ == nullptr || !profiles_->FinishBlock(block.height(), block_ms)) {
      return absl::OkStatus();
    }
    measurement_.Suspend();
    absl::Status status = profiles_->WriteDue();
    measurement_.Resume();
    return status;
  }

  const RunPlan& plan_;
  const std::string& command_line_;
  RunObserver* observer_;
  RunResult result_;
  Measurement measurement_;
  Pacer pacer_;
  ContentsRecorder contents_;
  Sha256 app_hash_chain_;
  std::unique_ptr<storage::WorkerPool> workers_;  // null where nothing executes in parallel
  std::unique_ptr<VerifyExecutor> verifier_;      // null with --exec apply
  std::unique_ptr<CheckTxVerifier> checktx_;      // null without --checktx
  std::unique_ptr<CsvFile> csv_;
  std::unique_ptr<ResultsFile> results_;
  std::unique_ptr<ProfilingSession> profiles_;
  std::unique_ptr<profiling::PprofServer> server_;
  // Of the last block that was replayed, or of the state that the replay started from; empty where
  // not known.
  std::string last_app_hash_;
  std::string last_results_hash_;
};

}  // namespace

RunResult ExecuteRun(const RunPlan& plan, const std::string& command_line,
                     const profiling::InstructionCounter* instructions, RunObserver* observer) {
  // PlanRun has checked the names.
  keeper::SwitchOff(*keeper::ParseOptimisations(plan.options.disable));
  return Runner(plan, command_line, instructions, observer).Run();
}

}  // namespace blockreplay::replay
