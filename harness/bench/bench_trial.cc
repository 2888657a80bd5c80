// Runs the steps of a trial (bench_trial.h).
//
// After each step, the trial either continues or ends with a reason, such as a hang, a kernel oops,
// or a file that cannot be written. An error in headcrash itself also ends only the trial, not the
// whole benchmark.
#include "harness/bench/bench_trial.h"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <thread>
#include <utility>

#include "harness/bench/host_load.h"
#include "harness/bench/measures.h"
#include "harness/device/served_device.h"
#include "harness/explorer/guests/record_workload.h"
#include "harness/run/guest_session.h"
#include "harness/run/phases.h"
#include "harness/run/trial_machine.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/wall_clock.h"
#include "plugin/model/core/simulation.h"
#include "plugin/model/core/store.h"

namespace headcrash::bench {
namespace {

using model::kNsPerMs;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kConsoleLines = 1000;
/// Polling interval. The server provides the measured time, so this interval does not limit the
/// precision.
constexpr milliseconds kQuietPoll{50};
constexpr std::size_t kReportPiece = 32 << 10, kReportMost = 16 << 20;
constexpr const char* kGuestDisk = "vda";

/// Returns the error's message, preceded by the error's verdict unless that is harness_error.
std::string described(Error error) {
  const oracle::Verdict verdict = oracle::verdict_of(error.kind);
  if (verdict != oracle::Verdict::harness_error)
    error.problem = fmt::format("{}: {}", oracle::name(verdict), error.problem);
  return error.message();
}

class BenchTrial {
 public:
  BenchTrial(const BenchTrialPlan& plan, const BenchTrialContext& context)
      : plan_(plan), cell_(*plan.cell), context_(context), bench_(*context.bench) {}

  Result<db::TrialRecord> run();

 private:
  void describe();
  Result<void> start_device();
  Result<void> work();
  Result<void> start_guest();
  Result<void> format_and_mount();
  Result<void> run_phases();
  Result<void> run_phase(std::size_t index, const timed::Phase& phase);
  Result<void> run_tool();
  Result<void> cut_power();
  Result<void> recover();
  /// Runs one step of the recovery as a measured phase. `name` is the phase's name in the database,
  /// and `label` is its label.
  Result<void> recovery_step(const std::string& label, const char* name,
                             const std::function<Result<void>()>& work);
  Result<void> store_long_file(const std::string& path, const std::string& text);
  Result<std::string> read_guest_file(const std::string& path);
  void conclude(const Result<void>& worked);
  void keep_console();

  Result<json> control(const json& request) { return device_->control().request(request); }
  Result<json> call(const json& request) { return session_->call(request); }
  Result<run::GuestOutcome> exec(const std::vector<std::string>& argv);
  bool interrupted() const { return context_.interrupted != nullptr && *context_.interrupted; }
  void tell(const std::string& phase) const {
    if (context_.on_phase) context_.on_phase(phase);
  }

  struct PhaseStart {
    base::Stopwatch watch;
    GuestCounters guest;
  };
  /// Returns the device's clock if `timed`, otherwise the setup clock.
  std::string clock_of(bool timed) const {
    return timed ? cell_.device->clock : profiles::clock_text(bench_.setup_clock);
  }
  Result<PhaseStart> begin_phase(const std::string& label, bool measured);
  /// Ends a phase and stores it under `name`. `measure` contains the guest's results; end_phase()
  /// adds the device's results.
  Result<void> end_phase(const PhaseStart& start, db::MeasureRecord measure,
                         std::vector<db::MetricRecord> metrics, const char* name = "workload");
  Result<GuestCounters> counters(const char* request = "counters");
  Result<GuestCounters> settle() { return counters("settle"); }
  Result<double> wait_until_quiet();
  /// Returns the time since the guest started, in milliseconds: the guest's time if time is
  /// virtual, otherwise the host's time.
  Result<double> now_ms();

