// Starts children by fork and exec; they die with their parent (process.h).
#include "plugin/base/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>

#include "plugin/base/descriptor.h"

namespace headcrash::base {
namespace {

// Data that the child needs between fork and exec, prepared before the fork. The parent may have
// threads, so the child must restrict itself to system calls.
struct Preparation {
  std::vector<char*> argv;
  // Duplicates of the inherited descriptors, with higher numbers than any that dup2 will use.
  std::vector<int> moved;
  int null = -1, output = -1, errors = -1, failure = -1;
  pid_t parent = -1;
  const Confinement* confinement = nullptr;
};

constexpr unsigned kNobody = 65534;
constexpr std::array<const char*, 3> kBareEnvironment{
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", nullptr};

/// Applies the limits. Returns false on failure; the program must then not be run.
bool confine(const Confinement& confinement) {
  const auto limit = [](auto resource, std::uint64_t most) {
    const rlimit both{most, most};
    return ::setrlimit(resource, &both) == 0;
  };
  // Sets only the soft limit, because xfs_repair fails if it cannot raise this limit. The input
  // files of a confined program cannot grow without bound: they are sealed, or their readers limit
  // the size.
  const rlimit file_size{confinement.file_bytes, RLIM_INFINITY};
  if (!limit(RLIMIT_CPU, static_cast<std::uint64_t>(confinement.cpu.count())) ||
      !limit(RLIMIT_AS, confinement.memory_bytes) || ::setrlimit(RLIMIT_FSIZE, &file_size) != 0 ||
      !limit(RLIMIT_CORE, 0)) {
    return false;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

[[noreturn]] void become(const Preparation& prepared) {
  // Changes the user before the prctl call, because a change of user clears the parent-death
  // signal.
  const bool confined = prepared.confinement == nullptr || confine(*prepared.confinement);
  const int confining = errno;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);  // so that Ctrl-C in a terminal reaches only the harness
  // The parent may have died before the prctl call.
  if (::getppid() != prepared.parent) ::_exit(127);
  ::dup2(prepared.null, STDIN_FILENO);
  ::dup2(prepared.output, STDOUT_FILENO);
  ::dup2(prepared.errors, STDERR_FILENO);
  int next = kFirstInherited;
  for (const int fd : prepared.moved) ::dup2(fd, next++);
  ::dup3(prepared.failure, next, O_CLOEXEC);
  ::syscall(SYS_close_range, static_cast<unsigned>(next + 1), UINT_MAX, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (confined && prepared.confinement != nullptr) {
    ::execvpe(prepared.argv[0], prepared.argv.data(),
              const_cast<char* const*>(kBareEnvironment.data()));
  } else if (confined) {
    ::execvp(prepared.argv[0], prepared.argv.data());
  }
  const int error = confined ? errno : confining;
  [[maybe_unused]] const ssize_t told = ::write(next, &error, sizeof error);
  ::_exit(127);
}

std::string reason(int error) {
  return std::error_code(error, std::generic_category()).message();
}

}  // namespace

Result<Process> Process::start(const ProcessSpec& spec) {
  constexpr int kAbove = 64;
  const std::string& program = spec.argv.at(0);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(program, reason(errno));
  const Descriptor failure_read(ends[0]);
  Descriptor failure_write(::fcntl(ends[1], F_DUPFD_CLOEXEC, kAbove));
  ::close(ends[1]);
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));

  Preparation prepared;
  for (const std::string& word : spec.argv)
    prepared.argv.push_back(const_cast<char*>(word.c_str()));
  prepared.argv.push_back(nullptr);
  std::vector<Descriptor> copies;
  const auto copy = [&](int fd) {
    copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kAbove));
    return copies.back().get();
  };
  prepared.null = copy(null.get());
  prepared.output = copy(spec.output >= 0 ? spec.output : null.get());
  prepared.errors = copy(spec.errors >= 0 ? spec.errors : null.get());
  prepared.failure = failure_write.get();
  for (const int fd : spec.inherit) prepared.moved.push_back(copy(fd));
  prepared.parent = ::getpid();
  prepared.confinement = spec.confinement ? &*spec.confinement : nullptr;

  const pid_t pid = ::fork();
  if (pid < 0) return fail(program, "cannot start a process: " + reason(errno));
  if (pid == 0) become(prepared);
  Process process(pid);
  failure_write.reset();
  int error = 0;
  if (::read(failure_read.get(), &error, sizeof error) == sizeof error) {
    return fail(program, "cannot be started: " + reason(error),
                error == ENOENT ? "run scripts/setup" : "");
  }
  return process;
}

std::optional<int> Process::wait(std::chrono::milliseconds timeout) const {
  if (status_ || pid_ < 0) return status_.value_or(0);
  if (timeout.count() > 0) {
    const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    pollfd watched{.fd = handle.get(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(timeout.count(), INT_MAX)));
  }
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

void Process::kill() {
  if (pid_ < 0 || status_) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = 128 + SIGKILL;
}

}  // namespace headcrash::base
