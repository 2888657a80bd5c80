// The small-file benchmark of Sprite LFS.
//
// Source: Rosenblum, "The Design and Implementation of a Log-structured File System", 1992, section
// 6.2.1.1 and figure 6-1. 10 000 files of one kilobyte are created (open with creation, write,
// close). The file cache is flushed. The files are then read, and deleted in the order of their
// creation. Our choice: 100 files in each directory; the dissertation says only that many files
// share one.
#include <fmt/format.h>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

struct SmallFiles {
  std::uint64_t files = 0, file_bytes = 0, files_per_folder = 0;

  explicit SmallFiles(const Arguments& arguments)
      : files(argument(arguments, "files")),
        file_bytes(argument(arguments, "file-bytes")),
        files_per_folder(argument(arguments, "files-per-folder")) {}

  std::uint64_t folders() const { return (files + files_per_folder - 1) / files_per_folder; }
  static std::string folder(std::uint64_t number) { return fmt::format("d{}", number); }
  TimedFile file(std::uint64_t number) const {
    return {.path = fmt::format("{}/f{}", folder(number / files_per_folder), number),
            .number = static_cast<std::uint32_t>(number),
            .bytes = file_bytes};
  }

  PhaseResult each(User& user, PhaseResult (FileWork::*act)(const TimedFile&)) const {
    FileWork work(user);
    for (std::uint64_t i = 0; i < files; ++i) {
      if (const auto done = work.operation([&] { return (work.*act)(file(i)); }); !done)
        return done;
    }
    return {};
  }

  PhaseResult prepare(User& user) const {
    FileWork work(user);
    for (std::uint64_t i = 0; i < folders(); ++i) {
      TRY(work.make_folder(folder(i)));
    }
    return {};
  }

  PhaseResult remove(User& user) const {
    FileWork work(user);
    for (std::uint64_t i = 0; i < files; ++i) {
      if (const auto done = work.operation([&] { return work.remove(file(i).path); }); !done)
        return done;
    }
    return {};
  }

  PhaseResult verify(User& user) const {
    FileWork work(user);
    for (std::uint64_t i = 0; i < folders(); ++i) {
      TRY(work.expect_entries(folder(i), 0));
    }
    return {};
  }
};

std::vector<Phase> small_file_phases(const Arguments& arguments) {
  const SmallFiles set(arguments);
  return {
      {.name = "prepare",
       .measured = false,
       .body = [set](User& user) { return set.prepare(user); }},
      {.name = "create", .body = [set](User& user) { return set.each(user, &FileWork::create); }},
      {.name = "read",
       .cold = true,
       .body = [set](User& user) { return set.each(user, &FileWork::read); }},
      {.name = "delete", .body = [set](User& user) { return set.remove(user); }},
      {.name = "verify", .measured = false, .body = [set](User& user) {
         return set.verify(user);
       }}};
}

}  // namespace

TimedWorkload lfs_small_file() {
  return {.name = "lfs-small-file",
          .title = "creates, reads back and deletes many files of one kilobyte",
          .source = "Rosenblum 1992, section 6.2.1.1, figure 6-1",
          .operation = "files",
          .parameters = {{"files", 10'000, 1'000, 1, 10'000'000, "figure 6-1: 10000"},
                         {"file-bytes", 1024, 1024, 0, 1 << 20, "figure 6-1: one kilobyte"},
                         {"files-per-folder", 100, 100, 1, 10'000'000,
                          "our choice: not given in the source"}},
          .phases = small_file_phases};
}

}  // namespace headcrash::timed
