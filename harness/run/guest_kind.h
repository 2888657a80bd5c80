#pragma once
// The [guest] section in a campaign or benchmark file.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/vm/guest.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"

namespace headcrash::run {

/// The clock name that a server in virtual time reports.
inline constexpr const char* kVirtualClock = "virtual";

/// Parses `kind` of [guest]: "qemu" (real time, the default) or "virtual" (user-mode Linux).
Result<void> parse_guest_kind(const base::StrictTable& guest, bool& virtual_time);

/// Parses `charge` of [guest]: the virtual nanoseconds that the guest's clock advances per
/// nanosecond of host processor time. Leaves `charge` unchanged if the key is absent.
Result<void> parse_charge(const base::StrictTable& guest, bool virtual_time, double& charge);
/// Returns the clock name stored with a trial: "virtual", or "charged:K". Charged times are not
/// reproducible.
std::string virtual_clock(double charge);
inline constexpr double kChargeLeast = 0.001, kChargeMost = 1000;

/// Overrides for the guests, as given in a campaign or benchmark file. Empty members change
/// nothing.
struct OtherGuests {
  std::vector<std::string> kernels;
  std::string kind;
  std::optional<double> charge;
};
Result<std::string> with_guests(const std::string& text, const std::string& file,
                                const OtherGuests& guests);

/// Returns the accelerator for guests of that kind. `cache` stores whether the host supports KVM.
vm::Accelerator accelerator_of(bool virtual_time, const std::filesystem::path& cache);

}  // namespace headcrash::run
