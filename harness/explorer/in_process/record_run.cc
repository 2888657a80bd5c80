// Runs the users of a workload on a mounted file system inside a small operating system
// (record_run.h).
#include "harness/explorer/in_process/record_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include "fs-adapters/substrate/os/memory_machine.h"
#include "fs-adapters/use_of_space.h"
#include "harness/explorer/in_process/queue_recorder.h"
#include "harness/explorer/in_process/shared_history.h"
#include "harness/workload/open_files.h"
#include "plugin/base/named_file.h"
#include "plugin/base/random.h"
#include "plugin/record/recording.h"

namespace headcrash::in_process {
namespace {

using model::TimeNs;

constexpr TimeNs kDiskLatency = 10 * model::kMillisecondNs;
/// Disk latencies for runs with a random request order. With a slow disk, more requests are queued,
/// so the driver has more requests to choose from.
constexpr std::array<TimeNs, 4> kLatencies{kDiskLatency, 60 * model::kMillisecondNs,
                                           2 * model::kMillisecondNs, 250 * model::kMillisecondNs};
/// Time after which all daemons have finished. A sweep takes a minute, and a removal under soft
/// updates needs five sweeps: for the name, the link count, the inode, the bitmaps and the summary.
constexpr TimeNs kDaemonsRest = 310 * model::kSecondNs;
constexpr TimeNs kAfterUnmount = 70 * model::kSecondNs;  // time for one sweep and for queued work
constexpr std::uint64_t kPauseOneIn = 4;
/// A pause that ends while the disk is busy is extended in steps of kPoll, up to kPollsMost times.
constexpr TimeNs kPoll = 5 * model::kMillisecondNs;
constexpr int kPollsMost = 2000;
/// Maximum number of later requests that may overtake a request in a random order. Without this
/// limit, failing writes that are retried for ever could hold back a request for which a user
/// waits.
constexpr std::uint64_t kOvertakingMost = 4096;

/// An operation that leaves less free space than this may be refused, because the file system may
/// count free space differently.
constexpr std::uint64_t kMarginBytes = 32 << 10;
constexpr std::uint64_t kReadBytesMax = 1 << 20;

constexpr std::size_t kInformativeFailures = 3, kInformativeSyncs = 5;  // maximum per run

/// Returns very high processor costs. A time slice then ends after a few steps, so the operations
/// of several users interleave.
os::CpuCosts slow_processor() {
  constexpr TimeNs kStep = 4 * model::kMillisecondNs;
  return {{.system_call = kStep,
           .copy_per_kib = kStep,
           .transfer_per_kib = kStep,
           .clear_per_kib = kStep,
           .buffer_found = kStep,
           .request_issued = kStep},
          {.path_component = kStep,
           .directory_entry = kStep,
           .inode_changed = kStep,
           .allocation = kStep,
           .dependency = kStep}};
}

os::DiskQueueOptions in_order(os::DiskQueueOptions queue, std::uint64_t order) {
  if (order == 0) return queue;
  queue.schedule = os::Schedule::shuffled;
  queue.seed = order;
  queue.requests_max = kOvertakingMost;
  if (order % 3 != 0) queue.concatenated_sectors = 0;
  return queue;
}

bool is_slow(std::span<const workload::Operation> operations, const RunOptions& options) {
  return options.order % 2 == 1 && workload::threads_of(operations) > 1;
}

/// Returns true for operations that only make data durable. Such operations change nothing, so they
/// may be retried after an error.
bool only_persists(const workload::Operation& operation) {
  using enum workload::Operation::Kind;
  return operation.kind == fsync || operation.kind == fdatasync ||
         operation.kind == fsync_directory || operation.kind == sync || operation.kind == syncfs;
}

bool has_a_join(std::span<const workload::Operation> operations) {
  return std::ranges::any_of(operations, [](const workload::Operation& operation) {
    return operation.kind == workload::Operation::Kind::join;
  });
}

/// A schedule that has no change points until begin() is called. Change points are counted from the
/// call of begin().
class ScheduleFromJoin final : public os::FiberSchedule {
 public:
  ScheduleFromJoin(const os::FiberScheduleOptions& options, bool begun)
      : schedule_(options), begun_(begun) {}

