// Sends requests to the agent, and classifies its failures (guest_session.h).
#include "harness/run/guest_session.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "fs-adapters/linux/stack.h"
#include "plugin/base/errno_text.h"
#include "plugin/base/printable.h"
#include "plugin/base/processor_ticks.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/virtual_guest.h"

namespace headcrash::run {
namespace {

using nlohmann::json;

// The agent enforces a command's time limit; the host waits for this additional time. If no answer
// has arrived by then, the host assumes that the agent itself hangs.
constexpr std::chrono::seconds kExecGrace{10};
constexpr std::size_t kOperationShownBytes = 200;
constexpr int kUnmountTries = 100;
// Holds about 20000 writes with their stacks. The buffer is taken from the guest's memory.
constexpr int kTraceBufferKib = 8192;
constexpr std::int64_t kVirtualTimeoutMs = 24LL * 3600 * 1000;

constexpr const char* kBringModule =
    "; name its module in the [guest] section of the file system, for example modules = "
    "[\"exfat\"] (taken from the kernel's package), pass your own modules by path there or with "
    "--modules, or build it into the kernel";

adapters::Places places(std::string_view uuid = {}) {
  return {.device = kStageDisk, .log = kStageLog, .uuid = uuid, .target = kMountPoint};
}

}  // namespace

std::string mounted_device(const adapters::LinuxAdapter& filesystem) {
  return filesystem.stack ? filesystem.stack->device : kStageDisk;
}

namespace {

json mount_request(const char* command, const adapters::LinuxAdapter& filesystem) {
  return {{"do", command},
          {"source", mounted_device(filesystem)},
          {"target", kMountPoint},
          {"type", filesystem.type},
          {"options", adapters::fill_in(filesystem.mount_options, places())}};
}

/// Collects the entries of a dump as they arrive. Keeps the error of the first invalid entry.
class Tree {
 public:
  void add(const json& entry) {
    Result<oracle::ObservedObject> object = oracle::parse_entry(entry);
    if (!object && !bad_) bad_ = object.error();
    // If there are too many entries, take() returns an error because some of them are missing.
    if (!object || objects_.size() > kTreeObjectsMost) return;
    objects_.push_back(std::move(*object));
  }
  Result<std::vector<oracle::ObservedObject>> take(std::size_t announced) {
    if (bad_) return tl::unexpected(*bad_);
    if (objects_.size() != announced)
      return fail(ErrorKind::other, "", "the agent sent fewer entries than it announced");
    return std::move(objects_);
  }

