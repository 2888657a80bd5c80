#pragma once
// The commands of the agent that change or ask the kernel: mount, unmount, the clock, a block
// device.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

struct MountOptions {
  unsigned long flags = 0;  ///< MS_...
  std::string data;         ///< what the file system itself is to read
};
/// "ro,noatime,data=journal" as mount(8) takes it.
MountOptions parse_mount_options(std::string_view text);

/// Makes the target folder if it is missing.
VfsResult<void> mount_file_system(const std::string& source, const std::string& target,
                                  const std::string& type, const std::string& options);
VfsResult<void> unmount_file_system(const std::string& target);
/// Unmounts what mount_file_system() has mounted there and mounts it as then. ENOTSUP: it has not.
VfsResult<void> mount_again(const std::string& target);
/// Makes it read-only, and writable again as it was. ENOTSUP likewise; EBUSY: a file is open for
/// writing.
VfsResult<void> read_only_for_a_moment(const std::string& target);
/// sync(2), and what the kernel does not tell our own file systems of (fs-adapters/fuse/ioctls.h).
void sync_everything();

/// At most 64 digits, an even number of them; EINVAL otherwise.
VfsResult<std::vector<std::byte>> parse_seed(std::string_view hex);

/// Mixes the seed into the kernel's random pool, credits it, and lets the generators take a new key
/// from the pool. Before the first credit getrandom(2) has nothing to give, and libuuid waits a
/// second for every identifier.
VfsResult<void> seed_random_pool(const std::vector<std::byte>& seed);
VfsResult<void> set_wall_clock(std::int64_t unix_ns);

struct BlockDevice {
  std::uint64_t bytes = 0;
  std::string nonce;  ///< first 64 bytes of sector 0 up to the first NUL, non-printing bytes as '?'
  std::string flush;  ///< queue/write_cache: "write back" or "write through"
};
/// queue/write_cache; empty if the disk has none.
std::string write_cache_of(const std::string& path);
/// Drops the device's cached pages, then reads past the cache.
VfsResult<BlockDevice> look_at_disk(const std::string& path);
/// The two that a look at a crash state needs of it: drops the cached pages and tells the size; the
/// nonce.
VfsResult<std::uint64_t> drop_cached_pages(const std::string& path);
/// How long a read of 4 KiB at `offset` takes past all caches, by the guest's monotonic clock, in
/// nanoseconds.
VfsResult<std::int64_t> time_direct_read(const std::string& path, std::int64_t offset);
VfsResult<std::string> read_nonce(const std::string& path);

/// Makes a look at a crash state cheap: requests go to the disk without a scheduler, which would
/// have another thread send each of them, and without flushes, which nobody looks at where nothing
/// is recorded.
void shorten_way(const std::string& disk);
/// On every disk: what is recorded or timed has the kernel's own choice.
void restore_ways();

inline const std::string kUnknownType = "the kernel does not know the file system ";
/// By /proc/filesystems. mount(2) says ENODEV to a type that is not there.
bool kernel_knows(const std::string& file_system_type);

/// What the kernel has asked of a disk since boot (/sys/block/NAME/stat).
struct DiskCounters {
  std::uint64_t reads = 0, read_merges = 0, read_sectors = 0;
  std::uint64_t writes = 0, write_merges = 0, write_sectors = 0;
  std::uint64_t flushes = 0;
  std::uint64_t busy_ms = 0;  ///< with at least one request under way
};
/// `device`: "vda". EINVAL for a name with a '/'.
VfsResult<DiskCounters> disk_counters(const std::string& device);

/// One sector of the marks disk, past the cache: when write() returns, the server has the mark.
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
