#pragma once
// What a campaign's or benchmark's file says of its guests.

#include <filesystem>
#include <string>
#include <vector>

#include "harness/vm/guest.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"

namespace headcrash::run {

/// As a server in virtual time calls its clock.
inline constexpr const char* kVirtualClock = "virtual";

/// `kind` of a file's [guest]: "qemu" (real time, the default) or "virtual" (user-mode Linux).
Result<void> take_guest_kind(const base::StrictTable& guest, bool& virtual_time);

/// The text of a campaign's or benchmark's file with other kernels and another kind of guest than its own; those that are
/// empty stay.
Result<std::string> with_guests(const std::string& text, const std::string& file,
                                const std::vector<std::string>& kernels, const std::string& kind);

/// What carries out the guests of that kind; the cache keeps what was found out about the host.
vm::Accelerator accelerator_of(bool virtual_time, const std::filesystem::path& cache);

}  // namespace headcrash::run
