#pragma once
// Commands of the agent that change or query the kernel: mount, unmount, the clock, block devices.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

struct MountOptions {
  unsigned long flags = 0;  ///< MS_...
  std::string data;         ///< options for the file system
};
/// Parses options in the form of mount(8): "ro,noatime,data=journal".
MountOptions parse_mount_options(std::string_view text);

/// Mounts a file system. Creates the target folder if it is missing.
VfsResult<void> mount_file_system(const std::string& source, const std::string& target,
                                  const std::string& type, const std::string& options);
VfsResult<void> unmount_file_system(const std::string& target);
/// Unmounts the file system that mount_file_system() mounted there, and mounts it again in the same
/// way. Returns ENOTSUP without such a mount.
VfsResult<void> mount_again(const std::string& target);
/// Remounts it read-only, then read-write as before. Returns ENOTSUP as remount() does, or EBUSY if
/// a file is open for writing.
VfsResult<void> read_only_for_a_moment(const std::string& target);
/// Calls sync(2), and syncs our own file systems, which the kernel does not notify
/// (fs-adapters/fuse/ioctls.h).
void sync_everything();

/// Parses at most 64 hexadecimal digits, an even number of them. Returns EINVAL otherwise.
VfsResult<std::vector<std::byte>> parse_seed(std::string_view hex);

/// Mixes the seed into the kernel's random pool, credits it, and rekeys the generators from the
/// pool. Before the first credit getrandom(2) returns nothing, and libuuid waits a second for every
/// identifier.
VfsResult<void> seed_random_pool(const std::vector<std::byte>& seed);
VfsResult<void> set_wall_clock(std::int64_t unix_ns);

struct BlockDevice {
  std::uint64_t bytes = 0;
  std::string nonce;  ///< sector 0's first 64 bytes up to NUL; '?' for unprintable
  std::string flush;  ///< queue/write_cache: "write back" or "write through"
};
/// Returns queue/write_cache; empty if the disk has none.
std::string write_cache_of(const std::string& path);
/// Drops the device's cached pages, then reads it with O_DIRECT.
VfsResult<BlockDevice> inspect_disk(const std::string& path);
/// The two steps needed to examine a crash state: drops the cached pages and returns the size;
/// reads the nonce.
VfsResult<std::uint64_t> drop_cached_pages(const std::string& path);
/// Returns the time of a 4 KiB read at `offset` past all caches, in nanoseconds of the guest's
/// monotonic clock.
VfsResult<std::int64_t> time_direct_read(const std::string& path, std::int64_t offset);
VfsResult<std::string> read_nonce(const std::string& path);

/// Reduces the cost of examining a crash state. Requests bypass the scheduler, which would send
/// each from another thread. Flushes are omitted, because they have no effect if nothing is
/// recorded.
void shorten_way(const std::string& disk);
/// Restores the kernel's settings on every disk. Recorded or timed work must use them.
void restore_ways();

inline const std::string kUnknownType = "the kernel does not know the file system ";
/// Returns true if /proc/filesystems lists the type. mount(2) returns ENODEV for an unknown type.
bool kernel_knows(const std::string& file_system_type);

/// The kernel's requests to a disk since boot (/sys/block/NAME/stat).
struct DiskCounters {
  std::uint64_t reads = 0, read_merges = 0, read_sectors = 0;
  std::uint64_t writes = 0, write_merges = 0, write_sectors = 0;
  std::uint64_t flushes = 0;
  std::uint64_t busy_ms = 0;  ///< time with at least one request in flight
};
/// Returns the counters of `device`, such as "vda". Returns EINVAL for a name with a '/'.
VfsResult<DiskCounters> disk_counters(const std::string& device);

/// One sector of the disk for marks, written with O_DIRECT. When write() returns, the server has
/// the mark.
class MarkDisk {
 public:
  MarkDisk() = default;
  ~MarkDisk();
  MarkDisk(const MarkDisk&) = delete;
  MarkDisk& operator=(const MarkDisk&) = delete;

  VfsResult<void> open(const std::string& path);
  VfsResult<void> write(std::string_view text);

 private:
  int device_ = -1;
};

}  // namespace headcrash::guest