  const BenchTrialPlan& plan_;
  const Cell& cell_;
  const BenchTrialContext& context_;
  const Bench& bench_;
  db::TrialRecord record_;
  std::unique_ptr<device::ServedDevice> device_;
  std::unique_ptr<vm::Guest> guest_;
  std::unique_ptr<run::GuestSession> session_;
  std::optional<run::PhaseClock> setup_;
  std::optional<Error> unusable_;
  base::Stopwatch began_;
  /// True if the device is known to be idle, because the last phase was measured. The next measured
  /// phase then begins without waiting.
  bool settled_ = false;
};

Result<db::TrialRecord> BenchTrial::run() {
  const base::Stopwatch watch;
  describe();
  TRY(start_device());
  const HostLoad before = host_load();
  const Result<void> worked = work();
  // In virtual time, the load of other processes on the host does not affect the results.
  if (!bench_.virtual_time) record_.host_busy = used_by_others(before, host_load());
  if (interrupted()) return fail(plan_.key, "interrupted");
  if (unusable_) return tl::unexpected(*unusable_);
  conclude(worked);
  guest_.reset();
  device_.reset();
  record_.wall_ms = watch.ms();
  return std::move(record_);
}

void BenchTrial::describe() {
  record_.key = plan_.key;
  record_.filesystem = cell_.filesystem->name;
  record_.device = cell_.device->name;
  record_.devices = {
      {.name = "hd0",
       .profile = cell_.device->profile,
       .sectors = static_cast<std::int64_t>(cell_.device->size_bytes / model::kSectorBytes),
       .parent = {}}};
  record_.workload = cell_.workload->name;
  record_.parameters = parameters_text(*cell_.workload);
  record_.scale = cell_.workload->scale;
  record_.repetition = plan_.repetition;
  record_.seed = static_cast<std::int64_t>(plan_.seed);
  record_.clock = cell_.device->clock;
  record_.expected = "any";
  record_.started_at = base::now_utc();
}

Result<void> BenchTrial::start_device() {
  TRY(auto started,
      run::start_trial_machine({.disk = {.machine = {.profile = cell_.device->profile,
                                                     .size_bytes = cell_.device->size_bytes,
                                                     .options = cell_.device->options,
                                                     .clock = bench_.setup_clock,
                                                     .seed = plan_.seed},
                                         .virtual_time = bench_.virtual_time,
                                         .charge = bench_.charge},
                                .log_profile = {}},
                               *cell_.filesystem, context_.scratch));
  device_ = std::move(started);
  setup_.emplace(device_->control(), record_.phases);
  return {};
}

Result<void> BenchTrial::work() {
  using Part = Result<void> (BenchTrial::*)();
  for (const Part part :
       {&BenchTrial::start_guest, &BenchTrial::format_and_mount, &BenchTrial::run_phases}) {
    TRY((this->*part)());
    if (interrupted()) return fail("", "interrupted");
  }
  if (const auto oops = guest_->oops())
    return fail(ErrorKind::guest_died, "", "the guest's kernel reported: " + *oops);
  return {};
}

Result<void> BenchTrial::start_guest() {
  tell("restore");
  TRY(setup_->begin("restore"));
  session_.reset();
  guest_.reset();  // stop the old guest first, because both guests write to the same console log
  auto started = run::start_trial_guest({.image = context_.image,
                                         .accelerator = context_.accelerator,
                                         .memory_mib = bench_.memory_mib,
                                         .disk_bytes = cell_.device->size_bytes,
                                         .step_timeout_s = bench_.step_timeout_s,
                                         .seed = run::seed_digits(plan_.seed),
                                         .interrupted = context_.interrupted,
                                         .cache = context_.cache,
                                         .scratch = context_.scratch},
                                        *device_, *cell_.filesystem);
  if (!started) {
    unusable_ = started.error();
    return forward_error(started);
  }
  guest_ = std::move(started->guest);
  session_ = std::move(started->session);
  TRY(started->met);
  return setup_->end();
}

Result<void> BenchTrial::format_and_mount() {
  const adapters::LinuxAdapter& filesystem = *cell_.filesystem;
  tell("mkfs");
  TRY(setup_->begin("mkfs"));
  const auto made =
      session_->exec(run::in_guest(filesystem.mkfs.argv, explorer::uuid_from(plan_.seed)));
  if (!made) {
    Error error = made.error();
    error.hint = adapters::missing_tool_hint(filesystem);
    return tl::unexpected(std::move(error));
  }
  if (!filesystem.mkfs.good(made->exit_code))
    return fail("mkfs", fmt::format("exit code {}: {}", made->exit_code, made->output));
  TRY(setup_->end(made->exit_code));

  TRY(setup_->begin("mount"));
  std::string why;
  TRY(const auto mounted, session_->mount(filesystem, &why));
  if (!mounted) return fail("mount", "the new file system cannot be mounted: " + why);
  return setup_->end(0);
}

/// Runs a command in the guest. Fails unless the command succeeds.
Result<run::GuestOutcome> BenchTrial::exec(const std::vector<std::string>& argv) {
  auto ended = session_->exec(argv);
  if (ended && ended->exit_code != 0)
    return fail(argv.at(0), fmt::format("exit code {}: {}", ended->exit_code, ended->output));
  return ended;
}

// ---- a phase

Result<GuestCounters> BenchTrial::counters(const char* request) {
  TRY(const auto answer, call({{"do", request}, {"device", kGuestDisk}}));
  return counters_from_answer(answer);
}

/// Waits until all devices are idle. Returns the time at which they became idle, in model time.
Result<double> BenchTrial::wait_until_quiet() {
  const auto deadline = steady_clock::now() + std::chrono::seconds(bench_.step_timeout_s);
  while (true) {
    TRY(const auto stats, control({{"stats", "read"}}));
    const auto quiet = stats.find("quiet_since_ns");
    if (quiet != stats.end() && quiet->is_number()) return quiet->get<double>();
    if (interrupted()) return fail("", "interrupted");
    if (steady_clock::now() > deadline)
      return fail(
          ErrorKind::timeout, "",
          fmt::format("the device still had data to write after {} s", bench_.step_timeout_s));
    if (!bench_.virtual_time) {
      std::this_thread::sleep_for(kQuietPoll);
    } else {
      // Sleep in the guest, because virtual time does not pass while only the host sleeps.
      TRY(call({{"do", "pause"}, {"ms", kQuietPoll.count()}}));
    }
  }
}

Result<BenchTrial::PhaseStart> BenchTrial::begin_phase(const std::string& label, bool measured) {
  tell(label);
  TRY(device_->set_clock(clock_of(measured)));
  if (measured && !settled_) {
    TRY(settle());
    TRY(wait_until_quiet());
  }
  // Read the counters of the guest and of the disk in quick succession, because the file system may
  // still write in the background. The guest's counters are read first.
  TRY(const auto guest, counters());
  TRY(control({{"stats", "take"}}));
  return PhaseStart{.watch = {}, .guest = guest};
}

Result<void> BenchTrial::end_phase(const PhaseStart& start, db::MeasureRecord measure,
                                   std::vector<db::MetricRecord> metrics, const char* name) {
  TRY(const auto at_end, control({{"stats", "read"}}));
  TRY(const auto busy_ms, busiest_ms(at_end));
  measure.device_busy_ms = std::min(busy_ms, measure.elapsed_ms);

  const bool wait = measure.measured && bench_.quiescence;
  TRY(const auto guest, wait ? settle() : counters());
  measure.guest = difference(guest.disk, start.guest.disk);
  if (wait) {
    TRY(const auto quiet_ns, wait_until_quiet());
    const double after_ms = (quiet_ns - at_end.value("model_ns", 0.0)) / kNsPerMs;
    measure.quiescent_ms = measure.elapsed_ms + std::max(after_ms, 0.0);
  }
  settled_ = measure.measured;

  TRY(const auto stats, control({{"stats", "take"}}));
  TRY(auto phase, run::phase_from_stats(stats));
  phase.name = name;
  phase.wall_ms = start.watch.ms();
  for (db::MetricRecord& each : device_metrics(stats)) metrics.push_back(std::move(each));
  phase.measure = std::move(measure);
  phase.metrics = std::move(metrics);
  record_.phases.push_back(std::move(phase));
  return {};
}

Result<void> BenchTrial::run_phases() {
  if (cell_.workload->tool) return run_tool();
  const std::vector<timed::Phase> phases = cell_.workload->timed->phases(cell_.workload->arguments);
  bool recovered = false;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].after_cut && !std::exchange(recovered, true)) {
      TRY(recover());
    }
    TRY(run_phase(i, phases[i]));
  }
  return {};
}

