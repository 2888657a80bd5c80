#pragma once
// Inode blocks that mkfs has not written (Peacock, Kamaraju and Agrawal 1998, section 5.4: the
// last-inode counter). The first allocation in a block zeroes it and all blocks before it. The
// group's header records the progress. Inode blocks after the recorded position are never read,
// because their content is arbitrary.
//
//   write zeroes (sync) -> write header (sync) -> allocate inodes in the block

#include <cstdint>

#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

class Volume;

class LazyInodes {
 public:
  explicit LazyInodes(Volume& volume);
  /// Ensures that the slots of the group up to `slot` have been initialised on the disk and that
  /// the header records it. The caller must not hold a header.
  VfsResult<void> initialise(std::uint32_t group, std::uint32_t slot);

 private:
  Volume& volume_;
  os::FiberLock lock_;
};

}  // namespace headcrash::ufs
