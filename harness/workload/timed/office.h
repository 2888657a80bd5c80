#pragma once
// An office worker's files over months: which there are on which day, and what is done to them in
// between.
//
// A working day has eight hours; five of seven days are working days. In its hours a user goes from
// one small job to the next until as many bytes have been written as a day has, each job at the
// time that its share of the bytes gives it:
//
//   of 20 jobs   7  a temporary file, which is removed within the next 20 jobs, at the latest in the evening
//                4  a new file
//                5 an edit: the new content, up to a quarter longer or shorter, goes into a file of
//                another name, fsync,
//                   rename over the old one
//                2  lines at the end of one of three logs; a log of 1 MiB is removed and begun anew
//                2  up to 64 KiB in the middle of a file are written where they are
//
// When a user has more bytes than he is to keep, files are removed, any of them. Of four files that
// are drawn the one last changed is edited: what has been worked on is worked on again.
//
// All of it follows from the arguments, the seed and the user's number. What happened before the
// first day of a phase is gone through again without a file system (`work` is null), which is how a
// phase knows what there is.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/workload/timed/dice.h"
#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::timed {

/// Log-normal, as wide as in a survey of Unix systems (Irlam 1993: 3.17 in powers of two), with a
/// mean of about 23 KB and at most 2 MiB. Integers only: the same on every host.
std::uint64_t office_file_bytes(Dice& dice);

class Office {
 public:
  explicit Office(const User& user);

  /// As many files as the user keeps.
  PhaseResult move_in(FileWork* work);
  /// The days `first`, `first` + 1, ... before `end`; days count from 0. Ends when the last one
  /// has.
  PhaseResult work_days(std::uint64_t first, std::uint64_t end, FileWork* work);

  /// The files that there are, the one last changed at the end.
  std::vector<TimedFile> files() const;
  std::string home() const;

 private:
  struct File {
    std::uint32_t serial = 0, folder = 0, rewritten = 0;
    std::uint64_t bytes = 0;
    std::uint64_t changed = 0;  ///< a number that grows with each change
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
  Dice dice_;
  std::vector<File> files_;  ///< the logs first
  std::vector<Temporary> temporaries_;
  std::uint64_t bytes_ = 0;    ///< of files_
  std::uint64_t written_ = 0;  ///< since the day began
  std::uint64_t changes_ = 0, jobs_ = 0;
  std::uint32_t serial_ = 0;
};

}  // namespace headcrash::timed