  void begin() { begun_ = true; }
  std::int64_t first_priority() override { return schedule_.first_priority(); }
  Step step(std::int64_t priority) override {
    return begun_ ? schedule_.step(priority) : Step{.priority = priority};
  }
  std::int64_t after_yield(std::int64_t priority) override {
    return schedule_.after_yield(priority);
  }

 private:
  os::RandomPriorities schedule_;
  bool begun_;
};

class Run {
 public:
  Run(StateDisk& store, const adapters::SystemUnderTest& under_test,
      std::span<const workload::Operation> operations, const RunOptions& options)
      : under_test_(under_test),
        store_(store),
        operations_(operations),
        options_(options),
        random_(options.seed),
        schedule_(schedule_of(operations, options),
                  workload::threads_of(operations) == 1 || !has_a_join(operations)),
        machine_(store, machine_options(schedule_for(options))),
        recorded_{.rules = OrderRules(under_test.description().queue.flag,
                                      under_test.description().queue.reads_bypass)},
        recorder_(executor_, recorded_.rules, store),
        threads_(workload::threads_of(operations)) {
    recorded_.executed = operations.size();
    recorded_.shared_names = options.shared_names;
    for (std::size_t i = 0; i < operations.size(); ++i)
      if (workload::is_persistence_point(operations[i])) unreported_.insert(i);
  }

  Result<RecordedRun> run(record::RecordingWriter& writer) {
    system_.queue.trace(&recorder_);
    system_.syncer.start();
    executor_.spawn(os::Executor::Kind::user, account_, [this] { first_user(); });
    if (options_.order != 0 && options_.order % 2 == 0)
      executor_.spawn(os::Executor::Kind::daemon, account_, [this] { drop_cached_data(); });
    executor_.run();
    recorder_.answered().wake_all();
    executor_.halt();
    open_files_.reset();
    mounted_.reset();  // only after the daemons have ended, because they use it
    if (space_) judge_remount();
    if (error_) return tl::unexpected<Error>(*error_);
    std::ranges::sort(recorded_.failed_operations, {}, &workload::FailedOperation::operation);
    recorder_.write_to(writer);
    return std::move(recorded_);
  }

 private:
  void first_user() {
    auto mounted = under_test_.mount(system_, {});
    if (!mounted) {
      error_ = mounted.error();
      return;
    }
    mounted_ = std::move(*mounted);
    open_files_.emplace(mounted_->vfs());
    make_snapshot("first");
    note_first_names();
    recorder_.mark("begin");
    recorded_.from_event = recorder_.events();
    for (const os::DiskFault& fault : options_.faults) machine_.faulty_disk.add(fault);
    for (std::size_t thread = 1; thread < threads_; ++thread)
      executor_.spawn(os::Executor::Kind::user, account_, [this, thread] { work(thread); });
    work(0);
    while (ended_ < threads_) changed_.wait();
    judge_history();
    recorder_.mark("end");
    executor_.sleep_until(executor_.now() + kDaemonsRest);
    if (recorder_.idle() && recorder_.failed_at().empty()) {
      settle();
      judge_reads();
    }
    if (unmounts()) unmount();
    recorded_.to_event = recorder_.events();
    if (unmounts()) watch_the_rest();
    // The recording stops here, because no request reaches the disk after a power cut.
    system_.queue.trace(nullptr);
    if (!unmounts()) leave();
    machine_.disk.power_cut();
  }

  os::MemoryMachineOptions machine_options(os::FiberSchedule* schedule) const {
    const adapters::SystemDescription& description = under_test_.description();
    return {.latency_ns =
                options_.order == 0 ? kDiskLatency : kLatencies[options_.order % kLatencies.size()],
            .system = {.costs = is_slow(operations_, options_) ? slow_processor() : os::CpuCosts{},
                       .queue = in_order(description.queue, options_.order),
                       .cache = {.bytes = options_.cache_bytes,
                                 .block_copy = description.block_copy,
                                 .lock_data = true},
                       .syncer = description.syncer.value_or(os::SyncerOptions{}),
                       .executor = {.own_schedule = schedule}},
            .second_sectors = store_.second_sectors()};
  }

