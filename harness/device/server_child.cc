// Starts a server and waits until both sockets answer (server_child.h).
#include "harness/device/server_child.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "plugin/base/installation.h"
#include "plugin/base/result.h"

namespace headcrash::device {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kStartLimit{20};
constexpr std::chrono::seconds kStopLimit{10};

/// nbdkit uses one thread for each request in flight. No client here has more than 64 requests in
/// flight.
constexpr const char* kThreads = "64";

/// Returns the server's last error on one line, without the server's prefix.
std::string last_words(const fs::path& errors) {
  std::ifstream in(errors);
  std::string words;
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find("error: ");
    const std::string said = at == std::string::npos ? line : line.substr(at + 7);
    if (!said.empty()) words += (words.empty() ? "" : " | ") + said;
  }
  return words.empty() ? "it exited without a message" : words;
}

fs::path log_of(const fs::path& scratch) {
  return scratch / "server.log";
}

Result<base::Process> start_process(const ServerChild::Spec& spec) {
  const fs::path errors = log_of(spec.scratch);
  const int log = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (log < 0)
    return fail(errors.string(), "cannot be written", "check the permissions of the folder");
  auto started = base::Process::start({.argv = spec.argv, .errors = log});
  ::close(log);
  return started;
}

}  // namespace

Result<std::unique_ptr<ServerChild>> ServerChild::start_nbdkit(
    Spec spec, const std::vector<std::string>& parameters) {
  const fs::path plugin = base::installation().plugin;
  if (!fs::exists(plugin))
    return fail(plugin.string(), "the plugin is missing",
                "build it (cmake --build --preset release) or reinstall headcrash");
  spec.argv = {"nbdkit",    "--foreground", "--exit-with-parent",
               "--threads", kThreads,       "--unix",
               spec.socket, plugin,         "control=" + spec.control_socket.string()};
  spec.argv.insert(spec.argv.end(), parameters.begin(), parameters.end());
  return start(spec);
}

Result<std::unique_ptr<ServerChild>> ServerChild::start(const Spec& spec) {
  for (const fs::path& path : {spec.socket, spec.control_socket}) {
    TRY(base::make_way_for_socket(path));
  }
  TRY(auto started, start_process(spec));
  std::unique_ptr<ServerChild> child(new ServerChild(spec, std::move(started)));
  const auto deadline = steady_clock::now() + kStartLimit;
  while (true) {
    Result<ControlClient> control = ControlClient::connect(spec.control_socket);
    if (control && fs::exists(spec.socket)) {
      child->sockets_.emplace_back(spec.socket);  // nbdkit does not remove its socket
      // the plugin does not remove its socket if it is killed
      child->sockets_.emplace_back(spec.control_socket);
      child->control_.emplace(std::move(*control));
      return child;
    }
    if (!child->alive())
      return tl::unexpected(base::error_of(spec.subject, last_words(log_of(spec.scratch))));
    if (steady_clock::now() > deadline)
      return fail(spec.subject, "its server did not start within 20 s",
                  last_words(log_of(spec.scratch)));
    std::this_thread::sleep_for(milliseconds(5));
  }
}

ServerChild::~ServerChild() {
  (void)stop();
}

Error ServerChild::death() const {
  return {spec_.subject, "its server died: " + last_words(log_of(spec_.scratch)), ""};
}

Result<void> ServerChild::stop() {
  if (!control_) return {};
  control_.reset();
  if (!alive()) return tl::unexpected<Error>(death());
  ::kill(server_.pid(), SIGTERM);
  (void)server_.wait(kStopLimit);
  server_.kill();
  sockets_.clear();
  return {};
}

}  // namespace headcrash::device
