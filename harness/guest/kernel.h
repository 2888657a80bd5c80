#pragma once
// Commands of the agent that change or query the kernel: mount, unmount, the clock, block devices.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

struct MountOptions {
  unsigned long flags = 0;  ///< MS_... flags of mount(2)
  std::string data;         ///< options for the file system
};
/// Parses options in the form of mount(8): "ro,noatime,data=journal".
MountOptions parse_mount_options(std::string_view text);

/// Mounts a file system. Creates the target folder if it is missing.
VfsResult<void> mount_file_system(const std::string& source, const std::string& target,
                                  const std::string& type, const std::string& options);
VfsResult<void> unmount_file_system(const std::string& target);
/// Unmounts the file system that mount_file_system() mounted at `target`, and mounts it again with
/// the same parameters. Returns ENOTSUP if there is no such mount.
VfsResult<void> mount_again(const std::string& target);
/// Remounts the file system read-only and then read-write with its original options. Returns
/// ENOTSUP like mount_again(), or EBUSY if a file is open for writing.
VfsResult<void> read_only_for_a_moment(const std::string& target);
/// Calls sync(2). Also syncs our own file systems, because the kernel does not forward sync(2) to
/// them (fs-adapters/fuse/ioctls.h).
void sync_everything();

/// Parses an even number of hexadecimal digits, at most 64. Returns EINVAL for any other text.
VfsResult<std::vector<std::byte>> parse_seed(std::string_view hex);

/// Mixes the seed into the kernel's entropy pool, credits the entropy, and reseeds the generators
/// from the pool. Without credited entropy, getrandom(2) returns no data, and libuuid waits a
/// second for each UUID.
VfsResult<void> seed_random_pool(const std::vector<std::byte>& seed);
VfsResult<void> set_wall_clock(std::int64_t unix_ns);

struct BlockDevice {
  std::uint64_t bytes = 0;
  std::string nonce;  ///< first 64 bytes of sector 0 up to a NUL; '?' for unprintable bytes
  std::string flush;  ///< contents of queue/write_cache: "write back" or "write through"
};
/// Returns the contents of queue/write_cache, or an empty string if the disk has no such file.
std::string write_cache_of(const std::string& path);
/// Drops the device's cached pages, then reads its first sector with O_DIRECT.
VfsResult<BlockDevice> inspect_disk(const std::string& path);
/// The two parts of inspect_disk() that are needed to examine a crash state. drop_cached_pages()
/// also returns the size of the disk; read_nonce() reads the first sector.
VfsResult<std::uint64_t> drop_cached_pages(const std::string& path);
/// Returns how long a 4 KiB read at `offset` takes that bypasses all caches, in nanoseconds of the
/// guest's monotonic clock.
VfsResult<std::int64_t> time_direct_read(const std::string& path, std::int64_t offset);
VfsResult<std::string> read_nonce(const std::string& path);

/// Makes examining a crash state faster. Requests bypass the I/O scheduler, which would submit them
/// from other threads. Flushes are omitted, which has no effect on a disk that is not recorded.
void shorten_way(const std::string& disk);
/// Restores the kernel's settings for all disks. Required before work that is recorded or timed.
void restore_ways();

inline const std::string kUnknownType = "the kernel does not know the file system ";
/// Returns true if /proc/filesystems lists the type. For an unknown type, mount(2) returns ENODEV,
/// which may also have other causes.
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

/// The first sector of the disk for marks, written with O_DIRECT. When write() returns, the server
/// has received the mark.
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