  /// Leaves the file system after the recording has ended: unmounts it, so that a new mount can be
  /// compared with this one. If the run has failed or files are open, abandons it.
  void leave() {
    const bool judged =
        open_ == 0 && !recorded_.failure && !under_test_.control() && recorder_.idle();
    if (!judged) mounted_->abandon();
    open_files_.reset();  // closing a file may take processor time, so a fiber must do it
    if (!judged) return;
    // The reads of judge_reads() may have started a cleaner, and a cleaner's moved blocks count
    // twice until they are written.
    if (!mounted_->has_no_pending_changes() && !adapters::settle(mounted_->vfs(), system_))
      report("after all writes, a sync fails");
    const auto space = mounted_->vfs().space();
    if (!space || !mounted_->unmount()) {
      report("after all writes, the file system cannot be unmounted");
      return mounted_->abandon();
    }
    space_ = *space;
  }

  /// Mounts the disk again. The old mount maintained its counts during the run; the new one reads
  /// them from the disk. Both mounts must have the same free space.
  void judge_remount() {
    os::MemoryMachine machine(store_, machine_options(nullptr));
    std::unique_ptr<adapters::MountedSystem> mounted;
    machine.system.syncer.start();
    machine.system.run_as(account_, [&] {
      auto made = under_test_.mount(machine.system, {});
      if (!made) return report("the mount after the unmount fails: " + made.error().message());
      mounted = *std::move(made);
      const auto space = mounted->vfs().space();
      mounted->abandon();
      if (!space) return report("cannot query the free space after a new mount");
      const std::uint64_t least = std::min(space->free_bytes, space_->free_bytes);
      const std::uint64_t most = std::max(space->free_bytes, space_->free_bytes);
      if (most - least > adapters::kMapGrowthBytes || space->free_inodes != space_->free_inodes)
        report(fmt::format(
            "{} bytes and {} inodes are free after all writes, but {} and {} after a new mount",
            space_->free_bytes, space_->free_inodes, space->free_bytes, space->free_inodes));
    });
    machine.disk.power_cut();
    machine.system.executor.halt();
    mounted.reset();  // only after the daemons have ended, because they use it
  }

  os::FiberSchedule* schedule_for(const RunOptions& options) {
    if (options.own_schedule != nullptr) return options.own_schedule;
    return options.schedule == 0 ? nullptr : &schedule_;
  }

  bool unmounts() const {
    return options_.unmount || options_.shared_names || !options_.faults.empty();
  }

  void report(const std::string& failure) {
    if (!recorded_.failure) recorded_.failure = failure;
  }

  /// Stores the names that mkfs created, so that they can be excluded from the history.
  void note_first_names() {
    if (!options_.shared_names) return;
    const auto entries = mounted_->vfs().list("");
    if (!entries)
      return report(fmt::format("cannot list the root: {}", std::strerror(entries.error().value)));
    for (const DirectoryEntry& entry : *entries) first_names_.insert(entry.name);
  }

  /// Checks the results of a shared history against all serial orders.
  void judge_history() {
    if (!options_.shared_names) return;
    auto tree = observe_tree(mounted_->vfs());
    if (!tree)
      return report(
          fmt::format("cannot read the final tree: {}", std::strerror(tree.error().value)));
    final_tree_ = *tree;
    std::erase_if(*tree, [this](const oracle::SharedObject& object) {
      return first_names_.contains(object.path.substr(0, object.path.find('/')));
    });
    if (auto wrong =
            oracle::contradiction_in({.operations = operations_, .calls = calls_, .tree = *tree}))
      report(*wrong);
  }

