#pragma once
// Blocks of inodes that mkfs has not written (Peacock, Kamaraju and Agrawal 1998, section 5.4: the
// last-inode counter): the first inode taken in one zeroes it and those before it. The group's
// header says how far that has come; nobody reads behind it, where anything may lie.
//
//   the block, zeroes S -> the header S -> inodes in it are taken

#include <cstdint>

#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

class Volume;

class LazyInodes {
 public:
  explicit LazyInodes(Volume& volume);
  /// The slots up to the one with this number within the group are zeroes on the disk, if they have
  /// not been used yet, and the header says so. No header is held by the caller.
  VfsResult<void> initialise(std::uint32_t group, std::uint32_t slot);

 private:
  Volume& volume_;
  os::FiberLock lock_;
};

}  // namespace headcrash::ufs
