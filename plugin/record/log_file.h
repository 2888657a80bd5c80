#pragma once
// An append-only file. All of it can be read, including bytes not yet written to the kernel.
//
//   offset 0                            in_kernel()            size()
//   | ------------- in the file ------------ | -- gathered (<= 1 MiB) -- |
//
// Small pieces are buffered. A large piece is written directly from the caller's memory, together
// with the buffered pieces, by one pwritev(2). If the kernel reports an error (disk full), buffered
// bytes stay readable, appends fail, and the error is kept. Writeback is started every few MiB, so
// a server that records for hours does not accumulate dirty memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::record {

class LogFile {
 public:
  enum class Content : std::uint8_t { recording, exported };
  /// Creates the file; fails if it exists. Holds a flock(2) lock on it until destruction. `content`
  /// describes the contents in messages.
  static Result<std::unique_ptr<LogFile>> create(const std::filesystem::path& path,
                                                 Content content = Content::recording);
  /// Opens an existing file for appending.
  static Result<std::unique_ptr<LogFile>> open(const std::filesystem::path& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Appends `head` and then `payload`. Returns false if the file has failed.
  bool append(std::span<const std::byte> head, std::span<const std::byte> payload = {});
  /// Passes the buffered bytes to the kernel. Returns false if the file has failed.
  bool flush();
  /// Flushes and closes the file; reports delayed kernel errors. The object must not be used
  /// afterwards.
  Result<void> close();
  /// Overwrites bytes that have already been passed to the kernel.
  bool overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  Result<void> truncate(std::uint64_t size);

  std::uint64_t size() const { return in_kernel_ + gathered_.size(); }
  std::uint64_t in_kernel() const { return in_kernel_; }
  const std::string& path() const { return path_; }
  const std::optional<Error>& error() const { return error_; }
  void fail_with(Error error);  ///< simulates a host error; the first error is kept

 private:
  LogFile(std::string path, int fd, std::uint64_t size);
  bool to_kernel(std::span<const std::byte> head, std::span<const std::byte> payload);
  void start_writeback();
  void fail_by(int reason);

  std::string path_;
  Content content_ = Content::recording;
  int fd_;
  std::uint64_t in_kernel_;
  std::uint64_t writeback_from_;
  std::vector<std::byte> gathered_;
  std::optional<Error> error_;
};

/// Reads `into.size()` bytes from a file that another process may be appending to. Fails if the
/// file is too short.
Result<void> read_exactly(int fd, const std::string& path, std::uint64_t offset,
                          std::span<std::byte> into);

}  // namespace headcrash::record
