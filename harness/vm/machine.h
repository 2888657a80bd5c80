#pragma once
// One running guest's process with its conversation with the agent and its two logs (the guest's
// console, the program's own words): QEMU, which has another conversation (QMP), or user-mode
// Linux.

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
  int incoming = -1;              ///< descriptor of a saved state
  std::filesystem::path scratch;  ///< takes console.log and qemu.log
};

/// The files that a guest's process writes into, in its scratch folder.
std::filesystem::path console_in(const std::filesystem::path& scratch);
std::filesystem::path log_in(const std::filesystem::path& scratch);

class GuestProcess {
 public:
  /// `program`: what it is called in errors.
  GuestProcess(std::string program, base::Process process, base::JsonSocket agent,
               std::filesystem::path scratch);
  /// Kills it and removes the two logs.
  virtual ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  base::Process& process() { return process_; }
  const base::Process& process() const { return process_; }
  base::JsonSocket& agent() { return agent_; }
  void kill();
  std::string console() const;
  /// What the program printed.
  std::string log() const;

  /// Asks the agent for `hello`; true when it answers in time. A guest that has ended is not waited
  /// for.
  bool says_hello(std::chrono::milliseconds timeout);
  /// An error about this machine with what QEMU and the console said last.
  tl::unexpected<Error> failed(const std::string& what, const std::string& hint = {}) const;

 private:
  std::string program_;
  base::Process process_;
  base::JsonSocket agent_;
  std::filesystem::path scratch_;
};

class Machine : public GuestProcess {
 public:
  /// Starts QEMU and greets its QMP.
  static Result<std::unique_ptr<Machine>> launch(const GuestSpec& spec, const Launch& launch);
  Qmp& qmp() { return qmp_; }

 private:
  Machine(base::Process process, base::JsonSocket agent, base::JsonSocket qmp,
          std::filesystem::path scratch);

  Qmp qmp_;
};

/// The last lines of a text.
std::string last_lines(const std::string& text, std::size_t lines);

}  // namespace headcrash::vm
