#pragma once
// The machine of Soares, Krieger and Da Silva 2003, section IV: a Pentium 4 at 2.0 GHz with Linux
// 2.4.22.
//
//   processor   the paper does not give costs of single operations. The table is that of the i486
//               at 33 MHz (../i486_33.h), divided by one factor for all cells. The factor is
//               rounded and calibrated with a single number: KFS runs dbench for one client at
//               291.108 MB/s (table II), without using the disk. With a factor of 150, the result
//               is 303 MB/s
//   memory      628 MiB, but 64 MiB in the benchmark with empty files, as printed. An estimated
//               28 MiB of this is for the kernel, programs and other pages. Names and inodes in
//               memory are not charged. To estimate their effect, some rows have less memory
//   drive       the whole ibm-60g. Its write cache is on, as delivered, and Linux 2.4 sends no
//               flushes, so a completed write may be only in the cache. This is our assumption; the
//               paper does not mention it. Each load also has rows for the two other settings of
//               WriteCache
//   requests    one at a time (ATA); C-LOOK; adjacent blocks form one request of up to 124 KiB,
//               which is the largest number of whole blocks in the 255 sectors of Linux's driver
//   kupdate     "wakes up every 30 seconds, and starts sweeping the queue for dirty buffers"
//               (III-B): writes all dirty buffers every 30 s. A block in flight is copied, because
//               Linux may change a block while it is being written
//
// All four systems have blocks of 4 KiB. ext2 and ext3 share one format; KFS and KFS+snap share
// another one, which has similar inodes and directories, but places them differently. The cost of
// consistency is therefore shown only by comparing ext2 with ext3, and KFS with KFS+snap.
//
//   ext2        ufs, unordered; a directory's files are in its cylinder group
//   ext3        ufs with a metadata journal of 32 MiB, ordered, committed every 5 s
//   KFS         snapfs with metadata in place, written by kupdate
//   KFS+snap    snapfs; each generation is spawned 10 s after the first change since the last one.
//               File data is in place and unordered, because the paper includes metadata and
//               directories in snapshots, and does not mention file data
//   KFS+snap, ordered    the other interpretation: data is written before the superblock of its
//                        generation
//
// Section VI also names soft updates and LFS, which the paper does not run. The part `intervals`
// runs ours: ufs with soft updates in the format of ext2, and LFS, which writes what is an interval
// old and makes a checkpoint once per interval.

#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/snapfs/file_system.h"
#include "harness/papers/cells.h"

namespace headcrash::experiment::soares03 {

/// Calibrated: see above.
inline constexpr double kPentium4FasterThanI486 = 150;

inline constexpr std::uint64_t kMib = 1 << 20;
inline constexpr std::uint64_t kMemoryBytes = 628 * kMib, kLittleMemoryBytes = 64 * kMib;
inline constexpr std::uint64_t kNotForFilesBytes = 28 * kMib;

enum class System : std::uint8_t { ext2, ext3, kfs, snap, snap_ordered, soft_updates, lfs };
inline constexpr System kAllSystems[] = {System::ext2, System::ext3, System::kfs, System::snap,
                                         System::snap_ordered};
/// The systems of the paper's tables.
inline constexpr System kPrintedSystems[] = {System::ext2, System::ext3, System::kfs, System::snap};
const char* name(System system);

enum class WriteCache : std::uint8_t { believed, off, flushed };
/// The settings other than `believed`, which is the setting that the paper is assumed to use.
inline constexpr WriteCache kOtherWriteCaches[] = {WriteCache::off, WriteCache::flushed};

struct MachineChoice {
  std::uint64_t memory_bytes = kMemoryBytes;
  /// Interval of all timed writes. nullopt selects the intervals printed in the paper: 30 s for
  /// kupdate, 5 s for ext3, and 10 s for KFS+snap.
  std::optional<std::uint32_t> interval_s = {};
  WriteCache write_cache = WriteCache::believed;
  double processor = 1;  ///< speed relative to the assumed processor
  std::optional<std::uint64_t> partition_bytes = {};
  std::uint64_t journal_bytes = 32 * kMib;  ///< size of the journal of ext3
};

/// Returns the setup. Its name is, for example, "KFS+snap" or "ext3; every 10 s; write cache off".
Setup setup_of(System system, const MachineChoice& choice = {});
Setup snapfs_setup(std::string name, const snapfs::MountOptions& mount,
                   const MachineChoice& choice = {});

/// Returns the snapfs store that is mounted on a machine of this paper, or null if the machine uses
/// ufs.
const snapfs::Store* snapshots_of(ModelledMachine& machine);

}  // namespace headcrash::experiment::soares03
