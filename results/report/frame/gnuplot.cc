// Runs gnuplot. One pipe carries the script; two others carry gnuplot's output and errors back. A
// single poll loop serves all three pipes until they are closed, so that neither process can block
// the other forever. `-d` disables the user's own gnuplot settings.
#include "results/report/frame/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace headcrash::report {
namespace {

constexpr std::size_t kErrorBytes = 4096;

struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool ok() const { return ends[0] >= 0; }
  void close_end(std::size_t end) {
    if (ends.at(end) >= 0) close(ends.at(end));
    ends.at(end) = -1;
  }
};

/// Ignores SIGPIPE, which would kill this process if gnuplot exited before it had read the script.
class NoSigpipe {
 public:
  NoSigpipe() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before_);
  }
  ~NoSigpipe() { sigaction(SIGPIPE, &before_, nullptr); }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  struct sigaction before_ = {};
};

/// Returns the error on one line. gnuplot points to a position in the line above by means of
/// blanks, so runs of blanks are reduced to one.
std::string first_words(const std::string& errors) {
  std::string line;
  for (const char c : errors) {
    const bool gap = c == '\n' || c == '\t' || c == ' ';
    if (!gap) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line.substr(0, 400);
}

enum class Outcome { done, too_long, too_much };

class Conversation {
 public:
  Conversation(Pipe& in, Pipe& out, Pipe& err, const std::string& script,
               const GnuplotLimits& limits)
      : in_(in), out_(out), err_(err), script_(script), limits_(limits) {}

  Outcome run() {
    const auto deadline = std::chrono::steady_clock::now() + limits_.time;
    while (out_.ends[0] >= 0 || err_.ends[0] >= 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) return Outcome::too_long;
      std::array<pollfd, 3> fds = {pollfd{in_.ends[1], POLLOUT, 0}, pollfd{out_.ends[0], POLLIN, 0},
                                   pollfd{err_.ends[0], POLLIN, 0}};
      if (poll(fds.data(), fds.size(), static_cast<int>(left.count())) < 0 && errno != EINTR)
        return Outcome::done;
      if (fds[0].revents != 0) feed();
      if (fds[1].revents != 0) take(out_, output, limits_.output_bytes + 1);
      if (fds[2].revents != 0) take(err_, errors, kErrorBytes);
      if (output.size() > limits_.output_bytes) return Outcome::too_much;
    }
    return Outcome::done;
  }

  std::string output, errors;

 private:
  void feed() {
    const auto n = write(in_.ends[1], script_.data() + fed_, script_.size() - fed_);
    if (n > 0) fed_ += static_cast<std::size_t>(n);
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || fed_ == script_.size()) in_.close_end(1);
  }
  static void take(Pipe& from, std::string& to, std::size_t at_most) {
    std::array<char, 65536> buffer;
    const auto n = read(from.ends[0], buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) return from.close_end(0);
    to.append(buffer.data(),
              std::min(static_cast<std::size_t>(n), at_most - std::min(at_most, to.size())));
  }

  Pipe &in_, &out_, &err_;
  const std::string& script_;
  const GnuplotLimits& limits_;
  std::size_t fed_ = 0;
};

Result<pid_t> start(const GnuplotLimits& limits, const Pipe& in, const Pipe& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  std::string program = limits.program, defaults = "-d";
  std::array<char*, 3> arguments = {program.data(), defaults.data(), nullptr};
  pid_t pid = -1;
  const int code =
      posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code == 0) return pid;
  if (code == ENOENT) return fail(program, "is not installed", "install it (Debian: gnuplot-nox)");
  return fail(program, "cannot be started: " + std::generic_category().message(code));
}

}  // namespace

Result<std::string> run_gnuplot(const std::string& script, const GnuplotLimits& limits) {
  const NoSigpipe quiet;
  Pipe in, out, err;
  if (!in.ok() || !out.ok() || !err.ok())
    return fail(limits.program, "cannot be started: too many open files");
  TRY(const auto pid, start(limits, in, out, err));
  in.close_end(0);
  out.close_end(1);
  err.close_end(1);
  fcntl(in.ends[1], F_SETFL, O_NONBLOCK);

  Conversation conversation(in, out, err, script, limits);
  const Outcome outcome = conversation.run();
  if (outcome != Outcome::done) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (outcome == Outcome::too_long) {
    return fail(limits.program, fmt::format("timed out after {} s", limits.time.count() / 1000.0));
  }
  if (outcome == Outcome::too_much) {
    return fail(limits.program, fmt::format("wrote more than {} bytes", limits.output_bytes));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(limits.program, "failed: " + first_words(conversation.errors));
  }
  return std::move(conversation.output);
}

}  // namespace headcrash::report
