// Ages a file system by office work (office.h), and measures it at several ages.
//
//   move-in                   create each user's files (not measured)
//   -- at each age --
//   read-old day N            read the eighth of all files that was changed least recently, in the
//                             order of the changes (cold)
//   read-new day N            read the eighth that was changed most recently (cold)
//   write day N               write new files: half of `probe-kib` in files of usual sizes, half in
//                             one file per user
//   read day N                read the new files (cold); their layout shows the state of the free
//                             space
//   clear day N               remove the new files (not measured)
//   -- until the next age --
//   work until day N          days of work, with nights and weekends in which the file system is
//                             idle (not measured)
//   verify                    verify every file and its contents
//
// Each phase that reads files queries their layout afterwards. The layout score is the share of the
// blocks that directly follow the previous block of their file (Smith and Seltzer).
//
// Source: Smith and Seltzer, "File System Aging: Increasing the Relevance of File System
// Benchmarks", SIGMETRICS 1997. From this paper we take the idea of ageing with the files of users,
// the layout score, and the separate measurements of existing and of new files. Its load replays
// ten months of changes to the files of one server. These data are not available, so our load is
// generated at random. The amount written comes from Rosenblum 1992, table 6-2, /user6, home
// directories: 4.4 MB per hour with 946 MB in use (73.9 % of 1280), that is, 28 MB per day with 256
// MB in use. The mean file size of 23 KB comes from the same row, the distribution of sizes from
// Irlam 1993. All other values are estimates: the shares of the jobs, the hours, the weekend, the
// share of the disk in use, and the kind and amount of measurements.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "harness/workload/timed/office.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

constexpr std::uint64_t kSecondsADay = 86'400;
constexpr std::size_t kShareRead = 8;  // a reading phase reads 1/kShareRead of the files
// Number of the first probe file. No file of a user has such a high number.
constexpr std::uint32_t kFirstProbe = 1U << 25;

struct Ages {
  std::uint64_t days = 0, every = 0;
  explicit Ages(const Arguments& arguments)
      : days(argument(arguments, "days")), every(argument(arguments, "every-days")) {}
  std::uint64_t next(std::uint64_t age) const { return std::min(age + every, days); }
};

/// Returns the office worker for this user, advanced to an age of `age` days.
OfficeWorker office_at(const User& user, std::uint64_t age) {
  OfficeWorker office(user);
  (void)office.move_in(nullptr);
  (void)office.work_days(0, age, nullptr);
  return office;
}

/// Reads all files. Queries their layout only afterwards, because the query needs I/O.
PhaseResult read_all(User& user, std::span<const TimedFile> files, bool with_layout) {
  FileWork work(user);
  for (const TimedFile& file : files) {
    if (const auto same = work.operation([&] { return work.read(file); }); !same) return same;
  }
  for (const TimedFile& file : with_layout ? files : std::span<const TimedFile>()) {
    TRY(work.inspect_layout(file));
  }
  return {};
}

enum class FileShare : std::uint8_t { oldest, newest, all };

PhaseResult read_files(User& user, std::uint64_t age, FileShare share) {
  const std::vector<TimedFile> files = office_at(user, age).files();
  const std::size_t count =
      share == FileShare::all ? files.size() : (files.size() + kShareRead - 1) / kShareRead;
  const std::size_t first = share == FileShare::newest ? files.size() - count : 0;
  return read_all(user, std::span(files).subspan(first, count), share != FileShare::all);
}

std::string probe_folder(const User& user) {
  return fmt::format("u{}/probe", user.number);
}

/// Returns the new files that are written to measure the file system at this age.
std::vector<TimedFile> probe_of(const User& user, std::uint64_t age) {
  const std::uint64_t half =
      (argument(user.arguments, "probe-kib") << 10) / argument(user.arguments, "users") / 2;
  RandomSource random(mixed_seed(user.seed, user.number, 2 + age));
  std::vector<TimedFile> files;
  const auto add = [&](std::uint64_t bytes) {
    files.push_back({.path = fmt::format("{}/{}", probe_folder(user), files.size()),
                     .number = static_cast<std::uint32_t>(user.number) * 2 * kFirstProbe +
                               kFirstProbe + static_cast<std::uint32_t>(files.size()),
                     .bytes = bytes,
                     .rewritten = static_cast<std::uint32_t>(age)});
  };
  for (std::uint64_t given = 0; given < half; given += files.back().bytes)
    add(std::min(office_file_bytes(random), half - given));
  add(half);
  return files;
}

