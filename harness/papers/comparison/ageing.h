#pragma once
// A used disk: it is filled, and then files are removed and created until its content has been
// rewritten several times.
//
// The used share is that reported by the file system (df). Formats with more metadata, or with
// whole blocks instead of fragments, thus hold fewer files and are equally full. Sizes are those of
// rosenblum92/ageing.h: log-normal with a mean of 23 KB, half of the files below 2 KB (Irlam 1993),
// none above a megabyte. In contrast to it, a new file differs in size and folder from the removed
// one, so that holes do not fit. Half of the removed files are among the youngest twentieth, since
// most files die young (Ousterhout et al. 1985); the others are random. Each file takes a tenth of
// a second. Contents are zeroes, which cost the host nothing; reads only measure time.

#include <cstdint>

#include "fs-adapters/vfs.h"

namespace headcrash::experiment::compare {

struct AgeingOptions {
  double full = .5;      ///< share of the space available for files
  double turnovers = 3;  ///< bytes rewritten, as a multiple of the used space
  std::uint64_t seed = 1;
};

struct AgedDisk {
  double full = 0;          ///< final value
  std::uint64_t files = 0;  ///< number of files that remain
  double written_over = 0;  ///< bytes written since the disk was full, divided by used bytes
};

/// Ages an empty file system; must run on a fiber. Folders are below "aged". Returns ENOSPC if the
/// share is unreachable.
VfsResult<AgedDisk> age(Vfs& vfs, const AgeingOptions& options);

}  // namespace headcrash::experiment::compare
