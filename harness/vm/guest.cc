// Starts guests and sends requests to their agents (guest.h).
#include "harness/vm/guest.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "harness/vm/agent_message.h"
#include "harness/vm/machine.h"
#include "harness/vm/oops.h"
#include "harness/vm/saved_state.h"
#include "harness/vm/user_mode.h"
#include "plugin/base/socket_file.h"
#include "plugin/base/virtual_guest.h"

namespace headcrash::vm {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kResumeLimit{30};
constexpr std::chrono::seconds kHelloLimit{30};
constexpr std::chrono::seconds kSendLimit{30};
constexpr milliseconds kLook{200};  // polling interval of `give_up`

// Checks that the disks' sockets exist before QEMU starts, because QEMU's error would name only an
// internal node instead of the socket.
Result<void> check_disks(const GuestSpec& spec) {
  for (const GuestDisk& disk : spec.disks) {
    std::error_code error;
    if (!std::filesystem::is_socket(disk.socket, error)) {
      return fail(disk.socket.string(), "no server listens on this socket",
                  "start the disk's server before the guest");
    }
  }
  return {};
}

Result<void> wait_until_loaded(Machine& machine) {
  const base::Deadline deadline = base::after(kResumeLimit);
  TRY(machine.load_state(kResumeLimit));
  while (std::chrono::steady_clock::now() < deadline) {
    TRY(const auto status, machine.qmp().execute("query-status", json::object(), kResumeLimit));
    if (status.value("status", "inmigrate") != "inmigrate") {
      TRY(machine.qmp().execute("cont", json::object(), kResumeLimit));
      return {};
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  return fail("QEMU", "loading the saved state timed out");
}

/// Starts QEMU, and waits until it has loaded the state. QEMU checks the command line and the disks
/// first, so if it exits during the load, the state is damaged (ErrorKind::damaged).
Result<std::unique_ptr<Machine>> restore(const GuestSpec& spec, const SavedState& state,
                                         const std::filesystem::path& scratch) {
  TRY(auto machine,
      Machine::launch(
          spec, {.disks = Disks::attached, .incoming = state.file.get(), .scratch = scratch}));
  if (const auto loaded = wait_until_loaded(*machine); !loaded) {
    const bool exited = machine->process().wait(milliseconds(1000)).has_value();
    Error error = machine->failed(loaded.error().problem).value();
    if (exited) error.kind = ErrorKind::damaged;
    return tl::unexpected(std::move(error));
  }
  if (machine->says_hello(kHelloLimit)) return machine;
  Error error = machine->failed("the restored guest does not respond").value();
  error.kind = ErrorKind::damaged;
  return tl::unexpected(std::move(error));
}

}  // namespace

void attach_user_mode(GuestSpec& spec, const std::filesystem::path& disk, std::uint64_t disk_bytes,
                      const std::vector<adapters::OtherDisk>& others) {
  spec.disks = {{.socket = disk, .size_bytes = disk_bytes},
                {.socket = base::socket_beside(disk, virtual_guest::kMarkSuffix),
                 .size_bytes = kMarkDiskBytes}};
  for (const adapters::OtherDisk& other : others)
    spec.disks.push_back(
        {.socket = base::socket_beside(disk, other.name), .size_bytes = other.bytes});
  spec.time_socket = base::socket_beside(disk, virtual_guest::kTimeSuffix);
  spec.port_socket = base::socket_beside(disk, virtual_guest::kPortSuffix);
  spec.agent_socket = base::socket_beside(disk, virtual_guest::kAgentSuffix);
}

struct Guest::State {
  std::unique_ptr<GuestProcess> machine;
  bool virtual_time = false;
  std::int64_t last_id = 0;
  bool silent = false;  // the agent has closed its end of the connection
  std::optional<Error> malformed;
};

Guest::Guest(std::unique_ptr<State> state) : state_(std::move(state)) {}
Guest::~Guest() = default;

Result<std::unique_ptr<Guest>> Guest::start(const GuestSpec& spec,
                                            const std::filesystem::path& cache,
                                            const std::filesystem::path& scratch) {
  TRY(check_disks(spec));
  auto running = std::make_unique<State>();
  if (spec.accelerator == Accelerator::user_mode) {
    TRY(auto process, launch_user_mode(spec, scratch));
    running->machine = std::move(process);
    running->virtual_time = true;
    return std::unique_ptr<Guest>(new Guest(std::move(running)));
  }
  Result<std::unique_ptr<Machine>> machine = fail("guest", "has not started");
  for (bool again = true; again;) {
    TRY(const auto state, open_saved_state(spec, cache));
    machine = restore(spec, state, scratch);
    // Discard an old state that QEMU could not load, and try again with a new one.
    again = !machine && !state.fresh && machine.error().kind == ErrorKind::damaged;
    if (again) discard_saved_state(state);
  }
  if (!machine) return forward_error(machine);
  running->machine = std::move(*machine);
  return std::unique_ptr<Guest>(new Guest(std::move(running)));
}

Result<void> Guest::send(const json& request) {
  json message = request;
  if (!message.contains("id")) message["id"] = ++state_->last_id;
  if (!state_->machine->agent().send(message, base::after(kSendLimit)))
    return fail("guest", "the agent does not accept requests");
  return {};
}

std::optional<json> Guest::receive(milliseconds timeout) {
  const base::Deadline deadline = base::after(timeout);
  for (;;) {
    auto message = state_->machine->agent().receive(deadline);
    if (message) {
      const auto checked = check_message(*message);
      if (checked) return std::move(*message);
      if (!state_->malformed) state_->malformed = checked.error();
      return std::nullopt;
    }
    if (message.error() == base::Silence::malformed) continue;
    state_->silent = message.error() == base::Silence::closed;
    return std::nullopt;
  }
}

Result<json> Guest::call(const json& request, milliseconds timeout, const EventHandler& on_event,
                         const std::function<bool()>& give_up) {
  const base::Deadline deadline = base::after(timeout);
  const auto gone = [this] { return fail(ErrorKind::guest_died, "", state_->machine->end()); };
  const std::int64_t id = ++state_->last_id;
  json message = request;
  message["id"] = id;
  if (const auto sent = send(message); !sent) return gone();
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    auto answer = receive(std::clamp(left, milliseconds(0), give_up ? kLook : timeout));
    if (!answer) {
      if (state_->malformed) return fail(ErrorKind::malformed, "", state_->malformed->message());
      if (state_->silent || !alive()) return gone();
      if (give_up && give_up()) return fail(ErrorKind::interrupted, "", "given up");
      if (left > kLook && give_up) continue;
      return fail(ErrorKind::timeout, "", fmt::format("no answer within {} ms", timeout.count()));
    }
    const auto about = answer->find("id");
    // Ignore late answers to earlier calls that timed out.
    if (about == answer->end() || *about != id) continue;
    if (answer->contains("event")) {
      if (on_event) on_event(*answer);
      continue;
    }
    if (answer->value("ok", false)) {
      if (const auto checked = check_answer(request.value("do", ""), *answer); !checked) {
        state_->malformed = checked.error();
        return fail(ErrorKind::malformed, "", checked.error().message());
      }
      return *answer;
    }
    return fail(answer->value("unknown_type", false) ? ErrorKind::unsupported : ErrorKind::refused,
                "", answer->value("error", ""));
  }
}

std::unique_ptr<Guest> Guest::over(std::unique_ptr<GuestProcess> process) {
  auto running = std::make_unique<State>();
  running->machine = std::move(process);
  return std::unique_ptr<Guest>(new Guest(std::move(running)));
}

const std::optional<Error>& Guest::malformed() const {
  return state_->malformed;
}

bool Guest::in_virtual_time() const {
  return state_->virtual_time;
}

bool Guest::alive() const {
  return state_->machine->process().running();
}

std::optional<std::string> Guest::oops() const {
  return find_oops(state_->machine->console());
}
std::optional<std::string> Guest::damage_message() const {
  return find_damage_message(state_->machine->console());
}

std::string Guest::console_tail(std::size_t lines) const {
  return last_lines(state_->machine->console(), lines);
}

void Guest::kill() {
  state_->machine->kill();
}

}  // namespace headcrash::vm
