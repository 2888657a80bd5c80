// headcrash simulate: replays a trace on emulated hardware in virtual time, and reports each
// request.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

#include "harness/cli/command.h"
#include "harness/cli/host_usage.h"
#include "plugin/base/size.h"
#include "plugin/model/core/null_observer.h"
#include "plugin/profiles/build.h"
#include "plugin/replay/csv.h"
#include "plugin/replay/random_requests.h"
#include "plugin/replay/replay.h"
#include "plugin/replay/trace_file.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct SimulateArguments {
  std::string profile, machine, size, trace, format, random, csv;
  profiles::DeviceOptions options;
  std::vector<std::string> faults;
  std::uint64_t seed = 1;
  std::uint32_t queue = 0;
  bool in_memory = false, as_json = false;
};

struct Outcome {
  replay::ReplayTotals totals;
  std::optional<double> parse_seconds;
  /// CPU time of the replay. With --in-memory, excludes the time for reading the trace.
  double cpu_seconds = 0;
  std::vector<std::string> warnings;
};

// ---- inputs

Result<profiles::MachineFile> machine_of(const SimulateArguments& arguments) {
  profiles::MachineFile machine;
  if (!arguments.machine.empty()) {
    auto file = profiles::load_machine_file(arguments.machine);
    if (!file) return file;
    machine = *std::move(file);
  } else {
    TRY(auto stack, profiles::load_stack(arguments.profile));
    profiles::MachineDevice device{"hd0", std::move(stack), {}, arguments.options};
    if (!arguments.size.empty()) {
      TRY(const auto size, base::parse_size(arguments.size, "--size"));
      device.size_bytes = size;
    }
    machine.devices.push_back(std::move(device));
  }
  for (const std::string& text : arguments.faults) {
    const Result<model::FaultSpec> fault = model::parse_fault(text);
    if (!fault) return fail("--fault " + text, fault.error().problem, fault.error().hint);
    machine.faults.push_back(*fault);
  }
  return machine;
}

Result<std::unique_ptr<replay::RequestSource>> source_of(const SimulateArguments& arguments,
                                                         std::uint64_t sectors) {
  if (!arguments.random.empty()) {
    TRY(const auto spec, replay::parse_random(arguments.random));
    if (spec.blocks > sectors)
      return fail("--random size", "is larger than the device", "reduce the size");
    return std::make_unique<replay::RandomRequests>(spec, sectors);
  }
  TRY(auto file,
      replay::TraceFile::open(arguments.trace, replay::trace_format_named(arguments.format)));
  return std::unique_ptr<replay::RequestSource>(std::move(file));
}

// ---- progress

/// On a terminal, shows progress twice a second. Stops the replay when the program is interrupted.
class Progress {
 public:
  explicit Progress(const replay::CsvWriter* csv)
      : csv_(csv), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool operator()(std::uint64_t done) {
    if (terminal_ && steady_clock::now() - last_ > std::chrono::milliseconds(500)) {
      last_ = steady_clock::now();
      shown_ = true;
      fmt::print(stderr, "\r{} requests", done);
      std::fflush(stderr);
    }
    return !interrupted() && (csv_ == nullptr || !csv_->failed());
  }

 private:
  const replay::CsvWriter* csv_;
  bool terminal_, shown_ = false;
  steady_clock::time_point last_ = steady_clock::now();
};

/// Returns the CPU time of this process. Unlike wall time, it does not depend on other programs.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) / static_cast<double>(model::kSecondNs);
}

// ---- results

double ms(double ns) {
  return ns / model::kNsPerMs;
}

json times_of(const replay::ResponseTimes& times) {
  return {{"mean_ms", ms(times.mean_ns())},
          {"p50_ms", ms(times.quantile_ns(0.5))},
          {"p99_ms", ms(times.quantile_ns(0.99))},
          {"max_ms", ms(static_cast<double>(times.max_ns()))}};
}

json devices_of(const profiles::Plan& plan, const profiles::BuiltMachine& built,
                model::TimeNs end_ns) {
  json rows = json::array();
  for (std::size_t i = 0; i < plan.all.size(); ++i) {
    const model::DeviceCounters c = built.all[i].device->counters();
    const double busy =
        end_ns == 0 ? 0 : static_cast<double>(c.busy_ns) / static_cast<double>(end_ns);
    rows.push_back({{"name", plan.all[i].name},
                    {"profile", plan.all[i].profile},
                    {"reads", c.reads},
                    {"writes", c.writes},
                    {"sectors_read", c.sectors_read},
                    {"sectors_written", c.sectors_written},
                    {"cache_hits", c.cache_hits},
                    {"utilisation", std::min(1.0, busy)}});
  }
  return rows;
}

