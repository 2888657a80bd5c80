// Dispatches requests to commands and executes the commands (commands.h).
#include "harness/guest/commands.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "harness/guest/block_trace.h"
#include "harness/guest/dump.h"
#include "harness/guest/exec.h"
#include "harness/guest/inside.h"
#include "harness/guest/inspect.h"
#include "harness/guest/kernel.h"
#include "harness/guest/kernel_log.h"
#include "harness/guest/persisted_lines.h"
#include "harness/guest/posix_vfs.h"
#include "harness/guest/run.h"
#include "harness/guest/timed_phase.h"
#include "harness/workload/operation.h"
#include "harness/workload/timed/timed_workload.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::guest {
namespace {

using base::Stopwatch;
using nlohmann::json;

constexpr int kProtocolVersion = 3;
constexpr std::int64_t kLongestExecMs = 24LL * 3600 * 1000;
constexpr std::size_t kLinesOfRefusal = 3;

struct Refusal {
  std::string text;
  int error = 0;  // errno; 0 if the reason is not an errno
  bool unknown_type = false;
};
using Answer = tl::expected<json, Refusal>;

tl::unexpected<Refusal> refuse(const std::string& what, Errno error) {
  const std::string why = std::error_code(error.value, std::generic_category()).message();
  return tl::unexpected(Refusal{.text = what + ": " + why, .error = error.value});
}

tl::unexpected<Refusal> refuse_unknown_type(const std::string& what, Errno error) {
  auto refusal = refuse(what, error);
  refusal.value().unknown_type = true;
  return refusal;
}

// If a field is missing or has the wrong type, get() or at() throws nlohmann::json::exception.
// answer_line() converts this exception to a refusal.
std::string text_of(const json& request, const char* field) {
  return request.at(field).get<std::string>();
}

Answer time_read(const json& request, const Sender&) {
  const std::string path = text_of(request, "path");
  const auto took = time_direct_read(path, request.at("offset").get<std::int64_t>());
  if (!took) return refuse(path, took.error());
  return json{{"elapsed_ns", *took}};
}

Answer pause(const json& request, const Sender&) {
  const auto ms = request.at("ms").get<std::int64_t>();
  if (ms < 0 || ms > kLongestExecMs)
    return tl::unexpected(Refusal{.text = "\"ms\" is out of range"});
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return json::object();
}

// Returns an integer, because "wall_ms" in an answer is an integer.
std::int64_t whole_ms(const Stopwatch& watch) {
  return static_cast<std::int64_t>(watch.ms());
}

Answer hello(const json&, const Sender&) {
  utsname name{};
  ::uname(&name);
  json modules = json::array();
  std::ifstream list("/proc/modules");
  for (std::string line; std::getline(list, line);)
    modules.push_back(line.substr(0, line.find(' ')));
  return json{
      {"agent", kProtocolVersion}, {"kernel", name.release}, {"modules", std::move(modules)}};
}

Answer clock(const json& request, const Sender&) {
  const auto seed = parse_seed(text_of(request, "seed"));
  if (!seed) return refuse("seed", seed.error());
  if (const auto set = set_wall_clock(request.at("unix_ns").get<std::int64_t>()); !set) {
    return refuse("clock", set.error());
  }
  if (const auto mixed = seed_random_pool(*seed); !mixed) return refuse("seed", mixed.error());
  return json::object();
}

Answer disk(const json& request, const Sender&) {
  const std::string path = text_of(request, "path");
  restore_ways();
  const auto found = inspect_disk(path);
  if (!found) return refuse(path, found.error());
  return json{{"bytes", found->bytes}, {"nonce", found->nonce}, {"flush", found->flush}};
}

Answer exec(const json& request, const Sender&) {
  const auto timeout_ms = request.at("timeout_ms").get<std::int64_t>();
  Program program = program_of(request.at("argv").get<std::vector<std::string>>());
  program.input = request.value("stdin", "");
  if (program.argv.empty()) return tl::unexpected(Refusal{.text = "\"argv\" must not be empty"});
  if (timeout_ms <= 0 || timeout_ms > kLongestExecMs)
    return tl::unexpected(Refusal{.text = "\"timeout_ms\" is out of range"});
  restore_ways();
  program.timeout = std::chrono::milliseconds(timeout_ms);
  const auto end = run_program(program);
  if (!end) return refuse(program.argv[0], end.error());
  return json{{"exit", end->exit},
              {"timed_out", end->timed_out},
              {"stdout", end->output},
              {"stderr", end->errors},
              {"wall_ms", end->wall_ms}};
}

/// Stores a file in the guest, for later use by `exec` and `run-application`.
Answer put(const json& request, const Sender&) {
  const std::filesystem::path path = text_of(request, "path");
  const auto text = text_of(request, "text");
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return refuse(path.parent_path(), Errno{.value = error.value()});
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return refuse(path, Errno{.value = errno});
  file << text;
  file.close();
  if (!file) return refuse(path, Errno{.value = EIO});
  return json::object();
}

/// Like `exec`, but runs several commands in sequence. When a command promises that its data is
/// durable, writes a mark to the mark disk and sends the event `persisted`.
Answer run_application(const json& request, const Sender& send) {
  const auto timeout_ms = request.at("timeout_ms").get<std::int64_t>();
  const auto argvs = request.at("commands").get<std::vector<std::vector<std::string>>>();
  const bool each_persists = request.value("each_command_persists", false);
  const std::string mark_path = text_of(request, "mark");
  if (timeout_ms <= 0 || timeout_ms > kLongestExecMs)
    return tl::unexpected(Refusal{.text = "\"timeout_ms\" is out of range"});
  MarkDisk mark;
  if (!mark_path.empty()) {
    if (const auto opened = mark.open(mark_path); !opened) return refuse(mark_path, opened.error());
  }
  int mark_error = 0;
  const auto tell = [&](const std::string& text) {
    if (!mark_path.empty()) {
      if (const auto marked = mark.write("persisted " + text); !marked)
        mark_error = marked.error().value;
    }
    if (mark_error == 0) send({{"event", "persisted"}, {"text", text}});
    return mark_error == 0;
  };
  const Stopwatch watch;
  json answer{{"exit", 0}, {"timed_out", false}, {"stdout", ""}, {"stderr", ""}, {"refused", 0}};
  std::size_t done = 0;
  for (; done < argvs.size(); ++done) {
    PersistedLines lines(request.value("every_line_persists", false));
    const auto on_output = [&](std::string_view bytes) {
      const auto texts = lines.feed(bytes);
      return std::all_of(texts.begin(), texts.end(), tell);
    };
    const std::chrono::milliseconds left(timeout_ms - whole_ms(watch));
    if (argvs[done].empty()) return tl::unexpected(Refusal{.text = "\"argv\" must not be empty"});
    Program program = program_of(argvs[done]);
    program.timeout = std::max(left, std::chrono::milliseconds(1));
    program.on_output = on_output;
    const auto end = run_program(program);
    if (!end) return refuse(argvs[done][0], end.error());
    answer["exit"] = end->exit;
    answer["timed_out"] = end->timed_out;
    answer["stdout"] = end->output;
    answer["stderr"] = end->errors;
    answer["refused"] = answer["refused"].get<std::size_t>() + lines.refused();
    if (mark_error == 0 && end->exit == 0 && each_persists) tell(fmt::format("command {}", done));
    if (mark_error != 0) return refuse(mark_path, Errno{.value = mark_error});
    if (end->exit != 0) break;
  }
  answer["done"] = done;
  answer["wall_ms"] = whole_ms(watch);
  return answer;
}

Answer mount(const json& request, const Sender&) {
  const std::string source = text_of(request, "source");
  const Stopwatch watch;
  restore_ways();
  KernelLog said;  // has its own position, so that kernel_log() still returns these records later
  const auto done = mount_file_system(source, text_of(request, "target"), text_of(request, "type"),
                                      request.value("options", ""));
  const std::string type = text_of(request, "type");
  if (!done && done.error().value == ENODEV && !kernel_knows(type))
    return refuse_unknown_type(kUnknownType + type, done.error());
  if (!done) {
    auto refusal = refuse("mount " + source, done.error());
    if (const std::string words = last_lines(said.take(), kLinesOfRefusal); !words.empty())
      refusal.value().text += "; the kernel: " + words;
    return refusal;
  }
  return json{{"wall_ms", whole_ms(watch)}};
}

Answer unmount(const json& request, const Sender&) {
  const std::string target = text_of(request, "target");
  const Stopwatch watch;
  const auto done = unmount_file_system(target);
  if (!done) return refuse("unmount " + target, done.error());
  return json{{"wall_ms", whole_ms(watch)}};
}

using Operations = std::vector<workload::Operation>;

tl::expected<Operations, Refusal> parse_operations(const json& lines) {
  Operations operations;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto operation =
        workload::parse_operation(lines[i].get<std::string>(), fmt::format("operation {}", i));
    if (!operation) return tl::unexpected(Refusal{.text = operation.error().message()});
    operations.push_back(std::move(*operation));
  }
  return operations;
}

