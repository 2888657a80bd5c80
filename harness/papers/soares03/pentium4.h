#pragma once
// The machine of Soares, Krieger and Da Silva 2003, section IV: a Pentium 4 at 2.0 GHz with Linux
// 2.4.22.
//
//   processor   no cost of a single thing is printed. The table is that of the i486 at 33 MHz (../i486_33.h), divided by
//               one factor, the same in every cell, which is calibrated by one number, to a round
//               factor: KFS plays dbench for one client at 291.108 MB/s (table II), which the disk
//               has no part in; with 150 it is 303
//   memory      628 MiB, and 64 MiB for the files without data, as printed. 28 MiB of them are kernel, programs and
//               pages that are not a file's: estimate; what names and inodes in core take is not
//               charged, but see the rows with less
//   drive       ibm-60g, all of it. Its write cache is on, as such drives were delivered, and Linux 2.4 sends it no
//               flushes: what the drive says is complete is believed. The paper says nothing of it:
//               assumed. WriteCache has the other two, and each load has rows with them
//   requests    one at a time (ATA); C-LOOK; what is adjacent is one request of up to 124 KiB, whole blocks below the
//               255 sectors of Linux's driver
//   kupdate     "wakes up every 30 seconds, and starts sweeping the queue for dirty buffers" (III-B): all that is dirty,
//               each 30 s. A block on its way travels as a copy, since Linux changes a block while
//               it is being written
//
// The four systems, with blocks of 4 KiB, on two formats: KFS has inodes and directories as ext2's,
// but its own places for them, so that only KFS and KFS+snap, and ext2 and ext3, say anything of
// consistency.
//
//   ext2        ufs, nothing ordered; a directory's files in its cylinder group
//   ext3        ufs with a journal of metadata, ordered, committed each 5 s, of 32 MiB
//   KFS         snapfs with metadata in place, written when kupdate comes
//   KFS+snap    snapfs, a generation 10 s after the first change since the last; file data in place and unordered: the
//               paper takes metadata and directories into snapshots, and says of file data nothing
//   KFS+snap, ordered    data before the superblock of their generation: the other reading

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

enum class System : std::uint8_t { ext2, ext3, kfs, snap, snap_ordered };
inline constexpr System kAllSystems[] = {System::ext2, System::ext3, System::kfs, System::snap,
                                         System::snap_ordered};
/// Those of the paper's tables.
inline constexpr System kPrintedSystems[] = {System::ext2, System::ext3, System::kfs, System::snap};
const char* name(System system);

enum class WriteCache : std::uint8_t { believed, off, flushed };
/// Than the one that the paper's machine is assumed to have.
inline constexpr WriteCache kOtherWriteCaches[] = {WriteCache::off, WriteCache::flushed};

struct MachineChoice {
  std::uint64_t memory_bytes = kMemoryBytes;
  /// Of all that is written by time, in each system; nothing: as printed, 30 s of kupdate, 5 s of
  /// ext3 and 10 s of KFS+snap.
  std::optional<std::uint32_t> interval_s = {};
  WriteCache write_cache = WriteCache::believed;
  double processor = 1;  ///< times as fast
  std::optional<std::uint64_t> partition_bytes = {};
  std::uint64_t journal_bytes = 32 * kMib;  ///< of ext3
};

/// "KFS+snap", "ext3; each 10 s; write cache off".
Setup setup_of(System system, const MachineChoice& choice = {});
/// With options of its own.
Setup snapfs_setup(std::string name, const snapfs::MountOptions& mount,
                   const MachineChoice& choice = {});

/// Of what such a machine has mounted; null when that is ufs.
const snapfs::Store* snapshots_of(ModelledMachine& machine);

}  // namespace headcrash::experiment::soares03
