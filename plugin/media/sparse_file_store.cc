#include "plugin/media/sparse_file_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>

#include "plugin/base/file_lock.h"
#include "plugin/media/host_reason.h"
#include "plugin/media/range.h"

namespace headcrash::media {
namespace {

using model::kSectorBytes;

tl::unexpected<Error> host_error(const std::string& path, const char* what, int error) {
  const char* hint = error == ENOSPC || error == EDQUOT || error == EFBIG
                         ? "use a file system with free space, then start with a new store"
                         : "";
  return fail(path, fmt::format("{} failed: {}", what, host_reason(error)), hint);
}

}  // namespace

Result<std::unique_ptr<SparseFileStore>> SparseFileStore::open(const std::filesystem::path& path,
                                                               std::uint64_t sectors) {
  if (sectors == 0 || sectors > std::numeric_limits<std::int64_t>::max() / kSectorBytes)
    return fail(path, fmt::format("a file cannot have {} sectors", sectors), "choose another size");
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0)
    return fail(path, "cannot be opened for writing: " + host_reason(errno),
                "check the permissions of the store");
  std::unique_ptr<SparseFileStore> store(new SparseFileStore(path.string(), fd, sectors));
  TRY(base::lock_image(fd, path, true));
  struct stat status = {};
  if (fstat(fd, &status) != 0) return host_error(path, "fstat", errno);
  const auto bytes = static_cast<off_t>(sectors * kSectorBytes);
  if (!S_ISREG(status.st_mode)) return fail(path, "is not a regular file", "choose another store");
  if (status.st_size == 0 && ftruncate(fd, bytes) != 0)
    return host_error(path, "setting the length", errno);
  if (status.st_size != 0 && status.st_size != bytes)
    return fail(path, fmt::format("has {} bytes, but the drive has {}", status.st_size, bytes),
                "use the store's original size, or another store");
  return store;
}

Result<std::unique_ptr<SparseFileStore>> SparseFileStore::open_existing(
    const std::filesystem::path& path, Access access) {
  const bool writes = access == Access::read_write;
  const int fd = ::open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return fail(path,
                fmt::format("cannot be opened for {}: {}", writes ? "writing" : "reading",
                            host_reason(errno)),
                "check its permissions");
  std::unique_ptr<SparseFileStore> store(new SparseFileStore(path.string(), fd, 0));
  TRY(base::lock_image(fd, path, writes));
  struct stat status = {};
  if (fstat(fd, &status) != 0) return host_error(path, "fstat", errno);
  if (!S_ISREG(status.st_mode)) return fail(path, "is not a regular file", "use an image file");
  store->sectors_ = static_cast<std::uint64_t>(status.st_size) / kSectorBytes;
  return store;
}

SparseFileStore::~SparseFileStore() {
  close(fd_);
}

Result<void> SparseFileStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(check_range(path_, sectors_, lba, into.size()));
  auto offset = static_cast<off_t>(lba * kSectorBytes);
  while (!into.empty()) {
    const ssize_t n = pread(fd_, into.data(), into.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return host_error(path_, "reading", errno);
    if (n == 0)
      return fail(path_, "was truncated while in use", "do not modify a store while it is served");
    into = into.subspan(static_cast<std::size_t>(n));
    offset += n;
  }
  return {};
}

Result<void> SparseFileStore::write(std::uint64_t lba, std::span<const std::byte> data) {
  TRY(check_range(path_, sectors_, lba, data.size()));
  auto offset = static_cast<off_t>(lba * kSectorBytes);
  while (!data.empty()) {
    const ssize_t n = pwrite(fd_, data.data(), data.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return host_error(path_, "writing", errno);
    data = data.subspan(static_cast<std::size_t>(n));
    offset += n;
  }
  return {};
}

Result<void> SparseFileStore::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  TRY(check_range(path_, sectors_, lba, count * kSectorBytes));
  if (count == 0) return {};
  const auto offset = static_cast<off_t>(lba * kSectorBytes);
  const auto length = static_cast<off_t>(count * kSectorBytes);
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length) == 0) return {};
  if (errno != EOPNOTSUPP && errno != ENOSYS) return host_error(path_, "punching a hole", errno);
  static constexpr std::array<std::byte, 128 * kSectorBytes> kZeroes = {};
  while (count > 0) {
    const std::uint64_t run = std::min<std::uint64_t>(count, kZeroes.size() / kSectorBytes);
    TRY(write(lba, std::span(kZeroes).first(run * kSectorBytes)));
    lba += run;
    count -= run;
  }
  return {};
}

}  // namespace headcrash::media
