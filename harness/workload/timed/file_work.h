#pragma once
// What users of timed workloads do with files: the few calls that all of them are made of, each
// counted, checked, and stopped when another user has failed.
//
// A file's bytes follow from its number, its version and the offset (harness/workload/stamp.h), at
// any offset and in any length, so that every read can be compared with what must be there. The
// version comes from the
// seed: a file left behind by another run is wrong data, and not luck.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/workload/timed/timed_workload.h"

namespace headcrash::timed {

struct TimedFile {
  std::string path;
  std::uint32_t number = 0;  ///< tells it from all others of the workload
  std::uint64_t bytes = 0;
  std::uint32_t rewritten = 0;  ///< how often its content has been replaced
};

class FileWork {
 public:
  /// Reads and writes go in pieces of `unit_bytes`.
  explicit FileWork(User& user, std::size_t unit_bytes = kUsualUnitBytes);

  PhaseResult make_folder(const std::string& path);
  PhaseResult remove_folder(const std::string& path);
  PhaseResult remove(const std::string& path);
  PhaseResult stat(const std::string& path);
  PhaseResult list(const std::string& path);
  PhaseResult fsync(const TimedFile& file);  ///< opens it for that
  /// Everything is on the disk: the end of a preparation.
  PhaseResult sync();

  /// Creates it, which must not exist, writes all of it and closes it.
  PhaseResult create(const TimedFile& file);
  /// Opens it, reads up to its end, compares, closes it.
  PhaseResult read(const TimedFile& file);
  /// How it lies on the disk is counted, if the file system tells.
  PhaseResult look_at_layout(const TimedFile& file);
  /// What cp does: reads `from` and writes the same bytes to a new `to`.
  PhaseResult copy(const TimedFile& from, const std::string& to);

  /// Opens it, does `body` with it and closes it, whatever comes of it; `verb` says what could not
  /// be done.
  PhaseResult with_open(const TimedFile& file, const OpenOptions& options, std::string_view verb,
                        const std::function<PhaseResult(FileHandle)>& body);
  PhaseResult write_at(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                       std::uint64_t bytes);
  PhaseResult read_at(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                      std::uint64_t bytes);

  /// CPU time, as a compiler takes it.
  void compute_ms(std::uint64_t ms) { user_.vfs.cpu(static_cast<std::int64_t>(ms) * 1'000'000); }

  /// One of a script's commands.
  void start_program() { user_.vfs.start_program(); }

  /// Of a folder: exactly `count` entries.
  PhaseResult expect_entries(const std::string& folder, std::size_t count);
  PhaseResult expect_missing(const std::string& path);
  /// For calls that are not among these: `done` told as a PhaseError.
  static PhaseResult told(const VfsResult<void>& done, std::string_view verb,
                          const std::string& path);
  /// Fails when another user has.
  PhaseResult go_on() const;

  /// One of the workload's operations: counted, its latency recorded.
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
  PhaseResult put_at(FileHandle handle, const TimedFile& file, std::uint64_t offset,
                     std::span<const std::byte> piece);
  PhaseResult compare(const TimedFile& file, std::uint64_t offset,
                      std::span<const std::byte> found);

  User& user_;
  std::vector<std::byte> unit_, expected_;
};

/// Numbers that are the same everywhere: of a user, for a purpose, from the workload's seed.
std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t user, std::uint64_t purpose);

}  // namespace headcrash::timed