  /// Checks reads. After all writes are complete, the mounted file system must show the same tree
  /// as the disk: first from its caches, and then again after the caches have been dropped. The
  /// check of crash states reads only the disk, so it would not notice a wrong read.
  void judge_reads() {
    if (under_test_.control() || !options_.faults.empty()) return;
    const auto image = observe_image(under_test_.type(), store_);
    if (!image) return report("after all writes, " + image.error().message());
    for (const std::string_view source : {"from the caches", "from the disk"}) {
      const auto tree = observe_tree(mounted_->vfs());
      if (!tree) {
        return report(fmt::format("after all writes, the tree cannot be read {}: {}", source,
                                  std::strerror(tree.error().value)));
      }
      const std::string differs = difference(*tree, *image);
      if (!differs.empty())
        return report(fmt::format("after all writes, the tree (read {}) differs from the disk: {}",
                                  source, differs));
      mounted_->drop_unused_inodes();
      system_.cache.drop_clean();
    }
  }

  void judge_image() {
    if (!options_.shared_names || recorded_.failure || under_test_.control()) return;
    const auto image = observe_image(under_test_.type(), store_);
    const std::string differs = image ? difference(final_tree_, *image) : image.error().message();
    if (!differs.empty()) report("after the unmount, " + differs);
  }

  /// Simulates memory pressure by evicting unused inodes and, in some runs, clean buffers. An
  /// operation then cannot rely on data that it has cached in an earlier step. If only inodes are
  /// evicted, they are read again from the buffers, so the buffers must be current.
  void drop_cached_data() {
    for (recorder_.answered().wait(); !executor_.halted(); recorder_.answered().wait()) {
      if (options_.order % 4 == 2) system_.cache.drop_clean();
      if (mounted_ && !has_unmounted_) mounted_->drop_unused_inodes();
    }
  }

  void unmount() {
    recorded_.met.informative.push_back(recorder_.events());
    open_files_.reset();
    has_unmounted_ = true;
    recorded_.unmount = mounted_->unmount() ? Unmount::succeeded : Unmount::failed;
    system_.queue.drain();
    recorded_.met.informative.push_back(recorder_.events());
    if (recorded_.unmount == Unmount::succeeded) settle();
    if (recorded_.unmount == Unmount::succeeded) judge_image();
  }

  /// Detects writes that follow the unmount.
  void watch_the_rest() {
    executor_.sleep_until(executor_.now() + kAfterUnmount);
    if (recorder_.events() != recorded_.to_event && !recorded_.failure)
      recorded_.failure = "the file system wrote to the disk after the unmount";
    MetFaults& met = recorded_.met;
    met.failed_requests = machine_.faulty_disk.failed();
    const auto& failed_at = recorder_.failed_at();
    if (!failed_at.empty()) met.first_failure = failed_at.front();
    met.informative.insert(met.informative.end(), failed_at.begin(),
                           failed_at.begin() + std::min(failed_at.size(), kInformativeFailures));
    std::ranges::sort(met.informative);
    met.informative.erase(std::unique(met.informative.begin(), met.informative.end()),
                          met.informative.end());
  }

  /// Creates a snapshot and records its contents. Does nothing if there is no space for it.
  void make_snapshot(const std::string& name) {
    if (!under_test_.description().keeps_snapshots || !mounted_->snapshots()->make(name)) return;
    const auto tree = digest_of_snapshot(under_test_.type(), store_, name);
    if (!tree && !recorded_.failure)
      recorded_.failure = "the new snapshot " + name + " cannot be read: " + tree.error().message();
    if (tree)
      recorded_.snapshots.push_back(
          {.name = name, .tree = *tree, .from_event = recorder_.events()});
  }

  void drop_snapshot(const std::string& name) {
    const auto kept = std::ranges::find(recorded_.snapshots, name, &KeptSnapshot::name);
    if (kept == recorded_.snapshots.end()) return;
    const std::uint64_t begun = recorder_.events();
    const auto dropped = mounted_->snapshots()->drop(name);
    // A snapshot cannot be dropped while a transaction is open.
    if (!dropped && dropped.error().value == EBUSY) return;
    kept->to_event = begun;
    if (!dropped && recorder_.failed_at().empty() && !recorded_.failure)
      recorded_.failure = fmt::format("snapshot {} cannot be dropped: {}", name,
                                      std::strerror(dropped.error().value));
  }

