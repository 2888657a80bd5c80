// Creates work for a recovery: files that are certainly on the disk, and later files that are
// persistent only in the log.
//
//   fill      create `files` files, then sync(2): log-structured file systems write a checkpoint,
//             and journals are emptied
//   dirty     create `dirty` more files, each with fsync(2)
//   -- the power is cut; the file system is replayed, checked and mounted; the benchmark measures
//      each of these steps --
//   verify    verify all files and their contents, because each file had been promised
//
// Source: Rosenblum, "The Design and Implementation of a Log-structured File System", 1992, section
// 6.2.1.3: recovery times of Sprite LFS for 1, 10 and 50 MB of files of 1, 10 and 100 KB that were
// written after the last checkpoint. Our choices: fsync after every file, because most file systems
// would have an empty log otherwise; and the files of `fill`, because the duration of a check
// depends on them.
#include <fmt/format.h>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

struct RecoveryFiles {
  std::uint64_t files = 0, dirty = 0, file_bytes = 0, files_per_folder = 0;

  explicit RecoveryFiles(const Arguments& arguments)
      : files(argument(arguments, "files")),
        dirty(argument(arguments, "dirty")),
        file_bytes(argument(arguments, "file-bytes")),
        files_per_folder(argument(arguments, "files-per-folder")) {}

  static std::string folder(std::uint64_t number) { return fmt::format("r{}", number); }
  TimedFile file(std::uint64_t number) const {
    return {.path = fmt::format("{}/f{}", folder(number / files_per_folder), number),
            .number = static_cast<std::uint32_t>(number),
            .bytes = file_bytes};
  }

  /// Creates the files from `first` to `end` - 1. Before the first file of a directory, creates the
  /// directory.
  PhaseResult make(User& user, std::uint64_t first, std::uint64_t end, bool each_synced) const {
    FileWork work(user);
    for (std::uint64_t i = first; i < end; ++i) {
      if (i % files_per_folder == 0) {
        TRY(work.make_folder(folder(i / files_per_folder)));
      }
      const auto done = work.operation([&] {
        const auto created = work.create(file(i));
        return created && each_synced ? work.fsync(file(i)) : created;
      });
      if (!done) return done;
    }
    return each_synced ? PhaseResult{} : work.sync();
  }

  PhaseResult verify(User& user) const {
    FileWork work(user);
    for (std::uint64_t i = 0; i < files + dirty; ++i) {
      TRY(work.read(file(i)));
    }
    return {};
  }
};

std::vector<Phase> recovery_phases(const Arguments& arguments) {
  const RecoveryFiles set(arguments);
  return {
      {.name = "fill",
       .measured = false,
       .body = [set](User& user) { return set.make(user, 0, set.files, false); }},
      {.name = "dirty",
       .measured = false,
       .body =
           [set](User& user) { return set.make(user, set.files, set.files + set.dirty, true); }},
      {.name = "verify", .measured = false, .after_cut = true, .body = [set](User& user) {
         return set.verify(user);
       }}};
}

std::vector<Parameter> recovery_parameters() {
  return {{"files", 4'000, 500, 1, 10'000'000, "synced files on the disk: our choice"},
          {"dirty", 1'000, 100, 0, 10'000'000,
           "files written and fsynced after the sync: 10 MB in files of 10 KB"},
          {"file-bytes", 10'240, 4'096, 0, 64 << 20,
           "size of each file written after the sync: 10 MB in files of 10 KB"},
          {"files-per-folder", 100, 100, 1, 10'000'000, "our choice: not given in the source"}};
}

}  // namespace

TimedWorkload recovery() {
  return {
      .name = "recovery",
      .title =
          "time of replay, check and mount after a power cut, by number of files on disk and in log",
      .source = "Rosenblum 1992, section 6.2.1.3",
      .operation = "files",
      .parameters = recovery_parameters(),
      .phases = recovery_phases};
}

/// Like the previous workload, but the time from power-on to mount is measured as one step, the
/// boot. This time depends on the size of the disk.
TimedWorkload boot_after_cut() {
  return {
      .name = "boot-after-cut",
      .title =
          "time from power-on after a power cut to a mounted file system, and time of a full check",
      .source = "after Rosenblum 1992, section 6.2.1.3",
      .operation = "files",
      .parameters = recovery_parameters(),
      .phases = recovery_phases,
      .boots = true};
}

}  // namespace headcrash::timed
