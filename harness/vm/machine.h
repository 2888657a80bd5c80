#pragma once
// The process of a running guest, its connection to the agent, and its two logs: the guest's
// console and the program's own output. The process is either user-mode Linux or QEMU; QEMU has an
// additional connection (QMP).

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/vm/qemu_command.h"
#include "harness/vm/qmp.h"
#include "plugin/base/json_socket.h"
#include "plugin/base/process.h"

namespace headcrash::vm {

struct Launch {
  Disks disks = Disks::blank;
  int incoming = -1;              ///< descriptor of the saved state for load_state(); -1 to boot
  std::filesystem::path scratch;  ///< directory for console.log and qemu.log
};

/// Return the paths of the guest's console log and of its process's log in `scratch`.
std::filesystem::path console_in(const std::filesystem::path& scratch);
std::filesystem::path log_in(const std::filesystem::path& scratch);

class GuestProcess {
 public:
  /// `program` is the name that error messages use for the process.
  GuestProcess(std::string program, base::Process process, base::JsonSocket agent,
               std::filesystem::path scratch);
  /// Kills the process and removes the two logs.
  virtual ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  base::Process& process() { return process_; }
  const base::Process& process() const { return process_; }
  base::JsonSocket& agent() { return agent_; }
  void kill();
  std::string console() const;
  /// Returns the output of the process (QEMU or user-mode Linux), without the guest's console.
  std::string log() const;

  /// Sends `hello` to the agent. Returns true if the agent answers before the timeout. If the guest
  /// has exited, returns false without waiting.
  bool says_hello(std::chrono::milliseconds timeout);
  /// Returns one line about a guest that no longer answers: its exit status (128 + the signal that
  /// ended it), and the last output of the program and of the console. Waits up to a second for the
  /// process to exit.
  std::string end() const;
  /// Returns an error about this guest that quotes the last output of the program and of the
  /// console.
  tl::unexpected<Error> failed(const std::string& what, const std::string& hint = {}) const;

 private:
  std::string program_;
  base::Process process_;
  base::JsonSocket agent_;
  std::filesystem::path scratch_;
};

class Machine : public GuestProcess {
 public:
  /// Starts QEMU and completes the QMP handshake.
  static Result<std::unique_ptr<Machine>> launch(const GuestSpec& spec, const Launch& launch);
  Qmp& qmp() { return qmp_; }
  /// Begins to load the saved state that `Launch::incoming` refers to.
  Result<void> load_state(std::chrono::milliseconds timeout);

 private:
  Machine(base::Process process, base::JsonSocket agent, base::JsonSocket qmp,
          std::filesystem::path scratch);

  Qmp qmp_;
};

std::string last_lines(const std::string& text, std::size_t lines);

}  // namespace headcrash::vm
