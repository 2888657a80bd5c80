#include "plugin/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace headcrash::base {

bool try_flock(const Descriptor& file) {
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

Result<void> lock_image(int file, const std::string& path, bool writes) {
  if (::flock(file, (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return fail(path, "is in use by another program",
              "unmount the file system, or wait until that program ends");
}

bool is_at(const Descriptor& file, const std::filesystem::path& path) {
  struct stat open = {};
  struct stat named = {};
  return ::fstat(file.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

std::optional<FileLock> FileLock::try_take(const std::filesystem::path& path) {
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (file.is_open() && !try_flock(file)) return std::nullopt;
    // The previous owner may have removed the file between open() and flock().
    if (!file.is_open() || is_at(file, path)) return FileLock(path, std::move(file));
  }
}

FileLock::~FileLock() {
  std::error_code error;
  if (file_.is_open()) std::filesystem::remove(path_, error);
}

}  // namespace headcrash::base
