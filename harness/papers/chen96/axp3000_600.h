#pragma once
// The machine of Chen 1996, section 6: a DEC AXP 3000/600 with Digital Unix 3.0 and one RZ26L.
//
//   processor   no cost of a single thing is printed. The table is that of the i486 at 33 MHz (../i486_33.h), divided
//               by one factor, the same in every cell
//   memory      128 MB; "the file cache can grow as large as 80-90 MB": 85 MB
//   drive       dec-rz26l, without a write cache; one request at a time; C-LOOK in the driver
//   requests    what is adjacent is one request of up to 64 KiB, as UFS of that time clusters ([McVoy91])
//   files       ufs, blocks of 8 KiB; metadata goes to the disk each second. A block on its way travels as a copy: where
//               it is locked instead, a writer waits for its inode's block each second, behind all
//               that a reader reads in a row (C-LOOK)

#include "harness/papers/bench.h"
#include "harness/papers/judge.h"

namespace headcrash::experiment::chen96 {

/// Estimate: 114 SPECint92 (AXP 3000/600) by 18 (i486 at 33 MHz), of which memory has less.
inline constexpr double kAxpFasterThanI486 = 5;

inline constexpr std::uint64_t kMb = 1'000'000;

/// For an infinite delay in a timed workload: long after its end, when the machine is waited for to
/// become quiet.
inline constexpr os::TimeNs kLongAfter = 500 * model::kSecondNs;

/// What is adjacent is one request of that size at most.
inline constexpr std::uint32_t kRequestBytes = 64 << 10;

/// With that delay: interval periodic update.
Result<ModelledMachineOptions> axp3000_600(os::TimeNs delay_ns,
                                           std::uint32_t request_bytes = kRequestBytes);

/// That with any system of the registry, on a small disk and with little memory: what a cut loses
/// is asked often.
Result<ModelledMachineOptions> loss_machine(const std::string& type, const std::string& system,
                                            const os::SyncerOptions& syncer, std::uint64_t seed);

/// Megabytes of 10^6.
inline double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMb);
}

}  // namespace headcrash::experiment::chen96