json comparison_of(const replay::Comparison& c) {
  const auto count = static_cast<double>(c.measured.count());
  return {{"requests", c.measured.count()},
          {"measured_mean_ms", ms(c.measured.mean_ns())},
          {"modelled_mean_ms", ms(c.modelled.mean_ns())},
          {"demerit_percent", 100 * c.demerit()},
          {"mean_error_ms", ms(c.error_sum_ns / count)},
          {"within_1ms_percent", 100 * static_cast<double>(c.within_1ms) / count}};
}

json report_of(const Outcome& outcome, const profiles::Plan& plan,
               const profiles::BuiltMachine& built) {
  const replay::ReplayTotals& t = outcome.totals;
  json report = {
      {"requests", t.requests},
      {"reads", t.reads},
      {"writes", t.writes},
      {"hits", t.hits},
      {"failed", t.failed},
      {"model_seconds", static_cast<double>(t.end_ns) / static_cast<double>(model::kSecondNs)},
      {"response", times_of(t.responses)},
      {"devices", devices_of(plan, built, t.end_ns)},
      {"cpu_seconds", outcome.cpu_seconds},
      {"memory_kib", peak_memory_bytes() >> 10U}};
  if (outcome.parse_seconds) report["parse_seconds"] = *outcome.parse_seconds;
  if (!outcome.warnings.empty()) report["warnings"] = outcome.warnings;
  if (t.comparison.measured.count() > 0) report["measured"] = comparison_of(t.comparison);
  return report;
}

void print_text(const json& r) {
  fmt::print("{} requests ({} reads, {} writes) in {:.3f} s of model time\n",
             r["requests"].get<std::uint64_t>(), r["reads"].get<std::uint64_t>(),
             r["writes"].get<std::uint64_t>(), r["model_seconds"].get<double>());
  const json& t = r["response"];
  fmt::print("response ms: mean {:.3f}  p50 {:.3f}  p99 {:.3f}  max {:.3f}\n",
             t["mean_ms"].get<double>(), t["p50_ms"].get<double>(), t["p99_ms"].get<double>(),
             t["max_ms"].get<double>());
  fmt::print("hits {}  failed {}\n", r["hits"].get<std::uint64_t>(),
             r["failed"].get<std::uint64_t>());
  if (r.contains("measured")) {
    const json& m = r["measured"];
    fmt::print(
        "compared with {} measured requests: demerit {:.2f} %  mean error {:+.3f} ms  within 1 ms "
        "{:.1f} %\n",
        m["requests"].get<std::uint64_t>(), m["demerit_percent"].get<double>(),
        m["mean_error_ms"].get<double>(), m["within_1ms_percent"].get<double>());
  }
  fmt::print("\n{:<24} {:<20} {:>10} {:>10} {:>10} {:>6}\n", "device", "profile", "reads", "writes",
             "hits", "busy");
  for (const json& d : r["devices"]) {
    fmt::print("{:<24} {:<20} {:>10} {:>10} {:>10} {:>5.1f}%\n", d["name"].get<std::string>(),
               d["profile"].get<std::string>(), d["reads"].get<std::uint64_t>(),
               d["writes"].get<std::uint64_t>(), d["cache_hits"].get<std::uint64_t>(),
               100 * d["utilisation"].get<double>());
  }
}

// ---- the run

Result<Outcome> run(const SimulateArguments& arguments, profiles::BuiltMachine& built) {
  TRY(auto source, source_of(arguments, built.machine->device(0).characteristics().sectors));
  Outcome outcome;
  std::optional<replay::RequestsInMemory> all;
  if (arguments.in_memory) {
    const double begin = cpu_seconds();
    TRY(auto read, replay::RequestsInMemory::of(*source));
    outcome.parse_seconds = cpu_seconds() - begin;
    all = std::move(read);
  }
  std::unique_ptr<replay::CsvWriter> csv;
  if (!arguments.csv.empty()) {
    TRY(auto made, replay::CsvWriter::create(arguments.csv));
    csv = std::move(made);
  }
  replay::ReplayOptions options;
  options.device_depth = arguments.queue;
  options.observer = csv.get();
  Progress progress(csv.get());
  options.go_on = [&progress](std::uint64_t done) { return progress(done); };
  const double begin = cpu_seconds();
  auto totals = replay::replay(*built.machine, all ? *all : *source, options);
  outcome.cpu_seconds = cpu_seconds() - begin;
  if (!totals) return forward_error(totals);
  if (csv) {
    TRY(csv->close());
  }
  outcome.totals = *std::move(totals);
  outcome.warnings = source->remarks();
  if (outcome.totals.requests == 0)
    outcome.warnings.push_back(arguments.trace +
                               ": contains no requests to replay; check the file and --format");
  return outcome;
}