Result<void> BenchTrial::run_phase(std::size_t index, const timed::Phase& phase) {
  TRY(const auto start, begin_phase(phase.name, phase.measured));
  json request{{"do", "timed"},
               {"workload", cell_.workload->name},
               {"arguments", cell_.workload->arguments},
               {"seed", std::to_string(plan_.seed)},
               {"root", run::kMountPoint},
               {"phase", index}};
  // The guest's clock lags while the guest computes. If the request contains `clock-disk`, the
  // agent reads from that disk, which advances the guest's clock to the machine's time.
  if (bench_.charge > 0) request["clock-disk"] = run::kStageMarks;
  const auto answer = call(request);
  if (!answer) return tl::unexpected(base::within(phase.name, answer.error()));
  if (answer->contains("error")) {
    const bool refused = answer->value("errno", 0) != 0;  // if true, `error` gives the reason
    return fail(phase.name, answer->value("error", "") + (refused ? "" : ": wrong data"));
  }
  std::vector<db::MetricRecord> metrics;
  const double slower = slowdown(clock_of(phase.measured || bench_.virtual_time));
  TRY(auto measure, measure_from_answer(*answer, slower, metrics));
  measure.label = phase.name;
  measure.measured = phase.measured;
  return end_phase(start, std::move(measure), std::move(metrics));
}

