// Synchronous reads and writes (device_store.h).
#include "fs-adapters/fuse/device_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "plugin/base/file_lock.h"

namespace headcrash::fuse {
namespace {

using model::kSectorBytes;

constexpr std::uint64_t kZeroSectors = 2048;

std::string system_words() {
  return std::generic_category().message(errno);
}

/// Calls `step(done, left)` until all bytes have been transferred. Returns false on failure, with
/// errno set.
template <typename Step>
bool transfer_all(std::size_t bytes, const Step& step) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = step(done, bytes - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      if (n == 0) errno = EIO;
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<DeviceStore>> DeviceStore::open(const std::string& path, Access access) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0)
    return fail(path, system_words(), "use a device or an image file");
  const bool device = S_ISBLK(status.st_mode);
  if (!device && !S_ISREG(status.st_mode))
    return fail(path, "is neither a block device nor a regular file");
  int flags = O_CLOEXEC | (access == Access::read_only ? O_RDONLY : O_RDWR);
  if (device && access != Access::read_only) flags |= O_EXCL;
  if (access == Access::repair) flags |= O_DSYNC;
  const int file = ::open(path.c_str(), flags);
  if (file < 0)
    return fail(path, system_words(), errno == EBUSY ? "unmount the file system first" : "");
  const off_t bytes = ::lseek(file, 0, SEEK_END);
  std::unique_ptr<DeviceStore> store(new DeviceStore(
      path, file, static_cast<std::uint64_t>(std::max<off_t>(bytes, 0)) / kSectorBytes));
  if (!device) TRY(base::lock_image(file, path, access != Access::read_only));
  if (store->sectors_ == 0) return fail(path, "is empty", "use a device or an image file");
  return store;
}

DeviceStore::~DeviceStore() {
  ::close(file_);
}

Result<void> DeviceStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  const bool all = transfer_all(into.size(), [&](std::size_t done, std::size_t left) {
    return ::pread(file_, into.data() + done, left, static_cast<off_t>(lba * kSectorBytes + done));
  });
  if (!all) return fail(path_, "cannot read: " + system_words());
  return {};
}

Result<void> DeviceStore::write(std::uint64_t lba, std::span<const std::byte> data) {
  ++writes_;
  const bool all = transfer_all(data.size(), [&](std::size_t done, std::size_t left) {
    return ::pwrite(file_, data.data() + done, left, static_cast<off_t>(lba * kSectorBytes + done));
  });
  if (!all) return fail(path_, "cannot write: " + system_words());
  return {};
}

Result<void> DeviceStore::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  const std::vector<std::byte> zeroes(std::min(count, kZeroSectors) * kSectorBytes);
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t part = std::min(count - done, kZeroSectors);
    TRY(write(lba + done, std::span(zeroes).first(part * kSectorBytes)));
    done += part;
  }
  return {};
}

Result<void> DeviceStore::sync() {
  if (::fsync(file_) != 0) return fail(path_, "cannot sync: " + system_words());
  return {};
}

Result<std::unique_ptr<OpenedDevices>> OpenedDevices::open(const std::string& path,
                                                           const std::string& log,
                                                           DeviceStore::Access access) {
  TRY(auto device, DeviceStore::open(path, access));
  if (log.empty())
    return std::unique_ptr<OpenedDevices>(new OpenedDevices(std::move(device), nullptr));
  std::error_code error;
  if (std::filesystem::equivalent(path, log, error))
    return fail("--log " + log, "is the device of the file system itself",
                "use another device for the log");
  TRY(auto second, DeviceStore::open(log, access));
  return std::unique_ptr<OpenedDevices>(new OpenedDevices(std::move(device), std::move(second)));
}

OpenedDevices::OpenedDevices(std::unique_ptr<DeviceStore> device, std::unique_ptr<DeviceStore> log)
    : device_(std::move(device)),
      log_(std::move(log)),
      both_({{.store = device_.get(), .first = 0, .sectors = device_->sectors()},
             {.store = log_.get(), .first = 0, .sectors = log_ ? log_->sectors() : 0}}) {}

Result<void> OpenedDevices::sync() {
  if (auto synced = device_->sync(); !synced || !log_) return synced;
  return log_->sync();
}

}  // namespace headcrash::fuse
