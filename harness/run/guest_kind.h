#pragma once
// The key of a campaign's or benchmark's file that says what its guests are.

#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"

namespace headcrash::run {

/// As a server in virtual time calls its clock.
inline constexpr const char* kVirtualClock = "virtual";

/// `kind` of a file's [guest]: "qemu" (real time, the default) or "virtual" (user-mode Linux).
Result<void> take_guest_kind(const base::StrictTable& guest, bool& virtual_time);

}  // namespace headcrash::run