// ---- recovery

/// Cuts the guest's power, powers the disk on again, and starts a fresh guest.
Result<void> BenchTrial::cut_power() {
  tell("cut");
  TRY(setup_->begin("cut"));
  TRY(control({{"power", "cut"}}));
  guest_->kill();
  TRY(control({{"power", "on"}}));
  TRY(setup_->end());
  settled_ = false;
  return start_guest();
}

Result<double> BenchTrial::now_ms() {
  if (!bench_.virtual_time) return began_.ms();
  TRY(const auto stats, control({{"stats", "read"}}));
  return stats.value("model_ns", 0.0) / kNsPerMs;
}

Result<void> BenchTrial::recovery_step(const std::string& label, const char* name,
                                       const std::function<Result<void>()>& work) {
  TRY(const auto start, begin_phase(label, true));
  const auto before_ms = now_ms();
  const auto done = before_ms ? work() : forward_error(before_ms);
  const auto after_ms = done ? now_ms() : forward_error(done);
  if (!after_ms) return tl::unexpected(base::within(label, after_ms.error()));
  const double took_ms = *after_ms - *before_ms;
  TRY(const auto after, counters());
  return end_phase(start,
                   {.label = label,
                    .elapsed_ms = took_ms / slowdown(cell_.device->clock),
                    .user_ms = after.user_ms - start.guest.user_ms,
                    .system_ms = after.system_ms - start.guest.system_ms,
                    .operation = "recoveries",
                    .operations = 1},
                   {}, name);
}

/// Recovers as a machine does at its next boot: replays the log, runs a full check, and mounts the
/// clean file system. If the workload measures a boot, the replay and the mount are measured as one
/// step, and the check follows.
Result<void> BenchTrial::recover() {
  const adapters::LinuxAdapter& filesystem = *cell_.filesystem;
  TRY(cut_power());
  const auto mount = [&]() -> Result<void> {
    std::string why;
    TRY(const auto mounted, session_->mount(filesystem, &why));
    if (!mounted) return fail("", "cannot be mounted: " + why);
    return {};
  };
  const auto run = [&](const adapters::GuestCommand& command) -> Result<void> {
    TRY(const auto ended, session_->exec(run::in_guest(command.argv)));
    if (!command.good(ended.exit_code))
      return fail("", fmt::format("exit code {}: {}", ended.exit_code, ended.output));
    return {};
  };
  if (cell_.workload->timed->boots) {
    const auto booted = recovery_step("power on to mounted", "mount", [&]() -> Result<void> {
      if (!filesystem.replay_by_mount) {
        TRY(run(filesystem.replay));
      }
      return mount();
    });
    if (!booted || filesystem.check.argv.empty()) return booted;
    TRY(session_->unmount());
    if (const auto checked = recovery_step("fsck", "fsck", [&] { return run(filesystem.check); });
        !checked)
      return checked;
    return mount();
  }
  const auto replayed = recovery_step("replay", "replay", [&]() -> Result<void> {
    if (!filesystem.replay_by_mount) return run(filesystem.replay);
    const auto mounted = mount();
    return mounted ? session_->unmount() : mounted;
  });
  if (!replayed) return replayed;
  if (!filesystem.check.argv.empty()) {
    if (const auto checked = recovery_step("fsck", "fsck", [&] { return run(filesystem.check); });
        !checked)
      return checked;
  }
  return recovery_step("mount", "mount", mount);
}

// ---- benchmark programs

