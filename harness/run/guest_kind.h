#pragma once
// What a campaign's or benchmark's file says of its guests.

#include <filesystem>
#include <optional>
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

/// `charge` of a file's [guest]: what a nanosecond of the host's processor counts in virtual time;
/// absent: `charge` stays.
Result<void> take_charge(const base::StrictTable& guest, bool virtual_time, double& charge);
/// As the clock of a trial in the database: "virtual", or "charged:K", whose times are not the same
/// twice.
std::string virtual_clock(double charge);
inline constexpr double kChargeLeast = 0.001, kChargeMost = 1000;

/// Of the guests of a campaign's or benchmark's file, what is asked for in place of the file's own
/// words; the rest stays.
struct OtherGuests {
  std::vector<std::string> kernels;
  std::string kind;
  std::optional<double> charge;
};
Result<std::string> with_guests(const std::string& text, const std::string& file,
                                const OtherGuests& guests);

/// What carries out the guests of that kind; the cache keeps what was found out about the host.
vm::Accelerator accelerator_of(bool virtual_time, const std::filesystem::path& cache);

}  // namespace headcrash::run
