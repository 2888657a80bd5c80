// Implements mounts, the clock, random seeds and block devices with system calls (kernel.h).
#include "harness/guest/kernel.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "fs-adapters/fuse/ioctls.h"
#include "plugin/base/descriptor.h"

namespace headcrash::guest {
namespace {

constexpr int kDaemonWaits = 2000;  // 10 s
constexpr std::chrono::milliseconds kDaemonWait{5};

constexpr std::size_t kAlignment = 4096;  // large enough for O_DIRECT with every sector size
constexpr std::size_t kMarkBytes = 512;
constexpr std::size_t kNonceBytes = 64;
constexpr std::size_t kLongestSeedBytes = 32;

struct Flag {
  std::string_view name;
  unsigned long set, clear;
};
constexpr std::array kFlags{Flag{"ro", MS_RDONLY, 0},
                            Flag{"rw", 0, MS_RDONLY},
                            Flag{"noatime", MS_NOATIME, 0},
                            Flag{"nodiratime", MS_NODIRATIME, 0},
                            Flag{"relatime", MS_RELATIME, 0},
                            Flag{"strictatime", MS_STRICTATIME, 0},
                            Flag{"nosuid", MS_NOSUID, 0},
                            Flag{"nodev", MS_NODEV, 0},
                            Flag{"noexec", MS_NOEXEC, 0},
                            Flag{"sync", MS_SYNCHRONOUS, 0},
                            Flag{"dirsync", MS_DIRSYNC, 0},
                            Flag{"lazytime", MS_LAZYTIME, 0},
                            Flag{"defaults", 0, 0}};

/// Files in /sys/class/block/*/queue that shorten_way() has changed, with their previous contents.
std::map<std::string, std::string>& changed_settings() {
  static std::map<std::string, std::string> settings;
  return settings;
}

std::string printable(const char* bytes, std::size_t count) {
  std::string text(bytes, ::strnlen(bytes, count));
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

struct Mount {
  std::string source, type, options;
};
std::map<std::string, Mount>& mounts() {
  static std::map<std::string, Mount> all;
  return all;
}

/// Returns true if the file system is served through FUSE and is not one of our own. At unmount,
/// the kernel does not wait for the daemon of such a file system, so the daemon may still write to
/// the device afterwards.
bool is_served_by_a_daemon(const std::string& target) {
  std::ifstream table("/proc/self/mounts");
  bool served = false;
  for (std::string source, place, type, rest; table >> source >> place >> type;) {
    std::getline(table, rest);
    if (place == target)
      served = type.starts_with("fuse") && !type.starts_with("fuseblk.headcrash-");
  }
  return served;
}

/// Returns true if any process has /dev/fuse open.
bool daemon_runs() {
  namespace fs = std::filesystem;
  // Errors in `ended` are ignored, because a process may exit during the search.
  std::error_code error, ended;
  for (fs::directory_iterator process("/proc", error); process != fs::directory_iterator();
       process.increment(error)) {
    for (fs::directory_iterator open(process->path() / "fd", ended);
         open != fs::directory_iterator(); open.increment(ended))
      if (fs::read_symlink(open->path(), ended) == "/dev/fuse") return true;
  }
  return false;
}

}  // namespace

MountOptions parse_mount_options(std::string_view text) {
  MountOptions options;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto flag =
        std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& f) { return f.name == word; });
    if (flag != kFlags.end()) {
      options.flags = (options.flags | flag->set) & ~flag->clear;
    } else if (!word.empty()) {
      options.data += (options.data.empty() ? "" : ",") + std::string(word);
    }
  }
  return options;
}

VfsResult<void> mount_file_system(const std::string& source, const std::string& target,
                                  const std::string& type, const std::string& options) {
  std::error_code error;
  std::filesystem::create_directories(target, error);
  if (error) return refuse(error.value());
  const MountOptions parsed = parse_mount_options(options);
  if (::mount(source.c_str(), target.c_str(), type.c_str(), parsed.flags, parsed.data.c_str()) !=
      0) {
    return refuse(errno);
  }
  mounts()[target] = {source, type, options};
  return {};
}