/// Runs the tool. If it fails, the error contains its exit code and output.
Result<void> BenchTrial::run_tool() {
  const ToolJob& job = *cell_.workload->tool;
  const ToolCommand command = tool_command(job, run::kMountPoint);
  if (!command.job_path.empty()) {
    TRY(call({{"do", "put"}, {"path", command.job_path}, {"text", command.job_text}}));
  }
  for (const auto& [path, text] : command.more_files) TRY(store_long_file(path, text));
  if (!command.prepare.empty()) {
    tell("prepare");
    TRY(exec(command.prepare));
  }
  TRY(const auto start, begin_phase("run", true));
  TRY(const auto before_ms, now_ms());
  TRY(const auto ran, exec(command.argv));
  TRY(const auto after_ms, now_ms());
  // If processor time is charged, the guest's clock lags behind while the guest computes. The
  // machine's clock does not.
  const double took_ms = bench_.charge > 0 ? after_ms - before_ms : ran.wall_ms;
  TRY(const auto after, counters());
  TRY(const auto text, command.report_path.empty() ? Result<std::string>(ran.out())
                                                   : read_guest_file(command.report_path));
  TRY(auto report, parse_report(job, text));
  db::MeasureRecord measure{.label = "run",
                            .elapsed_ms = took_ms / slowdown(cell_.device->clock),
                            .user_ms = after.user_ms - start.guest.user_ms,
                            .system_ms = after.system_ms - start.guest.system_ms,
                            .operation = report.operation,
                            .operations = report.operations,
                            .app_bytes_read = report.bytes_read,
                            .app_bytes_written = report.bytes_written};
  return end_phase(start, std::move(measure), std::move(report.metrics));
}

/// Stores a file in the guest. Its contents are sent in several messages because a message has a
/// limited size.
Result<void> BenchTrial::store_long_file(const std::string& path, const std::string& text) {
  constexpr std::size_t kPiece = 192 << 10;
  std::vector<std::string> join{
      "busybox", "sh", "-c", "out=$1; shift; cat \"$@\" >\"$out\" && rm \"$@\"", "sh", path};
  for (std::size_t at = 0; at < text.size(); at += kPiece) {
    join.push_back(fmt::format("{}.{}", path, at / kPiece));
    TRY(call({{"do", "put"}, {"path", join.back()}, {"text", text.substr(at, kPiece)}}));
  }
  TRY(exec(join));
  return {};
}

/// Reads a file in pieces, because the agent returns only the end of a command's output.
Result<std::string> BenchTrial::read_guest_file(const std::string& path) {
  std::string text;
  for (std::size_t piece = 0; text.size() < kReportMost; ++piece) {
    TRY(const auto answer, exec({"busybox", "dd", "if=" + path, fmt::format("bs={}", kReportPiece),
                                 "count=1", fmt::format("skip={}", piece)}));
    const std::string more = answer.out();
    text += more;
    if (more.size() < kReportPiece) return text;
  }
  return fail(path, fmt::format("is longer than {} MiB", kReportMost >> 20));
}

// ---- the end

void BenchTrial::conclude(const Result<void>& worked) {
  record_.verdict = worked ? db::kMeasured : db::kFailed;
  if (!worked) record_.summary = described(worked.error());
  std::vector<db::PhaseRecord> measured;
  for (db::PhaseRecord& phase : record_.phases) {
    if (!phase.measure || !phase.measure->measured) continue;
    const db::MeasureRecord& measure = *phase.measure;
    if (worked)
      record_.summary +=
          fmt::format("{}{} {:.2f} s", record_.summary.empty() ? "" : ", ", measure.label,
                      measure.quiescent_ms.value_or(measure.elapsed_ms) / 1000);
    record_.operations += measure.operations;
    measured.push_back(phase);
  }
  record_.late = run::came_late(measured);
  if (worked) return;
  record_.operations = 0;
  for (db::PhaseRecord& phase : record_.phases) {  // a failed trial has no measurements
    phase.measure.reset();
    phase.metrics.clear();
  }
  keep_console();
}

void BenchTrial::keep_console() {
  if (!guest_) return;
  std::error_code error;
  std::filesystem::create_directories(context_.artefacts, error);
  const std::filesystem::path path = context_.artefacts / "console.txt";
  std::ofstream(path) << guest_->console_tail(kConsoleLines);
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) return;
  record_.artefacts.push_back({"console",
                               std::filesystem::relative(path, context_.database_folder, error),
                               static_cast<std::int64_t>(bytes)});
}

}  // namespace

Result<db::TrialRecord> run_bench_trial(const BenchTrialPlan& plan,
                                        const BenchTrialContext& context) {
  return BenchTrial(plan, context).run();
}

}  // namespace headcrash::bench
