// A small operating system, a mounted ufs and its users (record_run.h).
#include "harness/lab/in_process/record_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>

#include "fs-adapters/os/memory_machine.h"
#include "harness/workload/open_files.h"
#include "plugin/model/random.h"
#include "plugin/record/recording.h"

namespace headcrash::in_process {
namespace {

using model::TimeNs;

constexpr TimeNs kDiskLatency = 10 * model::kMillisecondNs;
/// Of shuffled runs: on a slow disk much is queued when something is chosen.
constexpr std::array<TimeNs, 4> kLatencies{kDiskLatency, 60 * model::kMillisecondNs,
                                           2 * model::kMillisecondNs, 250 * model::kMillisecondNs};
/// A sweep goes round in a minute, and under soft updates a removal takes five of them: name, count, inode,
/// maps, and the summary's.
constexpr TimeNs kDaemonsRest = 310 * model::kSecondNs;
constexpr std::uint64_t kPauseOneIn = 4;

/// So slow that a slice ends after a few steps: several users then meet in the middle of their operations.
os::CpuCosts slow_processor() {
  constexpr TimeNs kStep = 4 * model::kMillisecondNs;
  return {.system_call = kStep,
          .path_component = kStep,
          .buffer_found = kStep,
          .request_issued = kStep,
          .inode_changed = kStep,
          .allocation = kStep,
          .dependency = kStep};
}

/// Hears what the driver is asked, and tells recording and rules.
class QueueRecorder final : public os::DiskTracer {
 public:
  QueueRecorder(record::RecordingWriter& writer, os::Executor& executor, OrderRules& rules)
      : writer_(writer), executor_(executor), rules_(rules) {}

  void issued(os::RequestId id, const os::BlockRequest& request, const os::Ordering& ordering) override {
    rules_.issued(id, request, ordering, events_);
    ++under_way_;
    if (request.op != model::Op::write) return;
    writer_.submitted(0, executor_.now(),
                      {.id = id,
                       .op = model::Op::write,
                       .fua = true,
                       .lba = request.lba,
                       .sectors = request.sectors,
                       .data = request.data});
    ++events_;
  }
  void completed(const os::DiskTrace& request) override {
    rules_.completed(request.id, events_);
    --under_way_;
    if (request.op != model::Op::write) return;
    writer_.acknowledged(0, {.id = request.id,
                             .status = request.status,
                             .submitted_at = request.issued_at,
                             .completed_at = executor_.now()});
    ++events_;
  }
  void mark(const std::string& text) {
    writer_.marked(executor_.now(), text);
    ++events_;
  }
  std::uint64_t events() const { return events_; }
  bool idle() const { return under_way_ == 0; }

 private:
  record::RecordingWriter& writer_;
  os::Executor& executor_;
  OrderRules& rules_;
  std::uint64_t events_ = 0;
  std::size_t under_way_ = 0;
};

os::DiskQueueOptions in_order(os::DiskQueueOptions queue, std::uint64_t order) {
  if (order == 0) return queue;
  queue.schedule = os::Schedule::shuffled;
  queue.seed = order;
  if (order % 3 != 0) queue.concatenated_sectors = 0;
  return queue;
}

bool is_slow(std::span<const workload::Operation> operations, const RunOptions& options) {
  return options.order % 2 == 1 && workload::threads_of(operations) > 1;
}

class Run {
 public:
  Run(StateDisk& store, const ufs::SchemeVariant& scheme, std::span<const workload::Operation> operations,
      const RunOptions& options, record::RecordingWriter& writer)
      : scheme_(scheme),
        operations_(operations),
        options_(options),
        random_(options.seed),
        machine_(
            store,
            {.latency_ns = options.order == 0 ? kDiskLatency : kLatencies[options.order % kLatencies.size()],
             .costs = is_slow(operations, options) ? slow_processor() : os::CpuCosts{},
             .queue = in_order(scheme.queue, options.order),
             .cache = {.bytes = options.cache_bytes, .block_copy = scheme.block_copy, .lock_data = true}}),
        recorded_{.rules = OrderRules(scheme.queue.flag, scheme.queue.reads_bypass)},
        recorder_(writer, machine_.executor, recorded_.rules),
        threads_(workload::threads_of(operations)) {
    for (std::size_t i = 0; i < operations.size(); ++i)
      if (workload::is_persistence_point(operations[i])) untold_.insert(i);
  }

  Result<RecordedRun> run() {
    machine_.queue.trace(&recorder_);
    machine_.syncer.start();
    executor_.spawn(os::Executor::Kind::user, account_, [this] { first_user(); });
    executor_.run();
    executor_.halt();
    if (error_) return tl::unexpected<Error>(*error_);
    std::ranges::sort(recorded_.mishaps, {}, &workload::Mishap::operation);
    return std::move(recorded_);
  }

 private:
  void first_user() {
    auto mounted = ufs::FileSystem::mount(
        {executor_, machine_.cpu, machine_.queue, machine_.cache, machine_.syncer}, scheme_.mount);
    if (!mounted) {
      error_ = mounted.error();
      return;
    }
    filesystem_ = std::move(*mounted);
    open_files_.emplace(*filesystem_);
    recorder_.mark("begin");
    recorded_.from_event = recorder_.events();
    for (std::size_t thread = 1; thread < threads_; ++thread)
      executor_.spawn(os::Executor::Kind::user, account_, [this, thread] { work(thread); });
    work(0);
    while (ended_ < threads_) changed_.wait();
    recorder_.mark("end");
    executor_.sleep_until(executor_.now() + kDaemonsRest);
    if (recorder_.idle()) settle();
    recorded_.to_event = recorder_.events();
    // The power goes: nothing of what follows is seen.
    machine_.queue.trace(nullptr);
    filesystem_->abandon();
    machine_.disk.power_cut();
    open_files_.reset();
    filesystem_.reset();
  }

