#pragma once
// QEMU's command line for a guest, and the key that identifies a reusable saved state. Both are
// generated from the same words, so that they cannot diverge.

#include <filesystem>
#include <string>
#include <vector>

#include "harness/vm/guest.h"

namespace headcrash::vm {

inline constexpr const char* kQemu = "qemu-system-x86_64";

/// Quotes a value for QEMU's key=value lists by doubling commas.
std::string quoted_value(const std::string& value);

enum class Disks {
  attached,  ///< use the NBD servers of the spec
  /// use zeroed disks of the same sizes; booting contacts no server, and no server state is saved
  blank,
};

/// The endpoints of this QEMU process. Descriptors are numbers in the child.
struct Wiring {
  Disks disks = Disks::blank;
  int agent_socket = -1;
  int qmp_socket = -1;
  int incoming = -1;                ///< descriptor of the saved state to start from; -1 to boot
  std::filesystem::path console{};  ///< file for the serial console
};

std::vector<std::string> qemu_command(const GuestSpec& spec, const Wiring& wiring);

/// Returns a text of everything that a saved state depends on.
Result<std::string> saved_state_key(const GuestSpec& spec);

}  // namespace headcrash::vm
