#pragma once
// Creates QEMU's command line for a guest, and the key under which a saved state can be found
// again. Both are generated from the same list of options, so they always agree.

#include <filesystem>
#include <string>
#include <vector>

#include "harness/vm/guest.h"

namespace headcrash::vm {

inline constexpr const char* kQemu = "qemu-system-x86_64";

/// Quotes a value for a key=value list of QEMU, in which commas must be doubled.
std::string quoted_value(const std::string& value);

enum class Disks {
  attached,  ///< use the NBD servers that the spec names
  /// Use disks of zeroes with the sizes in the spec, so that the saved state contains no connection
  /// to a server.
  blank,
};

/// The disks, sockets and console of a QEMU process. Descriptors are numbers in the QEMU process.
struct Wiring {
  Disks disks = Disks::blank;
  int agent_socket = -1;
  int qmp_socket = -1;
  bool incoming = false;            ///< wait for Machine::load_state() instead of booting
  std::filesystem::path console{};  ///< file for the serial console
};

std::vector<std::string> qemu_command(const GuestSpec& spec, const Wiring& wiring);

/// Returns text that contains everything on which a saved state depends.
Result<std::string> saved_state_key(const GuestSpec& spec);

}  // namespace headcrash::vm
