// Locks runs with open-file-description locks (F_OFD_SETLK). Unlike POSIX locks, they are kept when
// the process closes another descriptor of the file. Unlike flock(2), they can lock a range.
#include "harness/run/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "harness/run/run_owner.h"
#include "plugin/base/wall_clock.h"

namespace headcrash::run {
namespace {

namespace fs = std::filesystem;

constexpr off_t kRecordBytes = 128;
constexpr std::int64_t kOpening = 0;  // a number that no run has, because runs are numbered from 1

enum class LockAction : std::uint8_t { lock, unlock };
enum class LockResult : std::uint8_t { yes, by_another, failed };

struct flock range_of(std::int64_t run, LockAction wanted) {
  struct flock range = {};
  range.l_type = wanted == LockAction::lock ? F_WRLCK : F_UNLCK;
  range.l_whence = SEEK_SET;
  range.l_start = run * kRecordBytes;
  range.l_len = kRecordBytes;
  return range;
}

/// Sets a lock. `command` is F_OFD_SETLK, or F_OFD_SETLKW to wait until the lock is free.
LockResult set(int fd, int command, struct flock range) {
  while (::fcntl(fd, command, &range) != 0) {
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EACCES ? LockResult::by_another : LockResult::failed;
  }
  return LockResult::yes;
}

std::string who_we_are() {
  std::array<char, HOST_NAME_MAX + 1> host = {};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string text =
      fmt::format("process {} on {:.64} since {}", ::getpid(), host.data(), base::now_utc());
  text.resize(kRecordBytes, '\0');
  return text;
}

std::string owner_of(int fd, std::int64_t run) {
  std::array<char, kRecordBytes + 1> text = {};
  if (::pread(fd, text.data(), kRecordBytes, run * kRecordBytes) <= 0 || text[0] == '\0')
    return "another process";
  return text.data();
}

/// Returns true if the descriptor still refers to the file with this name. The last process that
/// uses the lock file removes it, so the descriptor may refer to a removed file.
bool has_this_name(int fd, const fs::path& file) {
  struct stat opened = {}, named = {};
  return ::fstat(fd, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

tl::unexpected<Error> no_lock(const fs::path& file, int error) {
  return fail(file.string(), "cannot be locked: " + std::generic_category().message(error),
              "keep the database in a writable folder of a file system that supports locks");
}

fs::path lock_file_of(const fs::path& database) {
  std::error_code unresolved;
  fs::path file = fs::canonical(database, unresolved);
  if (unresolved) file = fs::absolute(database);
  file += ".lock";
  return file;
}

}  // namespace

std::string run_owner(const fs::path& database, std::int64_t run) {
  const base::Descriptor descriptor(::open(lock_file_of(database).c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open()) return {};
  struct flock range = range_of(run, LockAction::lock);
  if (::fcntl(descriptor.get(), F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) return {};
  return owner_of(descriptor.get(), run);
}

Result<RunLock> RunLock::open(const fs::path& database) {
  fs::path file = lock_file_of(database);
  while (true) {
    base::Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!descriptor.is_open()) return no_lock(file, errno);
    if (set(descriptor.get(), F_OFD_SETLKW, range_of(kOpening, LockAction::lock)) !=
        LockResult::yes)
      return no_lock(file, errno);
    if (has_this_name(descriptor.get(), file))
      return RunLock(std::move(file), std::move(descriptor));
  }
}

Result<void> RunLock::take(std::int64_t run) {
  const int fd = descriptor_.get();
  const LockResult taken = set(fd, F_OFD_SETLK, range_of(run, LockAction::lock));
  if (taken == LockResult::failed) return no_lock(file_, errno);
  if (taken == LockResult::by_another)
    return fail(fmt::format("run {}", run), "is being executed by " + owner_of(fd, run),
                "wait until that process has ended, or stop it; --resume then runs the "
                "remaining trials");
  const std::string owner = who_we_are();
  if (::pwrite(fd, owner.data(), owner.size(), run * kRecordBytes) != kRecordBytes)
    return fail(file_.string(), "cannot be written: " + std::generic_category().message(errno),
                "free space on its file system");
  return {};
}

void RunLock::opened() {
  set(descriptor_.get(), F_OFD_SETLK, range_of(kOpening, LockAction::unlock));
}

void RunLock::release() {
  if (!descriptor_.is_open()) return;
  struct flock whole = {};  // length 0 means up to the end of the file
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (set(descriptor_.get(), F_OFD_SETLK, whole) == LockResult::yes &&
      has_this_name(descriptor_.get(), file_))
    ::unlink(file_.c_str());
  descriptor_.reset();
}

RunLock::~RunLock() {
  release();
}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  if (this != &other) {
    release();
    file_ = std::move(other.file_);
    descriptor_ = std::move(other.descriptor_);
  }
  return *this;
}

}  // namespace headcrash::run
