#pragma once
// The machine of Chen 1996, section 6: a DEC AXP 3000/600 with Digital Unix 3.0 and one RZ26L.
//
//   processor   the paper does not give the costs of single operations. The table is that of the
//               i486 at 33 MHz (../i486_33.h), divided by one factor for all cells
//   memory      128 MB. The file cache is 85 MB, because "the file cache can grow as large as
//               80-90 MB"
//   drive       dec-rz26l, without a write cache; one request at a time; C-LOOK in the driver
//   requests    adjacent blocks form one request of up to 64 KiB, like the clusters of UFS at the
//               time ([McVoy91])
//   files       ufs with blocks of 8 KiB; metadata is written every second. A block in flight is
//               copied: if it were locked, a writer would wait for the block of its inode every
//               second, behind all sequential reads (C-LOOK)

#include "harness/papers/judge.h"
#include "harness/papers/loaded_machine.h"

namespace headcrash::experiment::chen96 {

/// Estimate. The ratio of the integer speeds is 6.3: 114 SPECint92 (AXP 3000/600) to 18 (i486 at 33
/// MHz). We assume less, because the memory speeds differ less.
inline constexpr double kAxpFasterThanI486 = 5;

inline constexpr std::uint64_t kMb = 1'000'000;

/// Represents an infinite delay. No timed workload lasts this long, but the delay must be finite so
/// that the machine eventually becomes idle.
inline constexpr os::TimeNs kLongAfter = 500 * model::kSecondNs;

/// Maximum size of a request that combines adjacent blocks.
inline constexpr std::uint32_t kRequestBytes = 64 << 10;

/// Returns the machine with interval periodic update and the given write delay.
Result<ModelledMachineOptions> axp3000_600(os::TimeNs delay_ns,
                                           std::uint32_t request_bytes = kRequestBytes);

/// Returns a machine for loss measurements. It can mount any system in the registry. The disk and
/// memory are small, so that many measurements take little time.
Result<ModelledMachineOptions> loss_machine(const std::string& type, const std::string& system,
                                            const os::SyncerOptions& syncer, std::uint64_t seed);

/// Converts bytes to megabytes (10^6 bytes).
inline double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMb);
}

}  // namespace headcrash::experiment::chen96
