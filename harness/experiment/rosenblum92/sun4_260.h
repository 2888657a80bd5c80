#pragma once
// What things cost on the machine of Rosenblum 1992, chapter 6: a Sun-4/260 (8.7 SPECint) with SunOS 4.0.3 or Sprite.
//
// The dissertation prints no cost of a single thing. The table is that of the i486 at 33 MHz (../i486_33.h), all of it
// multiplied by one factor, which is calibrated by one number: Sprite LFS creates "almost ten times" as many files
// a second as SunOS does with one in 60 ms (section 6.2.1.1), about 160, and its processor is busy all the time
// (figure 6-2). The same factor serves every cell, and both kernels: "both systems use about the same amount of
// CPU per file created".

#include "harness/experiment/i486_33.h"

namespace headcrash::experiment::rosenblum92 {

/// Calibrated: see above.
inline constexpr double kSun4SlowerThanI486 = 3.45;

/// All costs `times` as high.
constexpr os::CpuCosts scaled_costs(const os::CpuCosts& costs, double times) {
  const auto scaled = [times](os::TimeNs ns) {
    const double exact = static_cast<double>(ns) * times;
    const auto whole = static_cast<os::TimeNs>(exact);
    return exact - static_cast<double>(whole) < 0.5 ? whole : whole + 1;  // std::lround is not constexpr
  };
  return {{.system_call = scaled(costs.system_call),
           .copy_per_kib = scaled(costs.copy_per_kib),
           .transfer_per_kib = scaled(costs.transfer_per_kib),
           .clear_per_kib = scaled(costs.clear_per_kib),
           .buffer_found = scaled(costs.buffer_found),
           .request_issued = scaled(costs.request_issued),
           .interrupt = scaled(costs.interrupt),
           .process_created = scaled(costs.process_created)},
          {.path_component = scaled(costs.path_component),
           .directory_entry = scaled(costs.directory_entry),
           .inode_changed = scaled(costs.inode_changed),
           .allocation = scaled(costs.allocation),
           .dependency = scaled(costs.dependency)}};
}

inline constexpr os::CpuCosts kSun4 = scaled_costs(kI486At33Mhz, kSun4SlowerThanI486);

}  // namespace headcrash::experiment::rosenblum92