std::string_view event_of(workload::Outcome outcome) {
  switch (outcome) {
    case workload::Outcome::skipped:
      return "skipped";
    case workload::Outcome::partial:
      return "partial";
    case workload::Outcome::failed:
      break;
  }
  return "failed";
}

// Executes operations. Writes a mark to the disk before reporting a persistence point, so that a
// recording contains every point of which the harness has been notified.
Answer run(const json& request, const Sender& send) {
  TRY(const auto operations, parse_operations(request.at("operations")));
  const std::string mark_path = text_of(request, "mark");
  MarkDisk mark;
  if (!mark_path.empty()) {
    if (const auto opened = mark.open(mark_path); !opened) return refuse(mark_path, opened.error());
  }
  PosixVfs vfs(text_of(request, "root"));
  const Stopwatch watch;
  const RunReports reports{
      .persisted = [&](std::size_t operation) -> VfsResult<void> {
        if (!mark_path.empty()) {
          TRY(mark.write(workload::persisted_mark(operation)));
        }
        send({{"event", "persisted"}, {"operation", operation}});
        return {};
      },
      .failed =
          [&](std::size_t operation, workload::Outcome outcome, int error) {
            send({{"event", event_of(outcome)}, {"operation", operation}, {"errno", error}});
          }};
  const RunEnd end =
      run_operations(operations, vfs, reports,
                     {.skipped_before = request.value("skipped_before", false),
                      .continue_after_failure = request.value("continue_after_failure", false)});
  if (end.report_error != 0) return refuse(mark_path, Errno{.value = end.report_error});
  return json{{"done", end.done}, {"wall_ms", whole_ms(watch)}};
}

