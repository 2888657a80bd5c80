#pragma once
// Writing a file's data behind its writer: a block goes to the disk, and nobody waits for it, as
// soon as its last byte has been written, instead of when the syncer comes by. A block that is not
// full waits for it.
//
// Source: the ufs of System V Release 4 (its rwip, as that of SunOS 4.1 before it) writes so; McVoy
// and Kleiman, "Extent-like Performance from a UNIX File System", Winter USENIX 1991, bounded what
// one file may have on its way ("write limits"), so that one writer neither fills memory nor the
// disk's queue: who wants to send more waits until less is. Solaris has the bound still (ufs_HW and
// ufs_LW, Solaris Tunable Parameters Reference Manual); where it lies is
// MountOptions::write_behind_bytes.
//
// Threads: the executor's; write() is called from a fiber.

#include <cstdint>
#include <deque>
#include <map>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/os/disk_queue.h"

namespace headcrash::ufs {

class WriteBehind {
 public:
  /// `bytes_max`: of one file on its way, 0: nothing is written behind here. Both must outlive it.
  WriteBehind(os::BufferCache& cache, os::DiskQueue& disk, std::uint64_t bytes_max)
      : cache_(cache), disk_(disk), bytes_max_(bytes_max) {}

  /// A block of data whose last byte has been written; of a file, which is locked. Waits while more
  /// than bytes_max of the file's data are on their way, the block itself included.
  void write(std::uint64_t file, os::HeldBuffer block);

  /// For tests: files of which something may be on its way.
  std::size_t files() const { return in_flight_.size(); }

 private:
  struct Write {
    os::RequestId id = 0;
    std::uint64_t bytes = 0;
  };
  struct File {
    std::deque<Write> writes;  ///< in the order of asking
    std::uint64_t bytes = 0;
  };
  void forget_arrived(File& file) const;
  void forget_quiet_files();

  os::BufferCache& cache_;
  os::DiskQueue& disk_;
  std::uint64_t bytes_max_;
  std::map<std::uint64_t, File> in_flight_;  ///< by inode number
  std::size_t look_again_at_ = 64;           ///< so many files: some of them are surely quiet
};

}  // namespace headcrash::ufs
