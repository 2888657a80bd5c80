#pragma once
// A child process that cannot outlive its owner.
//
// The destructor kills it and waits for it, so that no zombie stays; and the kernel kills it when
// the harness itself is killed (PR_SET_PDEATHSIG). The latter is bound to the thread that started
// the process: that thread must live as long as the process is needed. It has a process group of
// its own: what a terminal sends on Ctrl-C reaches the harness only, which ends what it has begun
// in order.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {

/// The first entry of ProcessSpec::inherit is this descriptor in the child, the next one more, ...
inline constexpr int kFirstInherited = 3;

/// For a program that works on what nobody trusts (a checker on a damaged image): no privileges, no
/// environment but PATH and LC_ALL=C, and limits.
struct Confinement {
  std::chrono::seconds cpu{30};
  std::uint64_t memory_bytes = 1ULL << 30;
  std::uint64_t file_bytes =
      1ULL << 32;  ///< of one file that it writes, unless it lifts this itself
};

struct ProcessSpec {
  std::vector<std::string> argv{};  ///< argv[0] is looked up in PATH
  int output = -1, errors = -1;     ///< descriptors for stdout and stderr; -1 is /dev/null
  std::vector<int> inherit{};       ///< all others are closed in the child
  std::optional<Confinement> confinement{};
};

class Process {
 public:
  /// Fails, naming the program, when it cannot be executed.
  static Result<Process> start(const ProcessSpec& spec);
  ~Process() { kill(); }
  Process(Process&& other) noexcept : pid_(other.pid_), status_(other.status_) { other.pid_ = -1; }
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;

  bool running() const { return !wait(std::chrono::milliseconds(0)).has_value(); }
  /// The exit code, or 128 + signal; nothing when it still runs after the timeout.
  std::optional<int> wait(std::chrono::milliseconds timeout) const;
  /// SIGKILL, then waits for the end.
  void kill();
  pid_t pid() const { return pid_; }

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
  mutable std::optional<int> status_;  // once known, the process is no longer a zombie
};

}  // namespace headcrash::base
