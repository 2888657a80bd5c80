#pragma once
// A disk that was in use: filled, and then files removed and made until all of it has been written
// several times.
//
// The share in use is what the file system itself says (df), so that formats with more metadata, or
// with whole blocks where others have fragments, hold fewer files and are as full. Sizes are those
// of rosenblum92/ageing.h: log-normal with a mean of 23 KB, half of the files below 2 KB (Irlam
// 1993), none above a megabyte. Unlike there a new file has another size than the one that went,
// and another folder, so that holes do not fit. Half of what goes is among the youngest twentieth,
// as most files die young (Ousterhout et al. 1985); the rest is any. A tenth of a second passes
// with each file. Contents are zeroes, which cost a host nothing: nobody reads them but for their
// time.

#include <cstdint>

#include "fs-adapters/vfs.h"

namespace headcrash::experiment::compare {

struct AgeingOptions {
  double full = .5;      ///< share of what the file system has for files
  double turnovers = 3;  ///< so often is as much written as is in use
  std::uint64_t seed = 1;
};

struct AgedDisk {
  double full = 0;          ///< in the end
  std::uint64_t files = 0;  ///< that are there
  double written_over = 0;  ///< bytes written since it was full, by bytes in use
};

/// On an empty file system, from a fiber; in folders below "aged". ENOSPC: it does not hold so
/// much.
VfsResult<AgedDisk> age(Vfs& vfs, const AgeingOptions& options);

}  // namespace headcrash::experiment::compare
