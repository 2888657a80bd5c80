#pragma once
// File operations for the users of timed workloads. Each call is counted, and its result is
// checked. After another user has failed, all calls fail, so that this user stops, too.
//
// The bytes of a file follow from its number, its version and the offset
// (harness/workload/stamp.h), for any offset and length. Every read can therefore be verified. The
// version is derived from the seed, so a file from another run is detected as wrong data.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/workload/timed/timed_workload.h"

namespace headcrash::timed {

struct TimedFile {
  std::string path;
  std::uint32_t number = 0;  ///< unique within the workload
  std::uint64_t bytes = 0;
  std::uint32_t rewritten = 0;  ///< number of times that the contents have been replaced
};

class FileWork {
 public:
  /// Files are read and written in units of `unit_bytes`.
  explicit FileWork(User& user, std::size_t unit_bytes = kUsualUnitBytes);

  PhaseResult make_folder(const std::string& path);
  PhaseResult remove_folder(const std::string& path);
  PhaseResult remove(const std::string& path);
  PhaseResult stat(const std::string& path);
  PhaseResult list(const std::string& path);
  PhaseResult fsync(const TimedFile& file);  ///< opens the file, calls fsync and closes the file
  /// Calls sync. Used at the end of phases that prepare files.
  PhaseResult sync();

  /// Creates the file, writes it and closes it. Fails if the file exists.
  PhaseResult create(const TimedFile& file);
  /// Opens the file, reads it to its end, verifies the contents and closes it.
  PhaseResult read(const TimedFile& file);
  /// Adds the layout of the file to the tally. Does nothing if the file system does not report
  /// layouts.
  PhaseResult inspect_layout(const TimedFile& file);
  /// Copies a file as cp does: reads `from` and writes the same bytes to the new file `to`.
  PhaseResult copy(const TimedFile& from, const std::string& to);

  /// Opens the file, calls `body` and closes the file, even if `body` has failed. Errors describe
  /// the operation with `verb`.
  PhaseResult with_open(const TimedFile& file, const OpenOptions& options, std::string_view verb,
                        const std::function<PhaseResult(FileHandle)>& body);
  PhaseResult write_at(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                       std::uint64_t bytes);
  PhaseResult read_at(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                      std::uint64_t bytes);

  void compute_ms(std::uint64_t ms) { user_.vfs.cpu(static_cast<std::int64_t>(ms) * 1'000'000); }

  void start_program() { user_.vfs.start_program(); }

  PhaseResult expect_entries(const std::string& folder, std::size_t count);
  PhaseResult expect_missing(const std::string& path);
  static PhaseResult phase_result(const VfsResult<void>& done, std::string_view verb,
                                  const std::string& path);
  /// Fails if another user has failed, so that this user stops, too.
  PhaseResult go_on() const;

  /// Performs one operation of the workload. If it succeeds, counts it and records its latency.
  template <typename Body>
  PhaseResult operation(const Body& body) {
    const std::int64_t start_ns = user_.pace.now_ns();
    const PhaseResult done = body();
    if (!done) return done;
    ++user_.tally.operations;
    user_.tally.latencies.record(user_.pace.now_ns() - start_ns);
    return {};
  }

  User& user() { return user_; }

  static constexpr std::size_t kUsualUnitBytes = 64 << 10;

 private:
  void fill(const TimedFile& file, std::uint64_t offset, std::span<std::byte> data) const;
  PhaseResult write_piece(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                          std::span<const std::byte> piece);
  PhaseResult compare(const TimedFile& file, std::uint64_t offset,
                      std::span<const std::byte> found);

  User& user_;
  std::vector<std::byte> unit_, expected_;
};

/// Derives a seed from the seed of the workload, a user and a purpose. The result is the same on
/// every host.
std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t user, std::uint64_t purpose);

}  // namespace headcrash::timed
