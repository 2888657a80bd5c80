// A small operating system, a mounted ufs and one user (record_run.h).
#include "harness/lab/in_process/record_run.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "fs-adapters/os/memory_machine.h"
#include "harness/workload/open_files.h"
#include "plugin/model/random.h"
#include "plugin/record/recording.h"

namespace headcrash::in_process {
namespace {

using model::TimeNs;

constexpr TimeNs kDiskLatency = 10 * model::kMillisecondNs;
constexpr TimeNs kDaemonsRest = 70 * model::kSecondNs;  // two rounds of the sweep, and work items between
constexpr std::uint64_t kPauseOneIn = 4;

/// Hears what the driver is asked, and tells recording and rules.
class QueueRecorder final : public os::DiskTracer {
 public:
  QueueRecorder(record::RecordingWriter& writer, os::Executor& executor, OrderRules& rules)
      : writer_(writer), executor_(executor), rules_(rules) {}

  void issued(os::RequestId id, const os::BlockRequest& request, const os::Ordering& ordering) override {
    rules_.issued(id, request, ordering, events_);
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

 private:
  record::RecordingWriter& writer_;
  os::Executor& executor_;
  OrderRules& rules_;
  std::uint64_t events_ = 0;
};

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
            {.latency_ns = kDiskLatency,
             .queue = scheme.queue,
             .cache = {.bytes = options.cache_bytes, .block_copy = scheme.block_copy, .lock_data = true}}),
        recorded_{.rules = OrderRules(scheme.queue.flag, scheme.queue.reads_bypass)},
        recorder_(writer, machine_.executor, recorded_.rules) {}

  Result<RecordedRun> run() {
    machine_.queue.trace(&recorder_);
    machine_.syncer.start();
    executor_.spawn(os::Executor::Kind::user, account_, [this] { user(); });
    executor_.run();
    executor_.halt();
    if (error_) return tl::unexpected<Error>(*error_);
    return std::move(recorded_);
  }

 private:
  void user() {
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
    for (std::size_t i = 0; i < operations_.size() && !recorded_.failure; ++i) {
      operation(i);
      pause();
    }
    recorder_.mark("end");
    executor_.sleep_until(executor_.now() + kDaemonsRest);
    recorded_.to_event = recorder_.events();
    // The power goes: nothing of what follows is seen.
    machine_.queue.trace(nullptr);
    filesystem_->abandon();
    machine_.disk.power_cut();
    open_files_.reset();
    filesystem_.reset();
  }

  void operation(std::size_t number) {
    const workload::Operation& operation = operations_[number];
    const auto done = workload::execute(operation, *filesystem_, *open_files_);
    if (done) {
      if (workload::is_persistence_point(operation)) recorder_.mark(workload::persisted_mark(number));
      return;
    }
    const auto outcome = workload::outcome_of(
        operation, {.error = done.error().value, .skipped_before = !recorded_.mishaps.empty()});
    if (outcome == workload::Outcome::failed) {
      recorded_.failure = fmt::format("operation {} ({}) failed: {}", number, workload::format(operation),
                                      std::strerror(done.error().value));
      return;
    }
    recorded_.mishaps.push_back({number, outcome});
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
  std::unique_ptr<ufs::FileSystem> filesystem_;
  std::optional<workload::OpenFiles> open_files_;
  std::optional<Error> error_;
};

}  // namespace

Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const ufs::SchemeVariant& scheme,
                               std::span<const workload::Operation> operations, const RunOptions& options,
                               const std::filesystem::path& recording) {
  if (workload::threads_of(operations) > 1)
    return fail("workload", "has several threads, and a run in the lab's own process has one",
                "use one without threads, or `headcrash explore` with a guest");
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
