#include "plugin/servers/nbd/testing/served_disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace headcrash::nbd {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(60);

/// nbdkit 1.32 hangs in exit(), in the destructor of libp11-kit, if a sanitizer's runtime is
/// preloaded and nbdkit has logged any error from a connection. Even `nbdkit memory` hangs. By
/// then, the plugin has finished its work, and any finding of the sanitizer would already have
/// ended the server. A server that hangs is therefore killed after a grace period.
constexpr bool kMayHangInExit = !std::string_view(HEADCRASH_PRELOAD).empty();
constexpr auto kExitGrace = std::chrono::seconds(1);

/// Starts nbdkit in the foreground, with its stderr redirected to `log`. nbdkit is killed when this
/// process exits.
pid_t start_nbdkit(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<std::string> words = {"nbdkit", "-f"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  // SIGKILL ends nbdkit at once. nbdkit's option --exit-with-parent would send SIGTERM instead, and
  // nbdkit would shut down cleanly.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(fd, STDERR_FILENO);
  // Preload the sanitizer's runtime, because nbdkit itself is not instrumented.
  if (std::strlen(HEADCRASH_PRELOAD) > 0) {
    setenv("LD_PRELOAD", HEADCRASH_PRELOAD, 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    setenv("TSAN_OPTIONS", "halt_on_error=1 exitcode=66", 1);
  }
  execvp("nbdkit", argv.data());
  _exit(127);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

int connect_to(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

ExitResult run_nbdkit(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"-U", folder / "refused.sock", HEADCRASH_PLUGIN};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::string log = folder / "refused.log";
  const pid_t pid = start_nbdkit(all, log);
  const auto started = steady_clock::now();
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    const auto passed = steady_clock::now() - started;
    if (kMayHangInExit && passed > kExitGrace &&
        text_of(log).find("error: ") != std::string::npos) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return {1, text_of(log)};
    }
    // A server that listens has accepted its parameters and will not exit. Kill it, and return -1
    // as the exit code.
    if (fs::exists(folder / "refused.sock") || passed > kPatience) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      fs::remove(folder / "refused.sock");
      return {-1, text_of(log)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(log)};
}

ServedDisk::ServedDisk(const TemporaryFolder& folder, std::vector<std::string> arguments,
                       const std::vector<std::string>& nbdkit_options)
    : socket_(folder / "nbd.sock"), control_(folder / "control.sock"), log_(folder / "nbdkit.log") {
  // nbdkit writes this file once it listens. Polling by connecting would cause errors in the log,
  // after which a server under a sanitizer hangs in exit().
  const std::string listens = folder / "nbdkit.pid";
  fs::remove(socket_);
  fs::remove(listens);
  std::vector<std::string> all = nbdkit_options;
  all.insert(all.end(), {"-P", listens, "-U", socket_, HEADCRASH_PLUGIN, "control=" + control_});
  all.insert(all.end(), arguments.begin(), arguments.end());
  pid_ = start_nbdkit(all, log_);
  const auto patience = steady_clock::now() + kPatience;
  while (!fs::exists(listens)) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0 || steady_clock::now() > patience) {
      ADD_FAILURE() << "nbdkit does not come up: " << text_of(log_);
      pid_ = -1;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

ServedDisk::~ServedDisk() {
  if (pid_ > 0) end(SIGTERM);
}

double ServedDisk::end(int signal) {
  kill(pid_, signal);
  return wait_for_end(signal == SIGKILL ? Ending::killed : Ending::orderly);
}

double ServedDisk::wait_for_end(Ending ending) {
  const auto before = steady_clock::now();
  int status = 0;
  bool hung_in_exit = false;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    const auto passed = steady_clock::now() - before;
    hung_in_exit = kMayHangInExit && passed > kExitGrace && !fs::exists(control_);
    if (hung_in_exit) {
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      break;
    }
    if (passed > kPatience) {
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      ADD_FAILURE() << "nbdkit did not end";
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  pid_ = -1;
  if (ending == Ending::orderly && !hung_in_exit) {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status << "\n"
                                                               << text_of(log_);
  }
  return std::chrono::duration<double>(steady_clock::now() - before).count();
}

std::string ServedDisk::log_text() const {
  return text_of(log_);
}

nlohmann::json ServedDisk::control(const std::string& line) const {
  const int fd = connect_to(control_);
  EXPECT_GE(fd, 0) << control_;
  const std::string request = line + "\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char byte = 0;
  while (recv(fd, &byte, 1, 0) == 1 && byte != '\n') answer += byte;
  close(fd);
  auto parsed = nlohmann::json::parse(answer, nullptr, false);
  EXPECT_TRUE(parsed.is_object()) << line << " -> " << answer;
  return parsed;
}

Client::Client(const ServedDisk& disk, const char* export_name) : handle_(nbd_create()) {
  nbd_set_export_name(handle_, export_name);
  nbd_set_strict_mode(handle_, 0);
  EXPECT_EQ(nbd_connect_unix(handle_, disk.socket().c_str()), 0) << nbd_get_error();
}

Client::~Client() {
  nbd_close(handle_);
}

int Client::write(std::uint64_t sector, const std::vector<char>& bytes, std::uint32_t flags) {
  return nbd_pwrite(handle_, bytes.data(), bytes.size(), sector * 512, flags) == 0
             ? 0
             : nbd_get_errno();
}
int Client::read(std::uint64_t sector, std::vector<char>& bytes) {
  return nbd_pread(handle_, bytes.data(), bytes.size(), sector * 512, 0) == 0 ? 0 : nbd_get_errno();
}
int Client::flush() {
  return nbd_flush(handle_, 0) == 0 ? 0 : nbd_get_errno();
}
int Client::zero(std::uint64_t sector, std::uint64_t sectors, std::uint32_t flags) {
  return nbd_zero(handle_, sectors * 512, sector * 512, flags) == 0 ? 0 : nbd_get_errno();
}
int Client::trim(std::uint64_t sector, std::uint64_t sectors, std::uint32_t flags) {
  return nbd_trim(handle_, sectors * 512, sector * 512, flags) == 0 ? 0 : nbd_get_errno();
}
int Client::cache(std::uint64_t sector, std::uint64_t sectors) {
  return nbd_cache(handle_, sectors * 512, sector * 512, 0) == 0 ? 0 : nbd_get_errno();
}

}  // namespace headcrash::nbd
