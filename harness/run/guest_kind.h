#pragma once
// The key of a campaign's or benchmark's file that says what its guests are.

#include <filesystem>

#include "harness/vm/guest.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"

namespace headcrash::run {

/// As a server in virtual time calls its clock.
inline constexpr const char* kVirtualClock = "virtual";

/// `kind` of a file's [guest]: "qemu" (real time, the default) or "virtual" (user-mode Linux).
Result<void> take_guest_kind(const base::StrictTable& guest, bool& virtual_time);

/// What carries out the guests of that kind; the cache keeps what was found out about the host.
vm::Accelerator accelerator_of(bool virtual_time, const std::filesystem::path& cache);

}  // namespace headcrash::run