PhaseResult write_probe(User& user, std::uint64_t age) {
  FileWork work(user);
  TRY(work.make_folder(probe_folder(user)));
  for (const TimedFile& file : probe_of(user, age)) {
    if (const auto made = work.operation([&] { return work.create(file); }); !made) return made;
  }
  return {};
}

PhaseResult read_probe(User& user, std::uint64_t age) {
  const std::vector<TimedFile> files = probe_of(user, age);
  return read_all(user, files, true);
}

PhaseResult clear_probe(User& user, std::uint64_t age) {
  FileWork work(user);
  for (const TimedFile& file : probe_of(user, age)) {
    TRY(work.remove(file.path));
  }
  return work.remove_folder(probe_folder(user));
}

void measure_at(std::uint64_t age, std::size_t users, std::vector<Phase>& phases) {
  const auto name = [age](const char* what) { return fmt::format("{} day {}", what, age); };
  phases.push_back(
      {.name = name("read-old"), .users = users, .cold = true, .body = [age](User& user) {
         return read_files(user, age, FileShare::oldest);
       }});
  phases.push_back(
      {.name = name("read-new"), .users = users, .cold = true, .body = [age](User& user) {
         return read_files(user, age, FileShare::newest);
       }});
  phases.push_back({.name = name("write"), .users = users, .body = [age](User& user) {
                      return write_probe(user, age);
                    }});
  phases.push_back({.name = name("read"), .users = users, .cold = true, .body = [age](User& user) {
                      return read_probe(user, age);
                    }});
  phases.push_back(
      {.name = name("clear"), .users = users, .measured = false, .body = [age](User& user) {
         return clear_probe(user, age);
       }});
}

std::vector<Phase> ageing_phases(const Arguments& arguments) {
  const Ages ages(arguments);
  const std::size_t users = argument(arguments, "users");
  std::vector<Phase> phases{
      {.name = "move-in", .users = users, .measured = false, .body = [](User& user) {
         FileWork work(user);
         return OfficeWorker(user).move_in(&work);
       }}};
  measure_at(0, users, phases);
  for (std::uint64_t age = 0; age < ages.days;) {
    const std::uint64_t from = age;
    age = ages.next(age);
    phases.push_back({.name = fmt::format("work until day {}", age),
                      .users = users,
                      .measured = false,
                      .body = [from, age](User& user) {
                        FileWork work(user);
                        return office_at(user, from).work_days(from, age, &work);
                      }});
    measure_at(age, users, phases);
  }
  phases.push_back(
      {.name = "verify",
       .users = users,
       .measured = false,
       .cold = true,
       .body = [ages](User& user) { return read_files(user, ages.days, FileShare::all); }});
  return phases;
}

}  // namespace

TimedWorkload ageing() {
  return {
      .name = "ageing",
      .title =
          "office work for a year; at several ages of the file system, old, new and additional "
          "files are read and written",
      .source =
          "after Smith and Seltzer 1997; amounts from Rosenblum 1992, table 6-2; the load is ours",
      .operation = "files",
      .parameters = {{"users", 4, 2, 1, 64, "our choice"},
                     {"days", 364, 14, 0, 36'400,
                      "our choice: a year of whole weeks; the source has ten months"},
                     {"every-days", 91, 7, 1, 36'400, "days between two measurements: our choice"},
                     {"in-use-kib", 262'144, 16'384, 64, 1LL << 32,
                      "size of all files: our choice, for a disk of 512 MB"},
                     {"written-kib", 28'672, 1'024, 1, 1LL << 32,
                      "KiB written on each working day: Rosenblum 1992, table 6-2, /user6"},
                     {"probe-kib", 16'384, 1'024, 8, 1LL << 32,
                      "size of the new files at each measurement: our choice"},
                     {"day-s", kSecondsADay, kSecondsADay, 0, 10 * kSecondsADay, "a day"}},
      .phases = ageing_phases,
      .waits_s = [](const Arguments& arguments) {
        return std::min(argument(arguments, "days"), argument(arguments, "every-days")) *
               argument(arguments, "day-s");
      }};
}

}  // namespace headcrash::timed