int simulate(const SimulateArguments& arguments) {
  if (arguments.trace.empty() == arguments.random.empty()) {
    return report_error(
        {"simulate", "needs either --trace or --random", "add --trace FILE or --random OPTIONS"},
        arguments.as_json);
  }
  if (arguments.profile.empty() == arguments.machine.empty()) {
    return report_error({"simulate", "needs either --profile or --machine",
                         "choose a device: headcrash list profiles"},
                        arguments.as_json);
  }
  if (!arguments.machine.empty() &&
      !(arguments.size.empty() && profiles::toml_of(arguments.options).empty())) {
    return report_error({"--machine", "cannot be combined with --size or --write-cache",
                         "set these options in the machine file, for each device"},
                        arguments.as_json);
  }
  if (arguments.csv == "-" && arguments.as_json) {
    return report_error(
        {"--csv -", "cannot be combined with --json, which also writes to standard output",
         "write the CSV to a file"},
        true);
  }
  catch_interrupts();
  auto machine = machine_of(arguments);
  if (!machine) return report_error(machine.error(), arguments.as_json);
  const auto plan = profiles::plan(std::move(machine->devices));
  if (!plan) return report_error(plan.error(), arguments.as_json);
  model::NullObserver nobody;
  auto built = profiles::build(*plan, nobody, {.seed = arguments.seed});
  if (!built) return report_error(built.error(), arguments.as_json);
  for (const model::FaultSpec& fault : machine->faults) {
    if (const auto added = built->add_fault(*plan, fault); !added)
      return report_error(added.error(), arguments.as_json);
  }
  const Result<Outcome> outcome = run(arguments, *built);
  if (!outcome) return report_error(outcome.error(), arguments.as_json);
  const json report = report_of(*outcome, *plan, *built);
  if (arguments.as_json) {
    print(report);
  } else if (arguments.csv != "-") {
    print_text(report);
  }
  for (const std::string& warning : outcome->warnings)
    fmt::print(stderr, "headcrash: {}\n", warning);
  if (!interrupted()) return kFine;
  fmt::print(stderr, "headcrash: interrupted; the numbers cover the requests so far\n");
  return kInterrupted;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const replay::TraceFormatRow& row : replay::trace_formats()) names.emplace_back(row.name);
  return names;
}

/// Returns one line for each trace format, for the help text.
std::string format_help() {
  std::string text = "Format of the trace; default: detected from its name or first lines:";
  for (const replay::TraceFormatRow& row : replay::trace_formats()) {
    text += fmt::format("\n  {:<9} {}", row.name, row.fields);
    if (row.recognises == nullptr && row.format > replay::TraceFormat::closed)
      text += " (cannot be detected; give --format)";
  }
  return text;
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "simulate", "Replays a trace on emulated hardware in virtual time, request by request");
  const auto a = std::make_shared<SimulateArguments>();
  command->add_option("--profile", a->profile,
                      "Device: a built-in name (headcrash list profiles) or a .toml file");
  command->add_option("--machine", a->machine,
                      "Instead of --profile: a .toml file with several devices");
  command->add_option("--size", a->size, "Size, for example 1G; default: the whole device");
  for (const profiles::DeviceOption& row : profiles::device_options(profiles::PowerCuts::never))
    add_row(*command, row, [a, row](const std::string& value) {
      return row.set(a->options, value, "--" + std::string(row.name));
    });
  command->add_option("--trace", a->trace,
                      "File with one request per line, '-' for standard input");
  accept_only(command->add_option("--format", a->format, format_help()), format_names());
  command->add_option(
      "--random", a->random,
      "Instead of a trace: count=N[,size=4K][,reads=0..1][,sequential=0..1][,seed=N]\n"
      "[,depth=N in a closed loop | ,rate=arrivals per second]");
  command->add_option("--queue", a->queue,
                      "Maximum number of requests sent to the device at a time; default: all");
  command->add_option("--fault", a->faults,
                      "Fault as KIND:DEVICE[,...]; the plugin's man page describes the kinds; may "
                      "be repeated");
  command->add_option("--csv", a->csv,
                      "Write a line for each request to this file, '-' for standard output");
  command->add_option("--seed", a->seed, "Seed of the spindle angles and of random faults")
      ->capture_default_str();
  command->add_flag("--in-memory", a->in_memory,
                    "Read the whole trace before the run, so that only the model is timed");
  command->add_flag("--json", a->as_json, "Machine-readable output");
  command->footer(
      "Examples:\n  headcrash simulate --profile hp-c2447 --trace day.trace --csv out.csv\n"
      "  headcrash simulate --profile hp-c2447 --trace measured.closed\n"
      "  headcrash simulate --profile raid5-5 --random reads=0.67,count=100000,size=4K,depth=8");
  command->callback([a, &exit_code] { exit_code = simulate(*a); });
}

}  // namespace headcrash::cli
