#pragma once
// The costs of operations on the machine of Rosenblum 1992, chapter 6: a Sun-4/260 (8.7 SPECint)
// with SunOS 4.0.3 or Sprite.
//
// The dissertation does not give costs of single operations. The table is that of the i486 at 33
// MHz (../i486_33.h), multiplied by one factor. The factor was calibrated with a single number:
// Sprite LFS creates "almost ten times" as many files per second as SunOS, which needs 60 ms per
// file (section 6.2.1.1). This is about 160 files per second, with a busy processor (figure 6-2).
// The factor is the same for all cells and for both kernels, because "both systems use about the
// same amount of CPU per file created".

#include "harness/papers/i486_33.h"

namespace headcrash::experiment::rosenblum92 {

/// Calibrated: see above.
inline constexpr double kSun4SlowerThanI486 = 3.45;

inline constexpr os::CpuCosts kSun4 = scaled_costs(kI486At33Mhz, kSun4SlowerThanI486);

}  // namespace headcrash::experiment::rosenblum92
