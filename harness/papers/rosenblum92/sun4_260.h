#pragma once
// What things cost on the machine of Rosenblum 1992, chapter 6: a Sun-4/260 (8.7 SPECint) with
// SunOS 4.0.3 or Sprite.
//
// The dissertation prints no cost of a single thing. The table is that of the i486 at 33 MHz
// (../i486_33.h), all of it multiplied by one factor, which is calibrated by one number: Sprite LFS
// creates "almost ten times" as many files a second as SunOS does with one in 60 ms (section
// 6.2.1.1), about 160, and its processor is busy all the time (figure 6-2). The same factor serves
// every cell, and both kernels: "both systems use about the same amount of CPU per file created".

#include "harness/papers/i486_33.h"

namespace headcrash::experiment::rosenblum92 {

/// Calibrated: see above.
inline constexpr double kSun4SlowerThanI486 = 3.45;

inline constexpr os::CpuCosts kSun4 = scaled_costs(kI486At33Mhz, kSun4SlowerThanI486);

}  // namespace headcrash::experiment::rosenblum92
