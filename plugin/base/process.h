#pragma once
// A child process that cannot outlive its owner.
//
// The destructor kills the child and reaps it. The kernel kills the child when the harness itself
// is killed (PR_SET_PDEATHSIG). That signal is bound to the thread that started the process, so the
// thread must live as long as the child is needed. The child has its own process group: Ctrl-C
// reaches only the harness, which shuts its children down in order.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {

/// The child's descriptor number for the first entry of ProcessSpec::inherit; later entries follow
/// consecutively.
inline constexpr int kFirstInherited = 3;

/// Restrictions for a program that handles untrusted data, such as a checker on a damaged image.
/// The program has no privileges, and no environment variables except PATH and LC_ALL=C.
struct Confinement {
  std::chrono::seconds cpu{30};
  std::uint64_t memory_bytes = 1ULL << 30;
  /// Size limit for each written file; the child may raise it.
  std::uint64_t file_bytes = 1ULL << 32;
};

struct ProcessSpec {
  std::vector<std::string> argv{};  ///< argv[0] is searched for in PATH
  int output = -1, errors = -1;     ///< descriptors for stdout and stderr; -1 for /dev/null
  std::vector<int> inherit{};       ///< the child inherits only these descriptors
  std::optional<Confinement> confinement{};
};

class Process {
 public:
  /// Starts the program. The error names the program if it cannot be executed.
  static Result<Process> start(const ProcessSpec& spec);
  ~Process() { kill(); }
  Process(Process&& other) noexcept : pid_(other.pid_), status_(other.status_) { other.pid_ = -1; }
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;

  bool running() const { return !wait(std::chrono::milliseconds(0)).has_value(); }
  /// Returns the exit code, or 128 + the signal that ended the child. Returns nullopt if the child
  /// is still running after the timeout.
  std::optional<int> wait(std::chrono::milliseconds timeout) const;
  /// Sends SIGKILL and reaps the child.
  void kill();
  pid_t pid() const { return pid_; }

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
  mutable std::optional<int> status_;  // set once the child has been reaped
};

}  // namespace headcrash::base