Answer dump(const json& request, const Sender& send) {
  const std::string root = text_of(request, "root");
  PosixVfs vfs(root);
  const auto entries = dump_tree(vfs, send);
  if (!entries) return refuse(root, entries.error());
  return json{{"entries", *entries}};
}

// Returns the reader of the kernel's log. All requests share one reader, which keeps its position
// in the log.
KernelLog& kernel_log() {
  static KernelLog log;
  return log;
}

Answer log(const json&, const Sender&) {
  return json{{"text", kernel_log().take()}};
}

Answer start_trace(const json& request, const Sender&) {
  const auto started = start_block_trace(request.at("buffer_kib").get<std::size_t>());
  if (!started) return refuse(kTraceFolder, started.error());
  return json::object();
}

Answer stop_trace(const json&, const Sender& send) {
  const auto stopped = stop_block_trace(
      [&](std::string_view piece) { send({{"event", "trace"}, {"text", piece}}); });
  if (!stopped) return refuse(kTraceFolder, stopped.error());
  json devices = json::object();
  for (const BlockDeviceNumber& device : block_device_numbers())
    devices[device.name] = device.number;
  return json{{"devices", std::move(devices)}};
}

Answer inspect_disk(const json& request, const Sender& send) {
  auto seen = inspect(request, send);
  if (!seen && seen.error().unknown_type)
    return refuse_unknown_type(seen.error().what, seen.error().error);
  if (!seen) return refuse(seen.error().what, seen.error().error);
  (*seen)["log"] = kernel_log().take();
  return std::move(*seen);
}

/// Parses a decimal number from a string. Large numbers are sent as strings, because some tools
/// would truncate the last digits of a JSON number.
tl::expected<std::uint64_t, Refusal> decimal(const std::string& text, const char* field) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  return tl::unexpected(Refusal{.text = fmt::format("{} is not a number from 0 to 2^64-1", field)});
}

json latency_of(const LatencyHistogram& latencies) {
  const LatencySummary summary = latencies.summary();
  if (summary.count == 0) return nullptr;
  return {{"count", summary.count},   {"mean_ns", std::llround(summary.mean_ns)},
          {"p50_ns", summary.p50_ns}, {"p99_ns", summary.p99_ns},
          {"max_ns", summary.max_ns}, {"buckets", summary.buckets}};
}

json layout_of(const timed::Layout& layout) {
  if (layout.files == 0) return nullptr;
  return {{"files", layout.files}, {"blocks", layout.blocks}, {"pieces", layout.pieces}};
}

