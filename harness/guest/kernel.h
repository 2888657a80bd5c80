#pragma once
// Commands of the agent that change or query the kernel: mounts, the clock, random numbers and
// block devices.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

struct MountOptions {
  unsigned long flags = 0;  ///< MS_... flags of mount(2)
  std::string data;         ///< options for the file system itself
};
/// Parses options in the format of mount(8), such as "ro,noatime,data=journal".
MountOptions parse_mount_options(std::string_view text);

/// Mounts a file system. Creates the target directory if it is missing.
VfsResult<void> mount_file_system(const std::string& source, const std::string& target,
                                  const std::string& type, const std::string& options);
VfsResult<void> unmount_file_system(const std::string& target);
/// Unmounts and mounts again what mount_file_system() has mounted at `target`, with the same
/// parameters. Returns ENOTSUP if there is no such mount.
VfsResult<void> mount_again(const std::string& target);
/// Remounts the file system read-only, and then read-write with its original options. Returns
/// ENOTSUP if mount_file_system() has not mounted a file system at `target`, and EBUSY if a file is
/// open for writing.
VfsResult<void> read_only_for_a_moment(const std::string& target);
/// Calls sync(2). The kernel does not forward sync(2) to our own file systems, so these are synced
/// separately (fs-adapters/fuse/ioctls.h).
void sync_everything();

/// Parses at most 64 hexadecimal digits. Returns EINVAL for an odd number of digits, and for other
/// characters.
VfsResult<std::vector<std::byte>> parse_seed(std::string_view hex);

/// Mixes the seed into the kernel's entropy pool, credits its entropy, and reseeds the random
/// number generators from the pool. Without credited entropy, getrandom(2) returns no data, and
/// libuuid waits a second for each UUID.
VfsResult<void> seed_random_pool(const std::vector<std::byte>& seed);
VfsResult<void> set_wall_clock(std::int64_t unix_ns);

struct BlockDevice {
  std::uint64_t bytes = 0;
  /// Text at the start of sector 0: at most 64 bytes, up to a NUL; '?' for unprintable bytes.
  std::string nonce;
  std::string flush;  ///< contents of queue/write_cache: "write back" or "write through"
};
/// Returns the contents of queue/write_cache, or an empty string if the disk has no such file.
std::string write_cache_of(const std::string& path);
/// Drops the device's cached pages, and then reads the first sector with O_DIRECT.
VfsResult<BlockDevice> inspect_disk(const std::string& path);
/// The two parts of inspect_disk() that the check of a crash state needs. drop_cached_pages() drops
/// the cached pages and returns the size of the disk. read_nonce() reads the first sector.
VfsResult<std::uint64_t> drop_cached_pages(const std::string& path);
/// Measures a 4 KiB read at `offset` that bypasses all caches. Returns its duration in nanoseconds
/// of the guest's monotonic clock.
VfsResult<std::int64_t> time_direct_read(const std::string& path, std::int64_t offset);
VfsResult<std::string> read_nonce(const std::string& path);

/// Sets up the disk so that crash states are checked faster. Requests bypass the I/O scheduler,
/// which would submit them from other threads. The guest sends no flushes, because they have no
/// effect on a disk that is not recorded.
void shorten_way(const std::string& disk);
/// Undoes shorten_way() for all disks. Must be called before work that is recorded or timed.
void restore_ways();

inline const std::string kUnknownType = "the kernel does not support the file system ";
/// Returns true if the kernel supports the file system type (/proc/filesystems). mount(2) returns
/// ENODEV for an unknown type, but also for other reasons.
bool kernel_knows(const std::string& file_system_type);

/// Counters of the kernel's requests to a disk since boot (/sys/block/NAME/stat).
struct DiskCounters {
  std::uint64_t reads = 0, read_merges = 0, read_sectors = 0;
  std::uint64_t writes = 0, write_merges = 0, write_sectors = 0;
  std::uint64_t flushes = 0;
  std::uint64_t busy_ms = 0;  ///< time during which at least one request was in flight
};
/// Returns the counters of `device`, such as "vda". Returns EINVAL if the name contains a '/'.
VfsResult<DiskCounters> disk_counters(const std::string& device);

/// Writes marks to the first sector of the disk for marks, with O_DIRECT. When write() returns, the
/// server has received the mark.
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