 private:
  std::vector<oracle::ObservedObject> objects_;
  std::optional<Error> bad_;
};

MountCycle parse_mount_cycle(const json& answer) {
  return {.mounted = answer.value("mounted", false),
          .refusal = answer.value("error", ""),
          .mount_ms = answer.value("mount_ms", 0.0),
          .dump_ms = answer.value("dump_ms", 0.0),
          .unmount_ms = answer.value("unmount_ms", 0.0)};
}

}  // namespace

std::vector<std::string> in_guest(const std::vector<std::string>& argv, std::string_view uuid) {
  return adapters::fill_in(argv, places(uuid));
}

tl::unexpected<Error> stop(ErrorKind kind, const std::string& why) {
  return fail(kind, "", base::printable_lines(why));
}

json run_request(const std::vector<workload::Operation>& operations) {
  json lines = json::array();
  for (const workload::Operation& operation : operations)
    lines.push_back(workload::format(operation));
  return {{"do", "run"},
          {"root", kMountPoint},
          {"operations", std::move(lines)},
          {"mark", kStageMarks}};
}

std::optional<workload::FailedOperation> failed_operation_of(const json& event) {
  const std::string kind = event.value("event", "");
  if (kind != "skipped" && kind != "partial") return std::nullopt;
  return workload::FailedOperation{
      event.value("operation", std::size_t{0}),
      kind == "partial" ? workload::Outcome::partial : workload::Outcome::skipped};
}

std::optional<std::string> failure_of(const json& event,
                                      std::span<const workload::Operation> operations) {
  const auto index = event.value("operation", std::size_t{0});
  if (event.value("event", "") != "failed" || index >= operations.size()) return std::nullopt;
  return fmt::format("operation {} ({}) failed: {}", index,
                     base::printable(workload::format(operations[index]), kOperationShownBytes),
                     base::errno_text(event.value("errno", 0)));
}

std::string seed_digits(std::uint64_t seed) {
  return fmt::format("{:016x}{:016x}", seed, ~seed);
}

tl::unexpected<Error> GuestSession::failed(const std::string& what, const Error& error) {
  if (const auto oops = guest_.oops())
    return stop(ErrorKind::guest_died, "the guest's kernel reported: " + *oops);
  switch (error.kind) {
    case ErrorKind::malformed:
      return stop(error.kind, error.problem);
    case ErrorKind::interrupted:
      return fail(error.kind, "", "interrupted");
    case ErrorKind::unsupported:
      return stop(error.kind, error.problem + kBringModule);
    case ErrorKind::refused:
      return stop(error.kind, fmt::format("the agent refused \"{}\": {}", what, error.problem));
    case ErrorKind::guest_died:
      return stop(error.kind,
                  fmt::format("the guest crashed during \"{}\": {}", what, error.problem));
    default:
      return stop(ErrorKind::timeout, fmt::format("\"{}\" did not end within {} s", what,
                                                  static_cast<double>(timeout_.count()) / 1000));
  }
}

/// Sends a request and waits for the answer. Does not wait if the kernel has reported a fatal
/// error.
Result<json> GuestSession::ask(const json& request, std::chrono::milliseconds timeout,
                               const vm::EventHandler& on_event) {
  return guest_.call(request, timeout, on_event, [this] {
    return (interrupted_ != nullptr && *interrupted_) ||
           (give_up_at_ && std::chrono::steady_clock::now() > *give_up_at_) ||
           guest_.oops().has_value();
  });
}

Result<json> GuestSession::call(const json& request, const vm::EventHandler& on_event) {
  auto answer = ask(request, timeout_, on_event);
  if (!answer) return failed(request.value("do", "?"), answer.error());
  return std::move(*answer);
}

Result<void> GuestSession::set_clock(const std::string& seed_hex, std::chrono::nanoseconds ahead) {
  const auto today_ns =
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  const std::int64_t unix_ns = guest_.in_virtual_time() ? virtual_guest::kTimeOfDayNs : today_ns;
  TRY(call({{"do", "clock"}, {"unix_ns", unix_ns + ahead.count()}, {"seed", seed_hex}}));
  return {};
}

Result<void> GuestSession::verify_disks(const DiskIdentity& meant) {
  TRY(const auto disk, call({{"do", "disk"}, {"path", kStageDisk}}));
  TRY(const auto marks, call({{"do", "disk"}, {"path", kStageMarks}}));
  if (disk.value("bytes", std::uint64_t{0}) != meant.bytes)
    return fail(ErrorKind::other, "", "the guest sees the wrong size for its disk");
  const auto wanted = DiskIdentity::write_cache(meant.write_through);
  if (disk.value("flush", "") != wanted)
    return stop(ErrorKind::other,
                fmt::format("the guest's disk has the write cache setting \"{}\", not \"{}\"",
                            disk.value("flush", ""), wanted));
  if (marks.value("nonce", "") != meant.nonce)
    return fail(ErrorKind::other, "", "the guest does not see the loaded disk (the nonce differs)");
  for (std::size_t i = 0; i < meant.others.size(); ++i) {
    const adapters::OtherDisk& other = meant.others[i];
    TRY(const auto seen, call({{"do", "disk"}, {"path", adapters::disk_path(i + 1)}}));
    if (seen.value("bytes", std::uint64_t{0}) != other.bytes)
      return stop(ErrorKind::other,
                  fmt::format("the guest sees the wrong size for disk {}", other.name));
    if (seen.value("flush", "") != DiskIdentity::write_cache(meant.others_write_through))
      return stop(ErrorKind::other,
                  fmt::format("the guest's disk {} has the wrong write cache setting", other.name));
  }
  return {};
}

Result<GuestOutcome> GuestSession::exec(const std::vector<std::string>& argv) {
  // The agent's clock is virtual, so the agent cannot enforce a real time limit; the host does.
  const std::int64_t timeout_ms = guest_.in_virtual_time() ? kVirtualTimeoutMs : timeout_.count();
  const auto answer =
      ask({{"do", "exec"}, {"argv", argv}, {"timeout_ms", timeout_ms}}, timeout_ + kExecGrace);
  if (!answer) return failed(workload::program_in(argv), answer.error());
  if (answer->value("timed_out", false)) {
    return stop(ErrorKind::timeout,
                fmt::format("{} did not end within {} s", workload::program_in(argv),
                            static_cast<double>(timeout_.count()) / 1000));
  }
  const std::string out = answer->value("stdout", "");
  return GuestOutcome{.exit_code = answer->value("exit", -1),
                      .output = out + answer->value("stderr", ""),
                      .standard = out.size(),
                      .wall_ms = answer->value("wall_ms", 0.0)};
}

Result<bool> GuestSession::mount(const adapters::LinuxAdapter& filesystem, std::string* why) {
  after_unmount_ = filesystem.unmount;
  is_layer_ = filesystem.is_layer;
  if (!filesystem.mount.argv.empty()) return mount_by_command(filesystem, why);
  const auto answer = ask(mount_request("mount", filesystem), timeout_);
  if (answer) return true;
  // An error such as an unknown file system type does not mean that the disk cannot be mounted.
  if (answer.error().kind != ErrorKind::refused) return failed("mount", answer.error());
  if (why != nullptr) *why = answer.error().problem;
  return false;
}

Result<bool> GuestSession::mount_by_command(const adapters::LinuxAdapter& filesystem,
                                            std::string* why) {
  TRY(const auto mounted,
      exec(adapters::fill_in(filesystem.mount.argv, places(), filesystem.mount_options)));
  if (!filesystem.mount.good(mounted.exit_code)) {
    if (why != nullptr)
      *why = fmt::format("the mount command exited with {}: {}", mounted.exit_code, mounted.output);
    return false;
  }
  // When the mount command exits, its daemon may not have completed the mount yet, or may have
  // died. With an emulated processor on a busy host, the mount may take several seconds. The shell
  // needs no other program unless it must wait.
  TRY(const auto is_there,
      exec({"sh", "-c",
            fmt::format(
                "i=0; while [ $i -lt 100 ]; do while read -r d at rest; do if [ $at = {0} ] && cd "
                "{0}; then exit 0; fi; done < /proc/mounts; usleep 100000; i=$((i + 1)); done; "
                "exit 1",
                kMountPoint)}));
  if (is_there.exit_code == 0) return true;
  if (why != nullptr)
    *why = fmt::format("the mount command exited with {}, but nothing is mounted at {}: {}",
                       mounted.exit_code, kMountPoint, mounted.output);
  TRY(unmount_below());
  return false;
}

Result<void> GuestSession::unmount() {
  TRY(call({{"do", "unmount"}, {"target", kMountPoint}}));
  return unmount_below();
}

/// Runs the adapter's unmount command, and unmounts the file system below a layer.
Result<void> GuestSession::unmount_below() {
  const adapters::GuestCommand command = std::exchange(after_unmount_, {});
  if (!command.argv.empty()) {
    TRY(const auto done, exec(adapters::fill_in(command.argv, places())));
    if (!command.good(done.exit_code))
      return stop(ErrorKind::other, fmt::format("the unmount command exited with {}: {}",
                                                done.exit_code, done.output));
  }
  if (!std::exchange(is_layer_, false)) return {};
  // A process of the layer may close its files a little later than the layer is unmounted.
  for (int tries = 1;; ++tries) {
    const auto answer = ask({{"do", "unmount"}, {"target", adapters::kBelow}}, timeout_);
    if (answer) return {};
    if (tries == kUnmountTries || answer.error().kind != ErrorKind::refused)
      return failed("unmount", answer.error());
    TRY(exec({"usleep", "20000"}));
  }
}

Result<RunOutcome> GuestSession::run(const std::vector<workload::Operation>& operations,
                                     std::span<const workload::FailedOperation> earlier) {
  RunOutcome outcome;
  const auto on_event = [&](const json& event) {
    const auto failed = failed_operation_of(event);
    if (failed && outcome.failed_operations.size() < operations.size())
      outcome.failed_operations.push_back(*failed);
    if (auto failure = failure_of(event, operations)) outcome.failure = std::move(failure);
  };
  json request = run_request(operations);
  request["skipped_before"] = !earlier.empty();
  TRY(const auto answer, call(request, on_event));
  outcome.done = answer.value("done", std::size_t{0});
  return outcome;
}

Result<void> GuestSession::put(const std::string& path, const std::string& text) {
  TRY(call({{"do", "put"}, {"path", path}, {"text", text}}));
  return {};
}

Result<RunOutcome> GuestSession::run_application(const workload::Application& application) {
  const json request{{"do", "run-application"},
                     {"commands", workload::argvs(application, application.run, kMountPoint)},
                     {"timeout_ms", timeout_.count()},
                     {"mark", kStageMarks},
                     {"each_command_persists", application.each_command_persists},
                     {"every_line_persists", application.every_line_persists}};
  const auto answer = ask(request, timeout_ + kExecGrace);
  if (!answer) return failed("run-application", answer.error());
  RunOutcome outcome{.done = answer->value("done", std::size_t{0})};
  if (const auto refused = answer->value("refused", std::size_t{0}); refused > 0)
    return stop(
        ErrorKind::other,
        fmt::format("{} printed {} persistence reports that do not fit in a mark; each must have "
                    "1 to 200 printable ASCII characters",
                    application.name, refused));
  if (answer->value("timed_out", false))
    return stop(ErrorKind::timeout,
                application.name + " did not end in time; increase step-timeout-s");
  if (answer->value("exit", -1) != 0) {
    outcome.failure = fmt::format("command {} of {} exited with {}: {}", outcome.done,
                                  application.name, answer->value("exit", -1),
                                  answer->value("stdout", "") + answer->value("stderr", ""));
  }
  return outcome;
}

Result<oracle::VerifierEnd> GuestSession::verify_application(const std::vector<std::string>& argv,
                                                             const std::string& input) {
  const auto answer =
      ask({{"do", "exec"}, {"argv", argv}, {"stdin", input}, {"timeout_ms", timeout_.count()}},
          timeout_ + kExecGrace);
  if (!answer) return failed("verify", answer.error());
  if (answer->value("timed_out", false))
    return fail(ErrorKind::timeout, "", "the verifier did not end in time");
  return oracle::VerifierEnd{.exit_code = answer->value("exit", -1),
                             .output = answer->value("stdout", ""),
                             .errors = answer->value("stderr", "")};
}

Result<std::vector<oracle::ObservedObject>> GuestSession::dump() {
  Tree tree;
  const auto on_event = [&](const json& event) {
    if (event.value("event", "") == "entry") tree.add(event);
  };
  TRY(const auto answer, call({{"do", "dump"}, {"root", kMountPoint}}, on_event));
  return tree.take(answer.value("entries", std::size_t{0}));
}

Result<void> GuestSession::start_trace() {
  const auto answer = ask({{"do", "start-trace"}, {"buffer_kib", kTraceBufferKib}}, timeout_);
  if (answer) return {};
  if (answer.error().kind != ErrorKind::refused) return failed("start-trace", answer.error());
  return fail(
      ErrorKind::unsupported, "--stacks",
      base::printable("the guest's kernel cannot trace its writes: " + answer.error().problem),
      "use a kernel with CONFIG_ENABLE_DEFAULT_TRACERS and CONFIG_STACKTRACE, in user-mode "
      "Linux also CONFIG_FRAME_POINTER, or omit --stacks");
}

Result<WriteTrace> GuestSession::stop_trace() {
  WriteTrace trace;
  const auto on_event = [&](const json& event) {
    if (event.value("event", "") == "trace") trace.text += event.value("text", "");
  };
  TRY(const auto answer, call({{"do", "stop-trace"}}, on_event));
  for (const auto& [name, number] : answer["devices"].items())
    if (number.is_string()) trace.devices[name] = number.get<std::string>();
  return trace;
}

Result<Inspection> GuestSession::inspect_in_steps(
    const adapters::LinuxAdapter& filesystem, bool again,
    const std::function<Result<void>(bool)>& on_mount) {
  Inspection seen;
  std::vector<oracle::ObservedObject> second;
  const auto inspect_once = [&](MountCycle& cycle,
                                std::vector<oracle::ObservedObject>& tree) -> Result<void> {
    base::Stopwatch clock;
    TRY(const auto mounted, mount(filesystem, &cycle.refusal));
    cycle.mounted = mounted;
    cycle.mount_ms = clock.lap();
    if (on_mount && &cycle == &seen.first) {
      TRY(on_mount(cycle.mounted));
    }
    if (!cycle.mounted) return {};
    TRY(auto dumped, dump());
    tree = std::move(dumped);
    cycle.dump_ms = clock.lap();
    const auto unmounted = unmount();
    cycle.unmount_ms = clock.lap();
    return unmounted;
  };
  TRY(inspect_once(seen.first, seen.tree));
  if (again && seen.first.mounted) {
    TRY(inspect_once(seen.again.emplace(), second));
    seen.difference = oracle::tree_difference(seen.tree, second);
  }
  TRY(auto log, kernel_log());
  seen.log = std::move(log);
  return seen;
}

Result<Inspection> GuestSession::inspect(const adapters::LinuxAdapter& filesystem,
                                         const InspectOptions& options,
                                         const std::optional<DiskIdentity>& meant, Pace pace) {
  if (!filesystem.mount.argv.empty()) {
    if (meant) {
      TRY(verify_disks(*meant));
    }
    return inspect_in_steps(filesystem, options.again);
  }
  Tree tree;
  const auto on_event = [&](const json& event) {
    if (event.value("event", "") != "entries" || !event.contains("entries")) return;
    for (const json& entry : event["entries"]) tree.add(entry);
  };
  // The guest's cached pages of all disks are stale, but an inspect request verifies only one disk.
  // If there are several disks, they are therefore verified before the request.
  const bool in_request = meant && meant->others.empty() && !filesystem.stack;
  if (meant && !in_request) {
    TRY(verify_disks(*meant));
  }
  json request = mount_request("inspect", filesystem);
  request["again"] = options.again;
  request["use"] = options.use;
  request["quick"] = pace == Pace::quick;
  if (guest_.in_virtual_time()) request["ticks_per_ms"] = base::processor_ticks_per_ms();
  if (in_request) {
    request["bytes"] = meant->bytes;
    request["nonce"] = meant->nonce;
    request["mark"] = kStageMarks;
    if (pace == Pace::as_booted) request["flush"] = DiskIdentity::write_cache(meant->write_through);
  }
  TRY(const auto answer, call(request, on_event));
  Inspection seen;
  seen.verify_ms = answer.value("verify_ms", 0.0);
  seen.first = parse_mount_cycle(answer);
  seen.log = answer.value("log", "");
  TRY(auto objects, tree.take(answer.value("entries", std::size_t{0})));
  seen.tree = std::move(objects);
  if (answer.contains("again")) {
    seen.again = parse_mount_cycle(answer["again"]);
    seen.difference = answer["again"].value("difference", "");
  }
  const json& last = answer.contains("again") ? answer["again"] : answer;
  seen.unusable = last.value("unusable", "");
  seen.use_ms = last.value("use_ms", 0.0);
  return seen;
}

Result<std::string> GuestSession::kernel_log() {
  TRY(const auto answer, call({{"do", "log"}}));
  return answer.value("text", "");
}

}  // namespace headcrash::run