  /// One user's part of the list.
  void work(std::size_t thread) {
    for (std::size_t i = 0; i < operations_.size() && !recorded_.failure; ++i) {
      if (operations_[i].kind == workload::Operation::Kind::join) {
        meet();
      } else if (operations_[i].thread == thread) {
        operation(i);
        pause();
      }
    }
    ++resting_;
    ++ended_;
    changed_.wake_all();
  }

  void operation(std::size_t number) {
    const workload::Operation& operation = operations_[number];
    const std::size_t begun = ++begun_;
    const bool alone = resting_ + 1 == threads_;
    const auto done = workload::execute(operation, *filesystem_, *open_files_);
    if (done) {
      if (operation.kind == workload::Operation::Kind::open) ++open_;
      if (operation.kind == workload::Operation::Kind::close) --open_;
      if (!workload::is_persistence_point(operation)) return;
      const bool syncs = operation.kind == workload::Operation::Kind::sync ||
                         operation.kind == workload::Operation::Kind::syncfs;
      // Who rested when it began may have been woken before, and gone on meanwhile.
      const bool quiet = syncs && alone && begun == begun_ && recorder_.idle();
      tell(number);
      if (quiet && begun == begun_ && recorder_.idle()) settle();  // its turn may have come late
      return;
    }
    const auto outcome = workload::outcome_of(
        operation, {.error = done.error().value, .skipped_before = !recorded_.mishaps.empty()});
    if (outcome == workload::Outcome::failed) {
      recorded_.failure = fmt::format("operation {} ({}) failed: {}", number, workload::format(operation),
                                      std::strerror(done.error().value));
    } else {
      recorded_.mishaps.push_back({number, outcome});
      untold_.erase(number);
    }
    changed_.wake_all();
  }

  /// In its turn.
  void tell(std::size_t point) {
    rest_until([&] { return *untold_.begin() == point; });
    if (recorded_.failure) return;
    recorder_.mark(workload::persisted_mark(point));
    untold_.erase(point);
    changed_.wake_all();
  }

  void meet() {
    if (threads_ == 1) return;
    const std::size_t all_here = (arrived_++ / threads_ + 1) * threads_;
    changed_.wake_all();
    rest_until([&] { return arrived_ >= all_here; });
  }

  template <typename Reached>
  void rest_until(const Reached& reached) {
    if (reached() || recorded_.failure) return;
    ++resting_;
    while (!reached() && !recorded_.failure) changed_.wait();
    --resting_;
  }

  /// A file without a name that is still open is nobody's on the disk.
  void settle() {
    if (open_ == 0 && !recorded_.failure) recorded_.settled.push_back(recorder_.events());
  }

  void pause() {
    if (options_.pause_ns_max == 0 || random_.below(kPauseOneIn) != 0) return;
    const auto pause = random_.below(static_cast<std::uint64_t>(options_.pause_ns_max));
    executor_.sleep_until(executor_.now() + static_cast<TimeNs>(pause));
  }

  const ufs::SchemeVariant& scheme_;
  std::span<const workload::Operation> operations_;
  const RunOptions& options_;
  model::Random random_;
  os::MemoryMachine machine_;
  os::Executor& executor_ = machine_.executor;
  os::Account account_{.name = "user"};
  RecordedRun recorded_;
  QueueRecorder recorder_;
  std::size_t threads_;
  std::unique_ptr<ufs::FileSystem> filesystem_;
  std::optional<workload::OpenFiles> open_files_;
  std::set<std::size_t> untold_;  ///< points that have not been told and were not skipped
  std::size_t arrived_ = 0;       ///< at joins, over all users
  std::size_t resting_ = 0;       ///< users that wait for another one, or have ended
  std::size_t ended_ = 0, begun_ = 0, open_ = 0;
  os::WaitQueue changed_{executor_};
  std::optional<Error> error_;
};

}  // namespace

Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const ufs::SchemeVariant& scheme,
                               std::span<const workload::Operation> operations, const RunOptions& options,
                               const std::filesystem::path& recording) {
  std::error_code error;
  std::filesystem::remove(recording, error);
  const auto base = std::filesystem::relative(formatted.recording, recording.parent_path(), error);
  auto writer = record::RecordingWriter::create(
      recording,
      {.seed = options.seed,
       .devices = {{.name = "hd0", .profile = "memory", .sectors = formatted.sectors()}},
       .media = false,
       .base = record::RecordingHeader::Base{base.string(), formatted.state, formatted.fingerprint}});
  if (!writer) return pass_on(writer);
  disk.show_base();
  auto run = Run(disk, scheme, operations, options, **writer).run();
  if (!run) return run;
  if (const auto flushed = (*writer)->flush(); !flushed) return pass_on(flushed);
  if (const auto& broken = (*writer)->error()) return tl::unexpected<Error>(*broken);
  run->recording = recording;
  return run;
}

}  // namespace headcrash::in_process