  /// Executes the operations of one user.
  void work(std::size_t thread) {
    for (std::size_t i = 0; i < operations_.size() && !over(); ++i) {
      if (thread == 0 && i == operations_.size() / 2) make_snapshot("middle");
      if (thread == 0 && i == operations_.size() / 4 * 3) drop_snapshot("first");
      if (operations_[i].kind == workload::Operation::Kind::join) {
        meet();
      } else if (operations_[i].thread == thread) {
        operation(i);
        pause();
      }
    }
    // If the run ended early, the user who opened the transaction will not commit it, so commit it
    // here.
    if (Transactions* const transactions = mounted_->transactions()) (void)transactions->commit();
    ++resting_;
    ++ended_;
    changed_.wake_all();
  }

  VfsResult<void> execute(const workload::Operation& operation) {
    if (operation.kind == workload::Operation::Kind::rest) return rest(operation.seconds);
    Transactions* const transactions = mounted_->transactions();
    if (transactions != nullptr && operation.kind == workload::Operation::Kind::begin)
      return transactions->begin();
    if (transactions != nullptr && operation.kind == workload::Operation::Kind::commit)
      return transactions->commit();
    return workload::execute(operation, mounted_->vfs(), *open_files_);
  }

  void operation(std::size_t number) {
    const workload::Operation& operation = operations_[number];
    if (options_.shared_names) return shared_operation(number);
    const std::size_t begun = ++begun_;
    const bool alone = resting_ + 1 == threads_;
    const auto before = contents_before(operation);
    const auto done = execute(operation);
    if (done) {
      if (operation.kind == workload::Operation::Kind::open) ++open_;
      if (operation.kind == workload::Operation::Kind::close) --open_;
      if (!workload::is_persistence_point(operation)) return;
      const bool syncs = operation.kind == workload::Operation::Kind::sync ||
                         operation.kind == workload::Operation::Kind::syncfs;
      // Another user may have started an operation while this user waited for the sync. The file
      // system is then not quiet.
      const bool quiet = syncs && alone && begun == begun_ && recorder_.idle();
      report_point(number);
      // Check again, because other users may have worked while report_point() waited.
      if (quiet && begun == begun_ && recorder_.idle()) settle();
      return;
    }
    if (done.error().value == ENOSPC && before) judge_remains(number, *before);
    if (done.error().value == ENOSPC && alone && begun == begun_) judge_refusal(number);
    failed(number, done.error().value);
    changed_.wake_all();
  }

  /// Returns true if the run checks operations that are refused for lack of space.
  bool judges_refusals() const {
    return options_.order % 2 != 0 && !under_test_.control() && options_.faults.empty();
  }

  /// Returns the contents of the file that a single user is about to change, if the disk is so full
  /// that the operation may be refused.
  std::optional<std::vector<std::byte>> contents_before(const workload::Operation& operation) {
    if (!judges_refusals() || threads_ != 1) return std::nullopt;
    if (workload::is_persistence_point(operation) || workload::is_open_file(operation.path))
      return std::nullopt;
    const auto space = mounted_->vfs().space();
    if (!space || space->free_bytes > operation.length + kMarginBytes) return std::nullopt;
    return read_file(operation.path);
  }

  /// Returns std::nullopt if there is no such file, or if it is large.
  std::optional<std::vector<std::byte>> read_file(const std::string& path) {
    Vfs& vfs = mounted_->vfs();
    const auto status = vfs.stat(path);
    if (!status || status->type != FileType::regular || status->size_bytes > kReadBytesMax)
      return std::nullopt;
    const auto file = vfs.open(path, {});
    if (!file) return std::nullopt;
    std::vector<std::byte> bytes(status->size_bytes);
    const auto length = vfs.pread(*file, 0, bytes);
    if (!vfs.close(*file) || !length || *length != bytes.size()) return std::nullopt;
    return bytes;
  }

