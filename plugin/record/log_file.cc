#include "plugin/record/log_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "plugin/media/host_reason.h"
#include "plugin/record/event_format.h"

namespace headcrash::record {
namespace {

constexpr std::size_t kGatherBytes = 1 << 20;
constexpr std::size_t kDirectBytes = 32 << 10;  ///< larger payloads bypass the buffer
constexpr std::uint64_t kWritebackBytes = 16 << 20;
constexpr std::array<std::byte, kEventAlignment> kPadding = {};

/// Locks the file. If the lock is unavailable, the error gives the reason.
Result<void> lock(const std::filesystem::path& path, int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno == EWOULDBLOCK)
    return fail(path, "is in use by another server", "stop that server, or use another name");
  return fail(path, "cannot be locked: " + media::host_reason(errno),
              "choose a folder on a local file system");
}

}  // namespace

LogFile::LogFile(std::string path, int fd, std::uint64_t size)
    : path_(std::move(path)), fd_(fd), in_kernel_(size), writeback_from_(size) {
  gathered_.reserve(kGatherBytes);
}

LogFile::~LogFile() {
  flush();
  if (fd_ >= 0) ::close(fd_);
}

void LogFile::fail_by(int reason) {
  const bool full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
  const bool recording = content_ == Content::recording;
  std::string hint = full        ? "use a file system with free space"
                     : recording ? ""
                                 : "choose another folder";
  if (recording)
    hint += (full ? "; " : "") + std::string("events recorded earlier remain readable");
  fail_with({path_,
             (recording ? "writing the recording failed: " : "cannot be written: ") +
                 media::host_reason(reason),
             hint});
}

Result<std::unique_ptr<LogFile>> LogFile::create(const std::filesystem::path& path,
                                                 Content content) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST)
    return fail(path, "exists already", "delete that file, or give the recording another name");
  if (fd < 0)
    return fail(path, "cannot be created: " + media::host_reason(errno),
                "check the folder and its permissions");
  std::unique_ptr<LogFile> file(new LogFile(path.string(), fd, 0));
  file->content_ = content;
  if (auto locked = lock(path, fd); !locked) {
    unlink(path.c_str());
    return forward_error(locked);
  }
  return file;
}

Result<std::unique_ptr<LogFile>> LogFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return fail(path, "cannot be opened for writing: " + media::host_reason(errno),
                "check its permissions");
  std::unique_ptr<LogFile> file(new LogFile(path.string(), fd, 0));
  TRY(lock(path, fd));
  struct stat status = {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return fail(path, "is not a regular file",
                "use a file written by `headcrash serve --record` or record=");
  file->in_kernel_ = file->writeback_from_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

void LogFile::fail_with(Error error) {
  if (!error_) error_ = std::move(error);
}

bool LogFile::to_kernel(std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (error_) return false;
  const auto piece = [](std::span<const std::byte> bytes) {
    return iovec{const_cast<std::byte*>(bytes.data()), bytes.size()};  // the kernel only reads
  };
  const std::size_t padding = padded(payload.size()) - payload.size();
  std::array<iovec, 4> pieces = {piece(gathered_), piece(head), piece(payload),
                                 piece(std::span(kPadding).first(padding))};
  std::uint64_t at = in_kernel_;
  for (std::size_t first = 0; first < pieces.size();) {
    if (pieces[first].iov_len == 0) {
      ++first;
      continue;
    }
    const ssize_t n = pwritev(fd_, &pieces[first], static_cast<int>(pieces.size() - first),
                              static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      fail_by(errno);
      return false;
    }
    at += static_cast<std::uint64_t>(n);
    for (auto left = static_cast<std::size_t>(n); left > 0;) {
      const std::size_t step = std::min(left, pieces[first].iov_len);
      pieces[first].iov_base = static_cast<std::byte*>(pieces[first].iov_base) + step;
      pieces[first].iov_len -= step;
      left -= step;
      if (pieces[first].iov_len == 0) ++first;
    }
  }
  in_kernel_ = at;
  gathered_.clear();
  start_writeback();
  return true;
}

void LogFile::start_writeback() {
  if (in_kernel_ - writeback_from_ < kWritebackBytes) return;
  const auto bytes = static_cast<off_t>(in_kernel_ - writeback_from_);
  // This call only starts writeback. Its errors can be ignored, because a later write reports them
  // again.
  static_cast<void>(
      sync_file_range(fd_, static_cast<off_t>(writeback_from_), bytes, SYNC_FILE_RANGE_WRITE));
  writeback_from_ = in_kernel_;
}

bool LogFile::append(std::span<const std::byte> head, std::span<const std::byte> payload) {
  if (error_) return false;
  const std::size_t whole = head.size() + padded(payload.size());
  if (payload.size() >= kDirectBytes) return to_kernel(head, payload);
  if (whole > kGatherBytes - gathered_.size() && !to_kernel({}, {})) return false;
  gathered_.insert(gathered_.end(), head.begin(), head.end());
  gathered_.insert(gathered_.end(), payload.begin(), payload.end());
  gathered_.resize(gathered_.size() + padded(payload.size()) - payload.size());
  return true;
}

bool LogFile::flush() {
  return to_kernel({}, {});
}

Result<void> LogFile::close() {
  flush();
  if (::close(std::exchange(fd_, -1)) != 0) fail_by(errno);
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

bool LogFile::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (error_) return false;
  const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (n == static_cast<ssize_t>(bytes.size())) return true;
  const int reason = n < 0 ? errno : ENOSPC;
  fail_by(reason);
  return false;
}

Result<void> LogFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset < in_kernel_) {
    const auto from_file = into.first(std::min<std::uint64_t>(into.size(), in_kernel_ - offset));
    TRY(read_exactly(fd_, path_, offset, from_file));
    offset += from_file.size();
    into = into.subspan(from_file.size());
  }
  if (into.empty()) return {};
  const std::uint64_t start = offset - in_kernel_;
  if (start > gathered_.size() || into.size() > gathered_.size() - start)
    return fail(path_, fmt::format("has no bytes at offset {}", offset),
                "the recording is damaged");
  std::memcpy(into.data(), gathered_.data() + start, into.size());
  return {};
}

Result<void> LogFile::truncate(std::uint64_t size) {
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0)
    return fail(path_,
                "cannot be truncated to its last complete event: " + media::host_reason(errno),
                "check its file system");
  in_kernel_ = writeback_from_ = size;
  return {};
}

Result<void> read_exactly(int fd, const std::string& path, std::uint64_t offset,
                          std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t n = pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(path, "reading failed: " + media::host_reason(errno));
    if (n == 0)
      return fail(path, fmt::format("ends at offset {}, but more bytes were recorded", offset),
                  "do not modify a recording that is in use");
    into = into.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace headcrash::record
