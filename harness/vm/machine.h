#pragma once
// One running QEMU with its two conversations (agent, QMP) and its two logs (the guest's console, QEMU's own
// words).

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

class Machine {
 public:
  /// Starts QEMU and greets its QMP.
  static Result<std::unique_ptr<Machine>> launch(const GuestSpec& spec, const Launch& launch);
  /// Kills QEMU and removes the two logs.
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  base::Process& process() { return process_; }
  const base::Process& process() const { return process_; }
  base::JsonSocket& agent() { return agent_; }
  Qmp& qmp() { return qmp_; }
  std::string console() const;
  /// What QEMU printed.
  std::string log() const;

  /// Asks the agent for `hello`; true when it answers in time.
  bool says_hello(std::chrono::milliseconds timeout);
  /// An error about this machine with what QEMU and the console said last.
  tl::unexpected<Error> failed(const std::string& what, const std::string& remedy = {}) const;

 private:
  Machine(base::Process process, base::JsonSocket agent, base::JsonSocket qmp, std::filesystem::path scratch);

  base::Process process_;
  base::JsonSocket agent_;
  Qmp qmp_;
  std::filesystem::path scratch_;
};

/// The last lines of a text.
std::string last_lines(const std::string& text, std::size_t lines);

}  // namespace headcrash::vm
