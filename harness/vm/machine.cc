// Starts QEMU, and controls a guest's process (machine.h).
#include "harness/vm/machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "harness/vm/agent_message.h"
#include "plugin/base/command_text.h"

namespace headcrash::vm {
namespace {

constexpr std::chrono::seconds kGreetingLimit{30};
constexpr std::chrono::milliseconds kHelloLook{500};  // polling interval before the first answer
constexpr std::streamsize kLongestConsoleBytes =
    4 << 20;  // if the console output is longer, only its beginning is kept
constexpr std::size_t kShownLines = 12;
constexpr std::size_t kEndLines = 3;
constexpr std::chrono::seconds kExitLimit{1};
// QEMU's descriptor number for the saved state.
constexpr int kIncoming = base::kFirstInherited + 2;
constexpr int kHelloId = -1;  // an id that Guest does not use

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestConsoleBytes, '\0');
  file.read(text.data(), kLongestConsoleBytes);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::filesystem::path console_in(const std::filesystem::path& scratch) {
  return scratch / "console.log";
}
std::filesystem::path log_in(const std::filesystem::path& scratch) {
  return scratch / "program.log";
}

std::string last_lines(const std::string& text, std::size_t lines) {
  std::size_t at = text.find_last_not_of("\r\n");
  if (at == std::string::npos || lines == 0) return {};
  const std::size_t end = at + 1;
  while (lines > 0 && at != std::string::npos) {
    at = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    --lines;
  }
  const std::size_t start = at == std::string::npos ? 0 : at + 1;
  std::string tail = text.substr(start, end - start);
  std::erase(tail, '\r');
  return tail;
}

GuestProcess::GuestProcess(std::string program, base::Process process, base::JsonSocket agent,
                           std::filesystem::path scratch)
    : program_(std::move(program)),
      process_(std::move(process)),
      agent_(std::move(agent)),
      scratch_(std::move(scratch)) {}

/// Kills the whole process group. The programs of a user-mode Linux guest are processes on the
/// host.
void GuestProcess::kill() {
  if (process_.running()) ::kill(-process_.pid(), SIGKILL);
  process_.kill();
}

GuestProcess::~GuestProcess() {
  kill();
  std::error_code error;
  std::filesystem::remove(console_in(scratch_), error);
  std::filesystem::remove(log_in(scratch_), error);
}

Machine::Machine(base::Process process, base::JsonSocket agent, base::JsonSocket qmp,
                 std::filesystem::path scratch)
    : GuestProcess("QEMU", std::move(process), std::move(agent), std::move(scratch)),
      qmp_(std::move(qmp)) {}

Result<std::unique_ptr<Machine>> Machine::launch(const GuestSpec& spec, const Launch& launch) {
  TRY(auto agent, base::JsonSocket::make_pair());
  TRY(auto qmp, base::JsonSocket::make_pair());
  const base::Descriptor log(
      ::open(log_in(launch.scratch).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!log.is_open()) {
    return fail(launch.scratch.string(), std::error_code(errno, std::generic_category()).message());
  }

  Wiring wiring{.disks = launch.disks,
                .agent_socket = base::kFirstInherited,
                .qmp_socket = base::kFirstInherited + 1,
                .console = console_in(launch.scratch)};
  base::ProcessSpec process{
      .output = log.get(), .errors = log.get(), .inherit = {agent.second.get(), qmp.second.get()}};
  if (launch.incoming >= 0) {
    wiring.incoming = true;
    process.inherit.push_back(launch.incoming);
  }
  process.argv = qemu_command(spec, wiring);
  TRY(auto started, base::Process::start(process));
  agent.second.reset();  // close our copy, so that the connection ends when QEMU dies
  qmp.second.reset();
  std::unique_ptr<Machine> machine(new Machine(std::move(started), std::move(agent.first),
                                               std::move(qmp.first), launch.scratch));
  if (const auto greeted = machine->qmp_.greet(kGreetingLimit); !greeted) {
    machine->process().wait(std::chrono::seconds(1));  // QEMU may still be writing its last output
    return machine->failed("QEMU did not start");
  }
  return machine;
}

Result<void> Machine::load_state(std::chrono::milliseconds timeout) {
  TRY(qmp_.execute("migrate-incoming", {{"uri", fmt::format("fd:{}", kIncoming)}}, timeout));
  return {};
}

std::string GuestProcess::console() const {
  return contents(console_in(scratch_));
}
std::string GuestProcess::log() const {
  return contents(log_in(scratch_));
}

bool GuestProcess::says_hello(std::chrono::milliseconds timeout) {
  const base::Deadline deadline = base::after(timeout);
  if (!agent_.send({{"id", kHelloId}, {"do", "hello"}}, deadline)) return false;
  // Send the request only once. A guest that starts slowly would later process all copies, which
  // takes virtual time.
  while (std::chrono::steady_clock::now() < deadline) {
    auto message = agent_.receive(std::min(deadline, base::after(kHelloLook)));
    if (message && !check_message(*message)) return false;
    if (message && message->value("id", nlohmann::json()) == kHelloId)
      return message->value("ok", false);
    if (!message && (message.error() == base::Silence::closed || !process_.running())) return false;
  }
  return false;
}

std::string GuestProcess::end() const {
  std::string end = program_ + " has closed its connection";
  if (const auto status = process_.wait(kExitLimit))
    end = fmt::format("{} exited with {}", program_, *status);
  if (const std::string words = last_lines(log(), kEndLines); !words.empty())
    end += fmt::format("; it printed: {}", words);
  if (const std::string words = last_lines(console(), kEndLines); !words.empty())
    end += fmt::format("; its console ends with: {}", words);
  base::replace_all(end, "\n", "|");
  return end;
}

tl::unexpected<Error> GuestProcess::failed(const std::string& what, const std::string& hint) const {
  std::string problem = what;
  if (const auto status = process_.wait(std::chrono::milliseconds(0)))
    problem += fmt::format(" ({} exited with {})", program_, *status);
  if (const std::string words = last_lines(log(), kShownLines); !words.empty())
    problem += fmt::format("; {} printed: {}", program_, words);
  if (const std::string words = last_lines(console(), kShownLines); !words.empty()) {
    problem += "; the console ends with:\n" + words + "\n";
  }
  return fail("guest", problem, hint);
}

}  // namespace headcrash::vm
