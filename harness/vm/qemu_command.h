#pragma once
// QEMU's command line for a guest, and the key under which its saved state may be used again: both
// come from the same words, so that nothing can change in one without the other.

#include <filesystem>
#include <string>
#include <vector>

#include "harness/vm/guest.h"

namespace headcrash::vm {

inline constexpr const char* kQemu = "qemu-system-x86_64";

/// A value for QEMU's key=value lists, where a comma is doubled.
std::string quoted_value(const std::string& value);

enum class Disks {
  attached,  ///< the NBD servers of the spec
  /// zeroes of the same size: booting touches no server, and nothing of it is in a saved state
  blank,
};

/// Where this QEMU's ends of things are. Descriptors are numbers in the child.
struct Wiring {
  Disks disks = Disks::blank;
  int agent_socket = -1;
  int qmp_socket = -1;
  int incoming = -1;                ///< a saved state to start from; -1: boot
  std::filesystem::path console{};  ///< file that takes the serial console
};

std::vector<std::string> qemu_command(const GuestSpec& spec, const Wiring& wiring);

/// Everything that a saved state depends on, as text.
Result<std::string> saved_state_key(const GuestSpec& spec);

}  // namespace headcrash::vm
