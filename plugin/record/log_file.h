#pragma once
// A file that grows at its end and can be read everywhere, also where its newest bytes have not
// reached the kernel yet.
//
//   offset 0                            in_kernel()            size()
//   | ------------- in the file ------------ | -- gathered (<= 1 MiB) -- |
//
// Small pieces gather; a large one goes to the kernel together with what has gathered before it in
// one pwritev(2), from the caller's memory, so that it is copied once. When the kernel refuses
// (disk full), what has gathered stays readable, nothing more is taken, and the error is kept.
// Writeback is started every few MiB: a server that records for hours must not find all of its
// memory dirty at once.

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
  /// Makes the file; refuses an existing one. Holds flock(2) on it as long as it lives. `content`
  /// is for errors.
  static Result<std::unique_ptr<LogFile>> create(const std::filesystem::path& path,
                                                 Content content = Content::recording);
  /// Continues at `size`; what lies beyond it is cut off.
  static Result<std::unique_ptr<LogFile>> open(const std::filesystem::path& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Appends the pieces one after the other; false when the file has failed.
  bool append(std::span<const std::byte> head, std::span<const std::byte> payload = {});
  /// Hands everything to the kernel; false when the file has failed.
  bool flush();
  /// flush(), then closes the file, which may report what the kernel could not keep. Nothing may
  /// follow.
  Result<void> close();
  /// Overwrites what is in the kernel already.
  bool overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;
  Result<void> truncate(std::uint64_t size);

  std::uint64_t size() const { return in_kernel_ + gathered_.size(); }
  std::uint64_t in_kernel() const { return in_kernel_; }
  const std::string& path() const { return path_; }
  const std::optional<Error>& error() const { return error_; }
  void fail_with(Error error);  ///< as if the kernel had refused; the first error stays

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

/// Reads `into.size()` bytes of a file that somebody else may be writing; an error when it is
/// shorter.
Result<void> read_exactly(int fd, const std::string& path, std::uint64_t offset,
                          std::span<std::byte> into);

}  // namespace headcrash::record