  /// Checks a file after an operation that was refused for lack of space. The size of the file and
  /// all bytes outside the operation's range must be unchanged. If the file system promises
  /// OnePoint::all, the operation must have had no effect at all.
  void judge_remains(std::size_t number, const std::vector<std::byte>& before) {
    const workload::Operation& operation = operations_[number];
    const std::string refused =
        fmt::format("operation {} ({}) fails with ENOSPC", number, workload::format(operation));
    const auto after = read_file(operation.path);
    if (!after) return report(refused + ", and the file cannot be read");
    if (after->size() != before.size())
      return report(fmt::format("{}, but changes the file's size from {} to {}", refused,
                                before.size(), after->size()));
    const bool atomic = under_test_.description().promises.one_point == adapters::OnePoint::all;
    const std::size_t first = std::ranges::mismatch(before, *after).in1 - before.begin();
    const std::size_t last =
        std::mismatch(before.rbegin(), before.rend(), after->rbegin()).first - before.rbegin();
    if (first == before.size()) return;
    const std::size_t end = before.size() - last;
    if (atomic || first < operation.offset || end > operation.offset + operation.length)
      report(fmt::format("{}, but changes bytes {} to {}", refused, first, end));
  }

  /// Repeats an operation that was refused for lack of space, after a sync. By then, all space that
  /// was freed earlier is usable. A file system must reclaim such space before it refuses an
  /// operation, so the repetition must be refused, too.
  void judge_refusal(std::size_t number) {
    if (!judges_refusals()) return;
    const std::size_t begun = begun_;
    if (!mounted_->vfs().sync() || begun != begun_) return;
    if (execute(operations_[number]) && begun == begun_)
      report(fmt::format("operation {} ({}) fails with ENOSPC, but succeeds after a sync", number,
                         workload::format(operations_[number])));
  }

  void shared_operation(std::size_t number) {
    oracle::SharedCall call{.operation = number, .begun = ++instants_};
    const auto done = execute(operations_[number]);
    call.ended = ++instants_;
    call.error = done ? 0 : done.error().value;
    calls_.push_back(call);
  }

  /// Rests, and then waits for all requests that were issued during the rest. A file system may
  /// promise that data is durable after some time. This promise does not cover the time that the
  /// requests take.
  VfsResult<void> rest(std::int64_t seconds) {
    executor_.sleep_until(executor_.now() + seconds * model::kSecondNs);
    system_.queue.drain();
    return {};
  }

  void failed(std::size_t number, int error) {
    const workload::Operation& operation = operations_[number];
    const std::string what = fmt::format("operation {} ({})", number, workload::format(operation));
    const bool faulty = error == EIO && !recorder_.failed_at().empty();
    const auto outcome =
        workload::outcome_of(operation, {.error = error, .skipped_before = skipped_});
    if (faulty && only_persists(operation)) {
      ++recorded_.met.failed_syncs;
      recorded_.failed_operations.push_back({number, workload::Outcome::skipped});
      unreported_.erase(number);
    } else if (faulty) {
      recorded_.met.ended_by = what;
      if (threads_ == 1) recorded_.executed = number + 1;
    } else if (outcome == workload::Outcome::failed) {
      recorded_.failure = fmt::format("{} failed: {}", what, std::strerror(error));
    } else {
      skipped_ = true;
      recorded_.failed_operations.push_back({number, outcome});
      unreported_.erase(number);
    }
  }

  /// Reports a persistence point. First waits until all earlier points have been reported, because
  /// points are reported in list order.
  void report_point(std::size_t point) {
    rest_until([&] { return *unreported_.begin() == point; });
    if (recorded_.failure || *unreported_.begin() != point) return;
    if (!recorder_.failed_at().empty() && informative_syncs_++ < kInformativeSyncs)
      recorded_.met.informative.push_back(recorder_.events() + 1);
    recorder_.mark(workload::persisted_mark(point));
    unreported_.erase(point);
    changed_.wake_all();
  }

  void meet() {
    if (threads_ == 1) return;
    const std::size_t all_here = (arrived_++ / threads_ + 1) * threads_;
    if (arrived_ == threads_) schedule_.begin();  // until now, only one user has worked
    changed_.wake_all();
    rest_until([&] { return arrived_ >= all_here; });
  }

  template <typename Reached>
  void rest_until(const Reached& reached) {
    if (reached() || over()) return;
    ++resting_;
    while (!reached() && !over()) changed_.wait();
    --resting_;
  }

