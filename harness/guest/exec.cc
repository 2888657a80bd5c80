// Runs one program with limits (exec.h).
#include "harness/guest/exec.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "plugin/base/descriptor.h"

/// clone(2). ThreadSanitizer replaces clone() by a function that does not support CLONE_VM.
/// NOLINTNEXTLINE(bugprone-reserved-identifier): a name of the C library
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

namespace headcrash::guest {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Time to wait after SIGKILL. A process that is stuck in the kernel, for example because a disk
// hangs, does not exit, and must not delay the answer.
constexpr milliseconds kKillGrace{2000};

struct Pipe {
  base::Descriptor read, write;
};

VfsResult<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(Errno{.value = errno});
  return Pipe{.read = base::Descriptor(ends[0]), .write = base::Descriptor(ends[1])};
}

VfsResult<base::Descriptor> input_file(const std::string& text) {
  base::Descriptor file(text.empty() ? ::open("/dev/null", O_RDONLY | O_CLOEXEC)
                                     : ::memfd_create("stdin", MFD_CLOEXEC));
  if (file.get() < 0) return tl::unexpected(Errno{.value = errno});
  for (std::size_t put = 0; put < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + put, text.size() - put);
    if (n <= 0) return tl::unexpected(Errno{.value = n < 0 ? errno : EIO});
    put += static_cast<std::size_t>(n);
  }
  if (!text.empty()) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

struct Child {
  pid_t pid = -1;
  base::Descriptor handle, output, errors;
};

constexpr std::size_t kChildStackBytes = 256 << 10;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

struct Start {
  const Program& program;
  std::vector<char*> argv, environment;
  std::array<int, 3> streams;
  int error = 0;
};

/// Runs in the child: executes the program in a new process group, with the default action for
/// SIGPIPE and no blocked signals. Returns an exit code if that fails.
__attribute__((no_sanitize("thread"))) int become_program(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  ::setpgid(0, 0);
  for (std::size_t i = 0; i < start.streams.size(); ++i)
    ::dup2(start.streams[i], static_cast<int>(i));
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (start.program.enter) start.program.enter();
  if (!start.program.environment.empty()) ::environ = start.environment.data();
  ::execvp(start.argv[0], start.argv.data());
  const int error = errno;
  if (start.program.enter)
    ::dprintf(STDERR_FILENO, "cannot execute %s: %s\n", start.argv[0], std::strerror(error));
  else
    start.error = error;
  return error == ENOENT ? kNotFound : kCannotStart;
}

/// Starts the program. The child shares this process's memory until it executes the program,
/// because copied memory would cause page faults in both processes. Page faults are slow in
/// user-mode Linux. posix_spawn() does the same, but calls sigaction() for each of the 64 signals.
VfsResult<pid_t> start_process(Start& start) {
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(kChildStackBytes);
  char** const own_environment = ::environ;
  const int separate = start.program.enter ? CLONE_NEWPID : 0;
  const pid_t pid = ::__clone(become_program, stack.get() + kChildStackBytes,
                              CLONE_VM | CLONE_VFORK | SIGCHLD | separate, &start);
  const int error = pid < 0 ? errno : start.error;
  ::environ = own_environment;
  if (error == 0) return pid;
  if (pid >= 0) ::waitpid(pid, nullptr, 0);
  return tl::unexpected(Errno{.value = error});
}

