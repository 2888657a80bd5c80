#pragma once
// QEMU's command line for a guest, and the key that identifies a reusable saved state. Both are
// generated from the same list of options, so that they cannot diverge.

#include <filesystem>
#include <string>
#include <vector>

#include "harness/vm/guest.h"

namespace headcrash::vm {

inline constexpr const char* kQemu = "qemu-system-x86_64";

/// Quotes a value for QEMU's key=value lists by doubling commas.
std::string quoted_value(const std::string& value);

enum class Disks {
  attached,  ///< use the NBD servers in the spec
  /// Use zeroed disks with the same sizes. Booting then contacts no server, and the saved state
  /// contains no server connection.
  blank,
};

/// The endpoints of one QEMU process. Descriptors are numbers in the child process.
struct Wiring {
  Disks disks = Disks::blank;
  int agent_socket = -1;
  int qmp_socket = -1;
  bool incoming = false;            ///< wait for Machine::load_state() instead of booting
  std::filesystem::path console{};  ///< file for the serial console
};

std::vector<std::string> qemu_command(const GuestSpec& spec, const Wiring& wiring);

/// Returns text that contains all inputs on which a saved state depends.
Result<std::string> saved_state_key(const GuestSpec& spec);

}  // namespace headcrash::vm
