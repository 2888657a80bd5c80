// A trial's steps (bench_trial.h).
//
// A step either goes on or ends the trial with a reason: a hang, an oops, a file that could not be written.
// Faults of headcrash itself end it in the same way, so that one bad trial never takes the benchmark with it.
#include "harness/bench/bench_trial.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include "harness/bench/host_load.h"
#include "harness/bench/measures.h"
#include "harness/campaign/phases.h"
#include "harness/campaign/trial_machine.h"
#include "harness/device/served_device.h"
#include "harness/lab/guest_session.h"
#include "harness/lab/record_workload.h"
#include "harness/process/stopwatch.h"
#include "plugin/model/simulation.h"

namespace headcrash::bench {
namespace {

using model::kNsPerMs;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kConsoleLines = 1000;
constexpr milliseconds kLook{200};          // how often a long request is looked after
constexpr milliseconds kQuietPoll{50};      // the instant itself comes from the server
constexpr std::chrono::seconds kGrace{10};  // the agent ends a command in time; the call gets a little longer
constexpr std::size_t kReportPiece = 32 << 10, kReportMost = 16 << 20;
constexpr std::int64_t kFirstOwnId = 1'000'000;
constexpr const char* kGuestDisk = "vda";
constexpr const char* kDiskStatistics = "/sys/block/vda/stat";

/// Goes on, or ends the trial for this reason.
template <typename T>
using Step = tl::expected<T, std::string>;

std::string reason(const crash::Judgement& judgement) {
  if (judgement.verdict == crash::Verdict::harness_error) return judgement.summary;
  return fmt::format("{}: {}", crash::name(judgement.verdict), judgement.summary);
}
template <typename T>
Step<T> step(lab::Step<T> result) {
  if (!result) return tl::unexpected(reason(result.error()));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}
template <typename T>
Step<T> step(Result<T> result) {
  if (!result) return tl::unexpected(result.error().message());
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

class BenchTrial {
 public:
  BenchTrial(const BenchTrialPlan& plan, const BenchTrialContext& context)
      : plan_(plan), cell_(*plan.cell), context_(context), bench_(*context.bench) {}

  Result<db::TrialRecord> run();

 private:
  void describe();
  Result<void> start_device();
  Step<void> work();
  Step<void> start_guest();
  Step<void> format_and_mount();
  Step<void> run_phases();
  Step<void> run_phase(std::size_t index, const timed::Phase& phase);
  Step<void> run_tool();
  Step<CpuTimes> cpu_times();
  Step<std::string> read_guest_file(const std::string& path);
  void conclude(const Step<void>& worked);
  void keep_console();

  Step<json> control(const json& request) { return step(device_->control().request(request)); }
  Step<json> call(json request);
  Step<json> exec(const std::vector<std::string>& argv);
  bool interrupted() const { return context_.interrupted != nullptr && *context_.interrupted; }
  void tell(const std::string& phase) const {
    if (context_.on_phase) context_.on_phase(phase);
  }

  struct PhaseStart {
    process::Stopwatch watch;
    db::GuestDiskRecord disk;
  };
  Step<PhaseStart> begin_phase(const std::string& label, bool measured);
  /// `measure` has what the guest told; all else is taken here.
  Step<void> end_phase(const PhaseStart& start, db::MeasureRecord measure,
                       std::vector<db::MetricRecord> metrics);
  Step<db::GuestDiskRecord> settle();
  Step<db::GuestDiskRecord> disk_counters();
  Step<double> wait_until_quiet();

  const BenchTrialPlan& plan_;
  const Cell& cell_;
  const BenchTrialContext& context_;
  const Bench& bench_;
  db::TrialRecord record_;
  std::unique_ptr<device::ServedDevice> device_;
  std::unique_ptr<vm::Guest> guest_;
  std::optional<lab::GuestSession> session_;
  std::optional<campaign::PhaseClock> setup_;
  std::optional<Error> unusable_;
  std::int64_t last_id_ = kFirstOwnId;
  bool settled_ = false;  ///< nothing of the last phase is left to write, or none is to be waited for
};

Result<db::TrialRecord> BenchTrial::run() {
  const process::Stopwatch watch;
  describe();
  if (const auto started = start_device(); !started) return pass_on(started);
  const HostLoad before = host_load();
  const Step<void> worked = work();
  record_.host_busy = used_by_others(before, host_load());
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
  record_.workload = cell_.workload->name;
  record_.parameters = parameters_text(*cell_.workload);
  record_.scale = cell_.workload->scale;
  record_.repetition = plan_.repetition;
  record_.seed = static_cast<std::int64_t>(plan_.seed);
  record_.clock = bench_.clock;
  record_.expected = "any";
  record_.started_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

Result<void> BenchTrial::start_device() {
  auto started = campaign::start_trial_machine({.disk = {.profile = cell_.device->profile,
                                                         .size_bytes = cell_.device->size_bytes,
                                                         .write_cache = cell_.device->write_cache,
                                                         .clock = bench_.setup_clock,
                                                         .seed = plan_.seed},
                                                .log_profile = {}},
                                               *cell_.filesystem, context_.scratch);
  if (!started) return pass_on(started);
  device_ = std::move(*started);
  setup_.emplace(device_->control(), record_.phases);
  return {};
}

Step<void> BenchTrial::work() {
  using Part = Step<void> (BenchTrial::*)();
  for (const Part part : {&BenchTrial::start_guest, &BenchTrial::format_and_mount, &BenchTrial::run_phases}) {
    if (const auto done = (this->*part)(); !done) return done;
    if (interrupted()) return tl::unexpected(std::string("interrupted"));
  }
  if (const auto oops = guest_->oops()) return tl::unexpected("oops: the guest's kernel reported: " + *oops);
  return {};
}

/// Restores a guest and makes sure that it sees this server's disk and no cached page of another one.
Step<void> BenchTrial::start_guest() {
  tell("restore");
  if (const auto began = step(setup_->begin("restore")); !began) return began;
  auto started =
      vm::Guest::start({.image = context_.image,
                        .accelerator = context_.accelerator,
                        .memory_mib = static_cast<std::uint32_t>(bench_.memory_mib),
                        .disks = campaign::disks_of(*device_, cell_.device->size_bytes, *cell_.filesystem)},
                       context_.cache, context_.scratch);
  if (!started) {
    unusable_ = started.error();
    return tl::unexpected(started.error().message());
  }
  guest_ = std::move(*started);
  session_.emplace(*guest_, std::chrono::seconds(bench_.step_timeout_s));
  if (const auto set = step(session_->set_clock(lab::seed_digits(plan_.seed))); !set) return set;
  const auto stats = control({{"stats", "read"}});
  if (!stats) return tl::unexpected(stats.error());
  const auto seen = step(session_->verify_disks({.bytes = cell_.device->size_bytes,
                                                 .nonce = stats->value("instance", "-"),
                                                 .log_bytes = cell_.filesystem->log_size_bytes}));
  return seen ? step(setup_->end()) : seen;
}

Step<void> BenchTrial::format_and_mount() {
  const adapters::LinuxAdapter& filesystem = *cell_.filesystem;
  tell("mkfs");
  if (const auto began = step(setup_->begin("mkfs")); !began) return began;
  const auto made = session_->exec(lab::in_guest(filesystem.mkfs.argv, lab::uuid_from(plan_.seed)));
  if (!made)
    return tl::unexpected(
        fmt::format("{}; {}", reason(made.error()), adapters::missing_tool_remedy(filesystem)));
  if (!filesystem.mkfs.good(made->exit_code))
    return tl::unexpected(fmt::format("mkfs failed with exit code {}: {}", made->exit_code, made->output));
  if (const auto ended = step(setup_->end(made->exit_code)); !ended) return ended;

  if (const auto began = step(setup_->begin("mount")); !began) return began;
  std::string why;
  const auto mounted = step(session_->mount(filesystem, &why));
  if (!mounted) return tl::unexpected(mounted.error());
  if (!*mounted) return tl::unexpected("the fresh file system could not be mounted: " + why);
  return step(setup_->end(0));
}

/// As GuestSession::call, but an interruption ends it, and it gets `grace` more than the agent itself.
Step<json> BenchTrial::call(json request) {
  const std::string what = request.value("do", "?");
  const std::int64_t id = ++last_id_;
  request["id"] = id;
  if (const auto sent = step(guest_->send(request)); !sent) return tl::unexpected(sent.error());
  const auto deadline = steady_clock::now() + std::chrono::seconds(bench_.step_timeout_s) +
                        (what == "exec" ? kGrace : std::chrono::seconds(0));
  while (true) {
    const auto message = guest_->receive(kLook);
    // An answer without an id is to a request that could not be read: it can only be this one.
    const bool ours = message && message->contains("ok") && message->contains("id") &&
                      ((*message)["id"] == id || (*message)["id"].is_null());
    if (ours) {
      if (message->value("ok", false)) return *message;
      return tl::unexpected(fmt::format("the agent refused \"{}\": {}", what, message->value("error", "")));
    }
    if (interrupted()) return tl::unexpected(std::string("interrupted"));
    if (const auto oops = guest_->oops())
      return tl::unexpected("oops: the guest's kernel reported: " + *oops);
    if (!guest_->alive()) return tl::unexpected(fmt::format("oops: the guest died in \"{}\"", what));
    if (steady_clock::now() > deadline)
      return tl::unexpected(fmt::format("hang: \"{}\" did not end within {} s", what, bench_.step_timeout_s));
  }
}

Step<json> BenchTrial::exec(const std::vector<std::string>& argv) {
  auto answer = call({{"do", "exec"},
                      {"argv", argv},
                      {"timeout_ms", milliseconds(std::chrono::seconds(bench_.step_timeout_s)).count()}});
  if (!answer) return answer;
  if (answer->value("timed_out", false))
    return tl::unexpected(fmt::format("hang: {} did not end within {} s", argv.at(0), bench_.step_timeout_s));
  if (answer->value("exit", -1) != 0)
    return tl::unexpected(fmt::format("{} failed with exit code {}: {}{}", argv.at(0),
                                      answer->value("exit", -1), answer->value("stderr", ""),
                                      answer->value("stdout", "")));
  return answer;
}

// ---- a phase

/// Everything is on the disk afterwards, as far as the guest is concerned.
Step<db::GuestDiskRecord> BenchTrial::settle() {
  const auto answer = call({{"do", "settle"}, {"device", kGuestDisk}});
  if (!answer) return tl::unexpected(answer.error());
  return step(disk_from_answer(answer->value("disk", json::object())));
}

Step<db::GuestDiskRecord> BenchTrial::disk_counters() {
  const auto answer = exec({"busybox", "cat", kDiskStatistics});
  if (!answer) return tl::unexpected(answer.error());
  return step(disk_from_text(answer->value("stdout", "")));
}

/// Until no device has anything left to do; the instant, in model time.
Step<double> BenchTrial::wait_until_quiet() {
  const auto deadline = steady_clock::now() + std::chrono::seconds(bench_.step_timeout_s);
  while (true) {
    const auto stats = control({{"stats", "read"}});
    if (!stats) return tl::unexpected(stats.error());
    const auto quiet = stats->find("quiet_since_ns");
    if (quiet != stats->end() && quiet->is_number()) return quiet->get<double>();
    if (interrupted()) return tl::unexpected(std::string("interrupted"));
    if (steady_clock::now() > deadline)
      return tl::unexpected(
          fmt::format("hang: the device still had something to write after {} s", bench_.step_timeout_s));
    std::this_thread::sleep_for(kQuietPoll);
  }
}

Step<BenchTrial::PhaseStart> BenchTrial::begin_phase(const std::string& label, bool measured) {
  tell(label);
  const auto set = control({{"clock", measured ? bench_.clock : bench_.setup_clock}});
  if (!set) return tl::unexpected(set.error());
  if (measured && !settled_) {
    if (const auto done = settle(); !done) return tl::unexpected(done.error());
    if (const auto quiet = wait_until_quiet(); !quiet) return tl::unexpected(quiet.error());
  }
  // Right before the device's own: what file systems do in the background falls between the two counts.
  const auto disk = disk_counters();
  if (!disk) return tl::unexpected(disk.error());
  if (const auto taken = control({{"stats", "take"}}); !taken) return tl::unexpected(taken.error());
  return PhaseStart{.watch = {}, .disk = *disk};
}

Step<void> BenchTrial::end_phase(const PhaseStart& start, db::MeasureRecord measure,
                                 std::vector<db::MetricRecord> metrics) {
  const auto at_end = control({{"stats", "read"}});
  if (!at_end) return tl::unexpected(at_end.error());
  const auto busy_ms = step(busiest_ms(*at_end));
  if (!busy_ms) return tl::unexpected(busy_ms.error());
  measure.device_busy_ms = std::min(*busy_ms, measure.elapsed_ms);

  const bool wait = measure.measured && bench_.quiescence;
  const auto disk = wait ? settle() : disk_counters();
  if (!disk) return tl::unexpected(disk.error());
  measure.guest = difference(*disk, start.disk);
  if (wait) {
    const auto quiet_ns = wait_until_quiet();
    if (!quiet_ns) return tl::unexpected(quiet_ns.error());
    const double after_ms = (*quiet_ns - at_end->value("model_ns", 0.0)) / kNsPerMs;
    measure.quiescent_ms = measure.elapsed_ms + std::max(after_ms, 0.0);
  }
  settled_ = measure.measured;

  const auto stats = control({{"stats", "take"}});
  if (!stats) return tl::unexpected(stats.error());
  auto phase = step(campaign::phase_from_stats(*stats));
  if (!phase) return tl::unexpected(phase.error());
  phase->name = "workload";
  phase->wall_ms = start.watch.ms();
  for (db::MetricRecord& each : device_metrics(*stats)) metrics.push_back(std::move(each));
  phase->measure = std::move(measure);
  phase->metrics = std::move(metrics);
  record_.phases.push_back(std::move(*phase));
  return {};
}

Step<void> BenchTrial::run_phases() {
  if (cell_.workload->tool) return run_tool();
  const std::vector<timed::Phase> phases = cell_.workload->timed->phases(cell_.workload->arguments);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (const auto done = run_phase(i, phases[i]); !done) return done;
  }
  return {};
}

Step<void> BenchTrial::run_phase(std::size_t index, const timed::Phase& phase) {
  const auto start = begin_phase(phase.name, phase.measured);
  if (!start) return tl::unexpected(start.error());
  const auto answer = call({{"do", "timed"},
                            {"workload", cell_.workload->name},
                            {"arguments", cell_.workload->arguments},
                            {"seed", std::to_string(plan_.seed)},
                            {"root", lab::kMountPoint},
                            {"phase", index}});
  if (!answer) return tl::unexpected(fmt::format("{}: {}", phase.name, answer.error()));
  if (answer->contains("mishap")) {
    const int error = answer->value("errno", 0);
    return tl::unexpected(fmt::format("{}: {}: {}", phase.name, answer->value("mishap", ""),
                                      error == 0 ? "wrong data" : std::strerror(error)));
  }
  std::vector<db::MetricRecord> metrics;
  const double slower = phase.measured ? slowdown(bench_.clock) : slowdown(bench_.setup_clock);
  auto measure = step(measure_from_answer(*answer, slower, metrics));
  if (!measure) return tl::unexpected(measure.error());
  measure->label = phase.name;
  measure->measured = phase.measured;
  return end_phase(*start, std::move(*measure), std::move(metrics));
}

// ---- a tool

/// The tool's own words stand behind its exit code when it fails.
Step<void> BenchTrial::run_tool() {
  const ToolJob& job = *cell_.workload->tool;
  const ToolCommand command = tool_command(job, lab::kMountPoint);
  if (!command.job_path.empty()) {
    std::string text = job.job;
    for (std::size_t at = text.find("{root}"); at != std::string::npos; at = text.find("{root}", at))
      text.replace(at, std::strlen("{root}"), lab::kMountPoint);
    if (const auto put = call({{"do", "put"}, {"path", command.job_path}, {"text", text}}); !put)
      return tl::unexpected(put.error());
  }
  const auto start = begin_phase("run", true);
  if (!start) return tl::unexpected(start.error());
  const auto cpu_before = cpu_times();
  if (!cpu_before) return tl::unexpected(cpu_before.error());
  const auto ran = exec(command.argv);
  if (!ran) return tl::unexpected(ran.error());
  const auto cpu_after = cpu_times();
  if (!cpu_after) return tl::unexpected(cpu_after.error());
  const auto text = command.report_path.empty() ? Step<std::string>(ran->value("stdout", ""))
                                                : read_guest_file(command.report_path);
  if (!text) return tl::unexpected(text.error());
  auto report = step(parse_report(job, *text));
  if (!report) return tl::unexpected(report.error());
  db::MeasureRecord measure{.label = "run",
                            .elapsed_ms = ran->value("wall_ms", 0.0) / slowdown(bench_.clock),
                            .user_ms = cpu_after->user_ms - cpu_before->user_ms,
                            .system_ms = cpu_after->system_ms - cpu_before->system_ms,
                            .operation = report->operation,
                            .operations = report->operations,
                            .app_bytes_read = report->bytes_read,
                            .app_bytes_written = report->bytes_written};
  return end_phase(*start, std::move(measure), std::move(report->metrics));
}

Step<CpuTimes> BenchTrial::cpu_times() {
  const auto answer = exec({"busybox", "cat", "/proc/stat"});
  if (!answer) return tl::unexpected(answer.error());
  return step(cpu_from_text(answer->value("stdout", "")));
}

/// In pieces: the agent keeps the end only of what a command writes.
Step<std::string> BenchTrial::read_guest_file(const std::string& path) {
  std::string text;
  for (std::size_t piece = 0; text.size() < kReportMost; ++piece) {
    const auto answer = exec({"busybox", "dd", "if=" + path, fmt::format("bs={}", kReportPiece), "count=1",
                              fmt::format("skip={}", piece)});
    if (!answer) return tl::unexpected(answer.error());
    const std::string more = answer->value("stdout", "");
    text += more;
    if (more.size() < kReportPiece) return text;
  }
  return tl::unexpected(fmt::format("{} is longer than {} MiB", path, kReportMost >> 20));
}

// ---- the end

void BenchTrial::conclude(const Step<void>& worked) {
  record_.verdict = worked ? kMeasured : kFailed;
  if (!worked) record_.summary = worked.error();
  std::vector<db::PhaseRecord> measured;
  for (db::PhaseRecord& phase : record_.phases) {
    if (!phase.measure || !phase.measure->measured) continue;
    const db::MeasureRecord& measure = *phase.measure;
    if (worked)
      record_.summary += fmt::format("{}{} {:.2f} s", record_.summary.empty() ? "" : ", ", measure.label,
                                     measure.quiescent_ms.value_or(measure.elapsed_ms) / 1000);
    record_.operations += measure.operations;
    measured.push_back(phase);
  }
  record_.late = campaign::came_late(measured);
  if (worked) return;
  record_.operations = 0;
  for (db::PhaseRecord& phase : record_.phases) {  // what led to a failure is no measurement
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
  record_.artefacts.push_back({"console", std::filesystem::relative(path, context_.database_folder, error),
                               static_cast<std::int64_t>(bytes)});
}

}  // namespace

Result<db::TrialRecord> run_bench_trial(const BenchTrialPlan& plan, const BenchTrialContext& context) {
  return BenchTrial(plan, context).run();
}

}  // namespace headcrash::bench