Answer timed_phase(const json& request, const Sender&) {
  const auto workload = timed::find_timed_workload(text_of(request, "workload"));
  if (!workload) return tl::unexpected(Refusal{.text = workload.error().message()});
  const auto arguments = timed::arguments_of(
      **workload, false, request.at("arguments").get<timed::Arguments>(), "arguments");
  if (!arguments) return tl::unexpected(Refusal{.text = arguments.error().message()});
  TRY(const auto seed, decimal(text_of(request, "seed"), "seed"));
  const auto phases = (*workload)->phases(*arguments);
  const auto number = request.at("phase").get<std::size_t>();
  if (number >= phases.size())
    return tl::unexpected(
        Refusal{.text = fmt::format("{} has only {} phases", (*workload)->name, phases.size())});
  PosixVfs vfs(text_of(request, "root"));
  const auto measured =
      run_timed_phase(phases[number], *arguments, seed, vfs,
                      request.contains("clock-disk") ? text_of(request, "clock-disk") : "");
  if (!measured) return refuse("phase " + phases[number].name, measured.error());
  json answer{{"elapsed_ns", measured->elapsed_ns},
              {"user_ms", measured->user_ms},
              {"system_ms", measured->system_ms},
              {"operation", (*workload)->operation},
              {"operations", measured->tally.operations},
              {"bytes_read", measured->tally.bytes_read},
              {"bytes_written", measured->tally.bytes_written},
              {"latency", latency_of(measured->tally.latencies)},
              {"layout", layout_of(measured->tally.layout)}};
  if (measured->error) {
    answer["error"] = measured->error->what;
    answer["errno"] = measured->error->error;
  }
  return answer;
}

/// Returns the counters of a disk and of the guest's processors since boot.
Answer counters(const json& request, const Sender&) {
  const std::string device = text_of(request, "device");
  const auto disk = disk_counters(device);
  if (!disk) return refuse(device, disk.error());
  const CpuTimes cpu = cpu_times();
  return json{{"disk",
               {{"reads", disk->reads},
                {"read_merges", disk->read_merges},
                {"read_sectors", disk->read_sectors},
                {"writes", disk->writes},
                {"write_merges", disk->write_merges},
                {"write_sectors", disk->write_sectors},
                {"flushes", disk->flushes},
                {"busy_ms", disk->busy_ms}}},
              {"cpu", {{"user_ms", cpu.user_ms}, {"system_ms", cpu.system_ms}}}};
}

/// Waits until all data written so far is on the disk. Then returns the counters and the duration
/// of the sync.
Answer settle(const json& request, const Sender& send) {
  const auto start = std::chrono::steady_clock::now();
  sync_everything();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  auto answer = counters(request, send);
  if (answer) (*answer)["sync_ns"] = took.count();
  return answer;
}

struct Command {
  std::string_view name;
  Answer (*act)(const json& request, const Sender& send);
};
constexpr std::array kCommands{Command{"hello", hello},
                               Command{"clock", clock},
                               Command{"disk", disk},
                               Command{"exec", exec},
                               Command{"mount", mount},
                               Command{"unmount", unmount},
                               Command{"run", run},
                               Command{"dump", dump},
                               Command{"log", log},
                               Command{"inspect", inspect_disk},
                               Command{"put", put},
                               Command{"start-trace", start_trace},
                               Command{"stop-trace", stop_trace},
                               Command{"run-application", run_application},
                               Command{"timed", timed_phase},
                               Command{"counters", counters},
                               Command{"settle", settle},
                               Command{"pause", pause},
                               Command{"time-read", time_read}};

Answer act(const json& request, const Sender& send) {
  const std::string name = text_of(request, "do");
  for (const Command& command : kCommands) {
    if (command.name == name) return command.act(request, send);
  }
  return tl::unexpected(Refusal{.text = "unknown command \"" + name.substr(0, 80) + "\""});
}

Answer act_on_line(const base::LineFramer::Line& line, json& id, const Sender& send) {
  if (line.too_long) return tl::unexpected(Refusal{.text = "line exceeds 1 MiB"});
  try {
    const json request = json::parse(line.text);
    if (!request.is_object())
      return tl::unexpected(Refusal{.text = "a request must be a JSON object"});
    if (request.contains("id") && request["id"].is_number_integer()) id = request["id"];
    return act(request, [&](json message) {
      message["id"] = id;
      send(message);
    });
  } catch (const json::exception& error) {
    return tl::unexpected(Refusal{.text = error.what()});
  }
}

}  // namespace

void answer_line(const base::LineFramer::Line& line, const Sender& send) {
  json id;  // null if the request had no id
  const Answer answer = act_on_line(line, id, send);
  json message = answer ? *answer : json{{"error", answer.error().text}};
  if (!answer && answer.error().error != 0) message["errno"] = answer.error().error;
  if (!answer && answer.error().unknown_type) message["unknown_type"] = true;
  message["id"] = id;
  message["ok"] = answer.has_value();
  send(message);
}

}  // namespace headcrash::guest