VfsResult<void> unmount_file_system(const std::string& target) {
  const bool has_daemon = is_served_by_a_daemon(target);
  if (::umount2(target.c_str(), UMOUNT_NOFOLLOW) != 0) return refuse(errno);
  mounts().erase(target);
  for (int i = 0; has_daemon && i < kDaemonWaits && daemon_runs(); ++i)
    std::this_thread::sleep_for(kDaemonWait);
  return {};
}

VfsResult<void> mount_again(const std::string& target) {
  const auto found = mounts().find(target);
  if (found == mounts().end()) return refuse(ENOTSUP);
  const Mount mount = found->second;
  TRY(unmount_file_system(target));
  return mount_file_system(mount.source, target, mount.type, mount.options);
}

VfsResult<void> read_only_for_a_moment(const std::string& target) {
  const auto found = mounts().find(target);
  if (found == mounts().end()) return refuse(ENOTSUP);
  const MountOptions options = parse_mount_options(found->second.options);
  for (const unsigned long read_only : {static_cast<unsigned long>(MS_RDONLY), 0UL}) {
    const unsigned long flags =
        (options.flags & ~static_cast<unsigned long>(MS_RDONLY)) | MS_REMOUNT | read_only;
    if (::mount(nullptr, target.c_str(), nullptr, flags, options.data.c_str()) != 0)
      return refuse(errno);
  }
  return {};
}

void sync_everything() {
  ::sync();
  std::ifstream mounts("/proc/self/mounts");
  for (std::string source, target, type, rest; mounts >> source >> target >> type;) {
    std::getline(mounts, rest);
    if (!type.starts_with("fuseblk.headcrash-")) continue;
    const base::Descriptor root(::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.get() >= 0) static_cast<void>(::ioctl(root.get(), fuse::kSyncEverything));
  }
}

VfsResult<std::vector<std::byte>> parse_seed(std::string_view hex) {
  if (hex.size() % 2 != 0 || hex.size() > 2 * kLongestSeedBytes) return refuse(EINVAL);
  std::vector<std::byte> seed;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    std::uint8_t byte = 0;
    const char* const end = hex.data() + at + 2;
    const auto parsed = std::from_chars(hex.data() + at, end, byte, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return refuse(EINVAL);
    seed.push_back(std::byte{byte});
  }
  return seed;
}

VfsResult<void> seed_random_pool(const std::vector<std::byte>& seed) {
  if (seed.size() > kLongestSeedBytes) return refuse(EINVAL);
  // RNDADDENTROPY takes a struct rand_pool_info: the entropy in bits and the number of bytes (two
  // ints), followed by the bytes.
  alignas(rand_pool_info) std::array<std::byte, sizeof(rand_pool_info) + kLongestSeedBytes>
      request{};
  const std::array<int, 2> head{static_cast<int>(seed.size() * 8), static_cast<int>(seed.size())};
  std::memcpy(request.data(), head.data(), sizeof head);
  std::memcpy(request.data() + sizeof head, seed.data(), seed.size());
  const base::Descriptor device(::open("/dev/urandom", O_RDWR | O_CLOEXEC));
  if (device.get() < 0 || ::ioctl(device.get(), RNDADDENTROPY, request.data()) != 0 ||
      ::ioctl(device.get(), RNDRESEEDCRNG) != 0) {
    return refuse(errno);
  }
  return {};
}

VfsResult<void> set_wall_clock(std::int64_t unix_ns) {
  const timespec now{.tv_sec = unix_ns / kNsPerSecond, .tv_nsec = unix_ns % kNsPerSecond};
  if (::clock_settime(CLOCK_REALTIME, &now) != 0) return refuse(errno);
  return {};
}