  bool over() const { return recorded_.failure || !recorded_.met.ended_by.empty(); }

  /// Marks the run as settled if no change is pending and no file is open. Open files are excluded
  /// because an unlinked open file uses space without appearing in the final tree.
  void settle() {
    if (open_ == 0 && !recorded_.failure && mounted_->has_no_pending_changes())
      recorded_.settled[recorder_.events()] = mounted_->space_counts();
  }

  void pause() {
    if (options_.pause_ns_max == 0 || options_.order % 4 == 3 || random_.below(kPauseOneIn) != 0)
      return;
    const auto pause = random_.below(static_cast<std::uint64_t>(options_.pause_ns_max));
    executor_.sleep_until(executor_.now() + static_cast<TimeNs>(pause));
    for (int i = 0; options_.order >= kFirstBusyOrder && i < kPollsMost && recorder_.idle(); ++i)
      executor_.sleep_until(executor_.now() + kPoll);
  }

  const adapters::SystemUnderTest& under_test_;
  StateDisk& store_;
  std::span<const workload::Operation> operations_;
  const RunOptions& options_;
  Random random_;
  ScheduleFromJoin schedule_;
  os::MemoryMachine machine_;
  os::System& system_ = machine_.system;
  os::Executor& executor_ = system_.executor;
  os::Account account_{.name = "user"};
  RecordedRun recorded_;
  QueueRecorder recorder_;
  std::size_t threads_;
  std::unique_ptr<adapters::MountedSystem> mounted_;
  std::optional<workload::OpenFiles> open_files_;
  std::set<std::size_t>
      unreported_;           ///< persistence points that are neither reported nor skipped yet
  std::size_t arrived_ = 0;  ///< number of times that a user has arrived at a join
  /// Number of users that have ended or are waiting for another user.
  std::size_t resting_ = 0;
  std::size_t ended_ = 0, begun_ = 0, open_ = 0, informative_syncs_ = 0;
  bool has_unmounted_ = false;        ///< an unmount has begun
  bool skipped_ = false;              ///< an operation has been skipped or executed in part
  std::optional<SpaceStatus> space_;  ///< set if the file system was unmounted after the recording
  // The following members are used only for a shared history.
  std::vector<oracle::SharedCall> calls_;
  std::vector<oracle::SharedObject> final_tree_;
  std::set<std::string> first_names_;
  std::uint64_t instants_ = 0;
  os::WaitQueue changed_{executor_};
  std::optional<Error> error_;
};

}  // namespace

os::FiberScheduleOptions schedule_of(std::span<const workload::Operation> operations,
                                     const RunOptions& options) {
  os::FiberScheduleOptions schedule{.seed = options.schedule, .omitted = options.omitted_changes};
  // Old changes must reach the disk during a `rest` operation, so the schedule must not delay the
  // daemons.
  const bool rests = std::ranges::any_of(operations, [](const workload::Operation& operation) {
    return operation.kind == workload::Operation::Kind::rest;
  });
  if (rests) schedule.hold_ns_max = 0;
  return schedule;
}

Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const adapters::SystemUnderTest& system,
                               std::span<const workload::Operation> operations,
                               const RunOptions& options, const std::filesystem::path& recording) {
  std::error_code error;
  std::filesystem::remove(recording, error);
  const auto base =
      std::filesystem::relative(formatted.recording, base::folder_of(recording), error);
  TRY(auto writer,
      record::RecordingWriter::create(
          recording,
          {.seed = options.seed,
           .devices = {{.name = "hd0", .profile = "memory", .sectors = formatted.sectors()}},
           .media = false,
           .base = record::RecordingHeader::Base{
               base.string(), formatted.state,
               formatted.history->fingerprint(formatted.history->events())}}));
  disk.show_base();
  auto run = Run(disk, system, operations, options).run(*writer);
  if (!run) return run;
  TRY(writer->flush());
  if (const auto& broken = writer->error()) return tl::unexpected<Error>(*broken);
  run->recording = recording;
  return run;
}

}  // namespace headcrash::in_process
