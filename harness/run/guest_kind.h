#pragma once
// The table [guest] of a campaign or benchmark file.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/vm/guest.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"

namespace headcrash::run {

/// The clock name that servers report if they run in virtual time.
inline constexpr const char* kVirtualClock = "virtual";

/// Parses the key `kind` of [guest]: "qemu" (real time, the default) or "virtual" (user-mode
/// Linux).
Result<void> parse_guest_kind(const base::StrictTable& guest, bool& virtual_time);

/// Parses the key `charge` of [guest]: virtual nanoseconds that are charged to the guest's clock
/// for each nanosecond of host processor time. Leaves `charge` unchanged if the key is absent.
Result<void> parse_charge(const base::StrictTable& guest, bool virtual_time, double& charge);
/// Returns the name of the clock, which is stored with a trial: "virtual", or "charged:K" if the
/// guest's clock also advances with the host's processor time. In the latter case, times are not
/// reproducible.
std::string virtual_clock(double charge);
inline constexpr double kChargeLeast = 0.001, kChargeMost = 1000;

/// Settings that override the settings in a campaign or benchmark file. Empty members override
/// nothing.
struct OtherGuests {
  std::vector<std::string> kernels;
  std::string kind;
  std::optional<double> charge;
};
Result<std::string> with_guests(const std::string& text, const std::string& file,
                                const OtherGuests& guests);

/// Returns the accelerator for guests of this kind. The directory `cache` stores whether the host
/// supports KVM.
vm::Accelerator accelerator_of(bool virtual_time, const std::filesystem::path& cache);

}  // namespace headcrash::run
