#pragma once
// The machine of Chen 1996, section 6: a DEC AXP 3000/600 with Digital Unix 3.0 and one RZ26L.
//
//   processor   the paper does not give the costs of single operations. The table is that of the
//               i486 at 33 MHz (../i486_33.h), divided by one factor for all cells
//   memory      128 MB. The file cache is 85 MB, because "the file cache can grow as large as
//               80-90 MB"
//   drive       dec-rz26l, without a write cache; C-LOOK in the driver
//   requests    adjacent blocks form one request of up to 64 KiB, like the clusters of UFS at the
//               time ([McVoy91])
//   files       ufs with blocks of 8 KiB; metadata is written every second
//
// The paper does not say how many commands the drive has at once, nor whether a process waits for a
// block that is being written. Two readings are therefore run and judged:
//
//   one command    one request at a time. A block in flight is copied, so no writer waits for it
//   queue          the drive has up to eight commands, receives the data of the next write while it
//                  writes (it has a second buffer segment for this), and serves them in C-LOOK
//                  order. A block in flight is locked, and a process that changes it waits, as in
//                  4.3BSD, from which the system descends: its asynchronous write leaves the buffer
//                  busy until the disk is done, and getblk() sleeps on a busy buffer ([Leffler89]).
//                  Digital Unix describes each SCSI drive and its tagged commands to its CAM driver
//                  (ddr.dbase(4), earlier cam_data.c). It is unknown whether version 3.0 used
//                  them with an RZ26L, and how many; the part `writes` also shows 2 and 32

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

/// The two interpretations of what the paper says about its machine (see above).
enum class Reading : std::uint8_t { one_command, queue };
/// Returns the end of a claim's title: empty, or "; the drive queues commands, ...".
const char* in_title(Reading reading);
/// Returns the id of a claim in this reading: "CH-12", or "CH-12, queue".
std::string id_of(const char* claim, Reading reading);

inline constexpr std::uint32_t kQueuedCommands = 8;

/// Returns the machine with interval periodic update and the given write delay.
Result<ModelledMachineOptions> axp3000_600(os::TimeNs delay_ns,
                                           Reading reading = Reading::one_command);
/// Gives the drive a queue of `commands` and a second segment for written data.
void queue_commands(ModelledMachineOptions& machine, std::uint32_t commands);

/// Returns a machine for loss measurements. It can mount any system in the registry. The disk and
/// memory are small, so that many measurements take little time.
Result<ModelledMachineOptions> loss_machine(const std::string& type, const std::string& system,
                                            const os::SyncerOptions& syncer, std::uint64_t seed);

/// Converts bytes to megabytes (10^6 bytes).
inline double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMb);
}

}  // namespace headcrash::experiment::chen96
