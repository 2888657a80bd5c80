#pragma once
// The files of an office worker over months: which files exist on each day, and how they change
// from day to day.
//
// A working day has eight hours; five of seven days are working days. A user performs one small job
// after another until the day's bytes have been written. Jobs are spread over the day in proportion
// to the bytes written so far. The kinds of jobs are:
//
//   of 20 jobs   7  a temporary file, removed within the next 20 jobs, or in the evening
//                4  a new file
//                5  an edit: the new content, up to a quarter longer or shorter, goes to a file
//                   with another name, which is synced and renamed over the old one
//                2  lines appended to one of three logs; a log of 1 MiB is removed and restarted
//                2  up to 64 KiB in the middle of a file are overwritten in place
//
// When a user's files exceed the limit, random files are removed. An edit selects four files at
// random and takes the one that was changed last, because files that were edited recently are more
// likely to be edited again.
//
// Everything follows from the arguments, the seed and the user's number. To determine the files at
// the start of a phase, the days before it are replayed without a file system (`work` is null).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/random_source.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::timed {

/// Returns a random file size with a log-normal distribution. Its mean is about 23 KB, its maximum
/// 2 MiB. The standard deviation is that of a survey of Unix systems (Irlam 1993: 3.17 in powers of
/// two). Uses only integers, so that results are equal on every host.
std::uint64_t office_file_bytes(RandomSource& random);

class OfficeWorker {
 public:
  explicit OfficeWorker(const User& user);

  /// Creates the user's initial files. If `work` is null, only determines which files these are.
  PhaseResult move_in(FileWork* work);
  /// Performs the work of days `first` to `end` - 1, counted from 0. Returns when the last of these
  /// days is over.
  PhaseResult work_days(std::uint64_t first, std::uint64_t end, FileWork* work);

  /// Returns all files. The file that was modified least recently comes first.
  std::vector<TimedFile> files() const;
  std::string home() const;

 private:
  struct File {
    std::uint32_t serial = 0, folder = 0, rewritten = 0;
    std::uint64_t bytes = 0;
    /// Position of the file's last change in the sequence of all changes.
    std::uint64_t changed = 0;
  };
  struct Temporary {
    File file;
    std::uint64_t until_job = 0;
  };

  TimedFile named(const File& file) const;
  TimedFile temporary(const File& file) const;
  File new_file(std::uint64_t bytes);
  std::size_t worked_on();

  PhaseResult work_day(std::uint64_t day, std::int64_t midnight_ns, FileWork* work);
  PhaseResult job(FileWork* work);
  PhaseResult make_temporary(FileWork* work);
  PhaseResult remove_temporaries(FileWork* work, bool all);
  PhaseResult make_file(FileWork* work);
  PhaseResult edit(FileWork* work);
  PhaseResult append_to_log(FileWork* work);
  PhaseResult overwrite(FileWork* work);
  PhaseResult tidy_up(FileWork* work);

  const User& user_;
  std::uint64_t kept_bytes_, day_bytes_;
  std::int64_t day_ns_;
  RandomSource random_;
  std::vector<File> files_;  ///< the logs are the first elements
  std::vector<Temporary> temporaries_;
  std::uint64_t bytes_ = 0;    ///< total size of the files in files_
  std::uint64_t written_ = 0;  ///< bytes written since the start of the day
  std::uint64_t changes_ = 0, jobs_ = 0;
  std::uint32_t serial_ = 0;
};

}  // namespace headcrash::timed