VfsResult<Child> spawn(const Program& program) {
  auto input = input_file(program.input);
  auto output = make_pipe();
  auto errors = make_pipe();
  if (!input || !output || !errors) return tl::unexpected(Errno{.value = EMFILE});

  Child child;
  Start start{.program = program,
              .argv = pointers(program.argv),
              .environment = pointers(program.environment),
              .streams = {input->get(), output->write.get(), errors->write.get()}};
  TRY(child.pid, start_process(start));
  child.handle = base::Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  child.output = std::move(output->read);
  child.errors = std::move(errors->read);
  for (const int fd : {child.output.get(), child.errors.get()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return child;
}

// Reads all output that is available, and closes the descriptor at the end of the stream. If the
// program never stops writing, returns after a while, so that the caller can check the time limit.
bool drain(base::Descriptor& from, std::string& kept,
           const std::function<bool(std::string_view)>& on_bytes = {}) {
  std::array<char, 16 << 10> buffer;
  for (int round = 0; round < 64 && from.get() >= 0; ++round) {
    const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return true;
    if (n == 0) from.reset();
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
    kept.append(bytes);
    if (kept.size() > 2 * kKeptOutputBytes) kept.erase(0, kept.size() - kKeptOutputBytes);
    if (on_bytes && !bytes.empty() && !on_bytes(bytes)) return false;
  }
  return true;
}

/// Returns true if this process becomes the parent of orphans, that is, if it is process 1 or a
/// subreaper.
bool adopts_orphans() {
  int asked = 0;
  return ::getpid() == 1 || (::prctl(PR_GET_CHILD_SUBREAPER, &asked) == 0 && asked != 0);
}

/// Returns a descriptor that becomes readable when any child exits. The caller can then reap
/// orphans while a program runs, because some programs wait until an orphan has disappeared.
/// Returns -1 if orphans do not become children of this process.
int orphans_end() {
  static const base::Descriptor ends = [] {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &child, nullptr);
    return base::Descriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  }();
  return adopts_orphans() ? ends.get() : -1;
}

/// Reaps all children that have exited, except `kept`, whose exit status the caller still needs.
void reap_orphans(pid_t kept = -1) {
  if (!adopts_orphans()) return;
  signalfd_siginfo info{};
  while (::read(orphans_end(), &info, sizeof info) == sizeof info) continue;
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (ended.si_pid == kept) return;  // the caller reaps this child; later calls reap the rest
    ::waitpid(ended.si_pid, nullptr, 0);
  }
}

using OnOutput = std::function<bool(std::string_view)>;

/// Waits for the child. Returns true if it has exited. Returns false if the deadline has passed or
/// on_output has returned false.
bool watch(Child& child, ProgramEnd& end, Clock::time_point deadline,
           const OnOutput& on_output = {}) {
  for (;;) {
    std::array<pollfd, 4> watched{
        pollfd{child.handle.get(), POLLIN, 0}, pollfd{child.output.get(), POLLIN, 0},
        pollfd{child.errors.get(), POLLIN, 0}, pollfd{orphans_end(), POLLIN, 0}};
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    ::poll(watched.data(), watched.size(),
           static_cast<int>(std::min<std::int64_t>(left, 1'000'000)));
    if (!drain(child.output, end.output, on_output)) {
      end.refused = true;
      return false;
    }
    drain(child.errors, end.errors);
    if (watched[3].revents != 0) reap_orphans(child.pid);
    if ((watched[0].revents & POLLIN) != 0) return true;
  }
}

void keep_tail(std::string& text) {
  if (text.size() > kKeptOutputBytes) text.erase(0, text.size() - kKeptOutputBytes);
}

}  // namespace

VfsResult<ProgramEnd> run_program(const Program& program) {
  if (program.argv.empty()) return tl::unexpected(Errno{.value = EINVAL});
  reap_orphans();
  const auto start = Clock::now();
  TRY(auto child, spawn(program));

  ProgramEnd end;
  bool ended = watch(child, end, start + program.timeout, program.on_output);
  if (!ended) {
    end.timed_out = !end.refused;
    ::kill(-child.pid, SIGKILL);
    ended = watch(child, end, Clock::now() + kKillGrace);
  }
  int status = 0;
  if (ended && ::waitpid(child.pid, &status, 0) == child.pid && WIFEXITED(status)) {
    end.exit = WEXITSTATUS(status);
  } else {
    end.exit = 128 + (ended && WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
  }
  keep_tail(end.output);
  keep_tail(end.errors);
  end.wall_ms = std::chrono::duration_cast<milliseconds>(Clock::now() - start).count();
  return end;
}

}  // namespace headcrash::guest
