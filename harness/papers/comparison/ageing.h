#pragma once
// Ages a disk: fills it, and then removes and creates files until its contents have been rewritten
// several times.
//
// The used space is the number that the file system reports (df). If a format has more metadata, or
// whole blocks instead of fragments, fewer files are therefore needed to reach the same level.
// Sizes are those of rosenblum92/ageing.h: log-normal with a mean of 23 KB, half of the files below
// 2 KB (Irlam 1993), and no file above a megabyte. In rosenblum92/ageing.h, a new file has the size
// and the directory of the file that it replaces. Here, its size and directory are different, so
// that the new file does not fit into the hole. Half of the removed files are among the youngest
// twentieth, because most files are deleted soon (Ousterhout et al. 1985); the others are random. A
// tenth of a second passes between two files. Contents are zeroes, which the host need not store;
// reads are only timed, and their data is not verified.

#include <cstdint>

#include "fs-adapters/vfs.h"

namespace headcrash::experiment::compare {

struct AgeingOptions {
  double full = .5;      ///< used fraction of the space that is available to files
  double turnovers = 3;  ///< bytes rewritten, as a multiple of the used space
  std::uint64_t seed = 1;
};

struct AgedDisk {
  double full = 0;  ///< final value
  std::uint64_t files = 0;
  /// Number of bytes written since the disk reached the fraction `full`, divided by the number of
  /// used bytes.
  double written_over = 0;
};

/// Ages an empty file system. Must run on a fiber. All directories are below "aged". Returns ENOSPC
/// if the fraction `full` cannot be reached.
VfsResult<AgedDisk> age(Vfs& vfs, const AgeingOptions& options);

}  // namespace headcrash::experiment::compare
