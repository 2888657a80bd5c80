#pragma once
// Writes a file's data in the background. A block is issued as soon as its last byte has been
// written, instead of at the next run of the syncer. A block that is not full still waits for the
// syncer.
//
// Source: the ufs of System V Release 4 writes this way (function rwip, as in SunOS 4.1). McVoy and
// Kleiman, "Extent-like Performance from a UNIX File System", Winter USENIX 1991, limited the
// amount of data that one file may have in flight ("write limits"), so that a single writer fills
// neither memory nor the disk's queue; further writes wait. Solaris still has this limit (ufs_HW
// and ufs_LW, Solaris Tunable Parameters Reference Manual). Here, the limit is
// MountOptions::write_behind_bytes.
//
// Threads: only the executor's; write() must be called from a fiber.

#include <cstdint>
#include <deque>
#include <map>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/os/disk_queue.h"

namespace headcrash::ufs {

class WriteBehind {
 public:
  /// `bytes_max` limits the amount of one file's data that may be in flight; 0 disables
  /// write-behind. Both references must outlive this object.
  WriteBehind(os::BufferCache& cache, os::DiskQueue& disk, std::uint64_t bytes_max)
      : cache_(cache), disk_(disk), bytes_max_(bytes_max) {}

  /// Issues the write of a data block that has been filled to its last byte. The file must be
  /// locked. Waits while more than bytes_max of the file's data is in flight, including this block.
  void write(std::uint64_t file, os::HeldBuffer block);

  /// For tests: the number of files that may have writes in flight.
  std::size_t files() const { return in_flight_.size(); }

 private:
  struct Write {
    os::RequestId id = 0;
    std::uint64_t bytes = 0;
  };
  struct File {
    std::deque<Write> writes;  ///< writes in flight, in issue order
    std::uint64_t bytes = 0;
  };
  void forget_written(File& file) const;
  void forget_idle_files();

  os::BufferCache& cache_;
  os::DiskQueue& disk_;
  std::uint64_t bytes_max_;
  std::map<std::uint64_t, File> in_flight_;  ///< files with writes in flight, by inode number
  /// When `in_flight_` has this many entries, files without writes in flight are removed from it.
  std::size_t search_at_ = 64;
};

}  // namespace headcrash::ufs