VfsResult<std::uint64_t> drop_cached_pages(const std::string& path) {
  const base::Descriptor cached(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::uint64_t bytes = 0;
  if (cached.get() < 0 || ::ioctl(cached.get(), BLKFLSBUF, 0) != 0 ||
      ::ioctl(cached.get(), BLKGETSIZE64, &bytes) != 0) {
    return refuse(errno);
  }
  return bytes;
}

VfsResult<std::string> read_nonce(const std::string& path) {
  const base::Descriptor direct(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  alignas(kAlignment) std::array<char, kAlignment> block{};
  if (direct.get() < 0) return refuse(errno);
  const ssize_t got = ::pread(direct.get(), block.data(), block.size(), 0);
  if (got < static_cast<ssize_t>(kNonceBytes)) return refuse(got < 0 ? errno : EIO);
  return printable(block.data(), kNonceBytes);
}

VfsResult<std::int64_t> time_direct_read(const std::string& path, std::int64_t offset) {
  const base::Descriptor direct(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (direct.get() < 0) return refuse(errno);
  alignas(kAlignment) std::array<char, kAlignment> block{};
  timespec before{}, after{};
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  const ssize_t got = ::pread(direct.get(), block.data(), block.size(), offset);
  const int error = errno;
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  if (got != static_cast<ssize_t>(block.size())) return refuse(got < 0 ? error : EIO);
  return (after.tv_sec - before.tv_sec) * kNsPerSecond + after.tv_nsec - before.tv_nsec;
}

void shorten_way(const std::string& disk) {
  const std::string queue =
      "/sys/class/block/" + std::filesystem::path(disk).filename().string() + "/queue/";
  for (const auto& [file, word] :
       {std::pair{"scheduler", "none"}, {"write_cache", "write through"}}) {
    if (changed_settings().contains(queue + file)) continue;
    std::string before;
    std::ifstream now(queue + file);
    std::getline(now, before);
    // The file queue/scheduler lists all choices, with the current one in brackets: "[mq-deadline]
    // none". If there is no current value, nothing is changed.
    const std::size_t open = before.find('['), close = before.find(']');
    if (open < close && close != std::string::npos)
      before = before.substr(open + 1, close - open - 1);
    if (before.empty() || before == word) continue;
    std::ofstream(queue + file) << word;
    changed_settings()[queue + file] = before;
  }
}

void restore_ways() {
  for (const auto& [file, before] : changed_settings()) std::ofstream(file) << before;
  changed_settings().clear();
}

bool kernel_knows(const std::string& file_system_type) {
  std::ifstream known("/proc/filesystems");
  for (std::string line; std::getline(known, line);) {
    if (line.substr(line.rfind('\t') + 1) == file_system_type) return true;
  }
  return false;
}

VfsResult<BlockDevice> inspect_disk(const std::string& path) {
  BlockDevice found;
  const auto bytes = drop_cached_pages(path);
  if (!bytes) return refuse(bytes.error().value);
  auto nonce = read_nonce(path);
  if (!nonce) return refuse(nonce.error().value);
  found.bytes = *bytes;
  found.nonce = std::move(*nonce);
  found.flush = write_cache_of(path);
  return found;
}

std::string write_cache_of(const std::string& path) {
  std::ifstream cache("/sys/class/block/" + std::filesystem::path(path).filename().string() +
                      "/queue/write_cache");
  std::string setting;
  std::getline(cache, setting);
  return setting;
}

VfsResult<DiskCounters> disk_counters(const std::string& device) {
  if (device.empty() || device.find('/') != std::string::npos) return refuse(EINVAL);
  std::ifstream stat("/sys/block/" + device + "/stat");
  if (!stat) return refuse(ENOENT);
  // The fields are in the kernel's order (Documentation/block/stat.rst). Linux 4.18 added the
  // fields of discards, and Linux 5.5 those of flushes.
  std::array<std::uint64_t, 17> fields{};
  std::size_t count = 0;
  while (count < fields.size() && stat >> fields[count]) ++count;
  constexpr std::size_t kFlushes = 15;
  if (count <= kFlushes) return refuse(ENODATA);
  return DiskCounters{.reads = fields[0],
                      .read_merges = fields[1],
                      .read_sectors = fields[2],
                      .writes = fields[4],
                      .write_merges = fields[5],
                      .write_sectors = fields[6],
                      .flushes = fields[kFlushes],
                      .busy_ms = fields[9]};
}

MarkDisk::~MarkDisk() {
  if (device_ >= 0) ::close(device_);
}

VfsResult<void> MarkDisk::open(const std::string& path) {
  device_ = ::open(path.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
  if (device_ < 0) return refuse(errno);
  return {};
}

VfsResult<void> MarkDisk::write(std::string_view text) {
  alignas(kAlignment) std::array<char, kMarkBytes> sector{};
  std::copy_n(text.begin(), std::min(text.size(), sector.size() - 1), sector.begin());
  const ssize_t put = ::pwrite(device_, sector.data(), sector.size(), 0);
  if (put != static_cast<ssize_t>(sector.size())) return refuse(put < 0 ? errno : EIO);
  return {};
}

}  // namespace headcrash::guest
