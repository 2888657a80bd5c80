// Creates and deletes empty files three times. This writes only metadata.
//
// Source: Soares, Krieger and Da Silva, "Meta-Data Snapshotting", section IV-B and figure 2: 100
// 000 empty files in 1 000 directories are created and then deleted, three times in succession, on
// a machine with 64 MiB. Our choice: consecutive files are created in different directories, one
// after the other, so that all directories are in use all the time. The workload does not set the
// memory size of the guest.
#include <fmt/format.h>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

PhaseResult for_each_empty_file(
    User& user, const std::function<PhaseResult(FileWork&, const TimedFile&)>& act) {
  FileWork work(user);
  const std::uint64_t files = argument(user.arguments, "files");
  const std::uint64_t folders = argument(user.arguments, "folders");
  for (std::uint64_t i = 0; i < files; ++i) {
    const TimedFile file{.path = fmt::format("d{}/f{}", i % folders, i)};
    if (const auto done = work.operation([&] { return act(work, file); }); !done) return done;
  }
  return {};
}

PhaseResult for_each_folder(User& user,
                            const std::function<PhaseResult(FileWork&, const std::string&)>& act) {
  FileWork work(user);
  for (std::uint64_t i = 0; i < argument(user.arguments, "folders"); ++i) {
    TRY(act(work, fmt::format("d{}", i)));
  }
  return {};
}

PhaseResult create_empty_files(User& user) {
  return for_each_empty_file(
      user, [](FileWork& work, const TimedFile& file) { return work.create(file); });
}

PhaseResult delete_empty_files(User& user) {
  return for_each_empty_file(
      user, [](FileWork& work, const TimedFile& file) { return work.remove(file.path); });
}

std::vector<Phase> empty_file_phases(const Arguments& arguments) {
  const auto prepare = [](User& user) {
    return for_each_folder(
        user, [](FileWork& work, const std::string& path) { return work.make_folder(path); });
  };
  const auto verify = [](User& user) {
    return for_each_folder(
        user, [](FileWork& work, const std::string& path) { return work.expect_entries(path, 0); });
  };
  std::vector<Phase> phases{{.name = "prepare", .measured = false, .body = prepare}};
  for (std::uint64_t round = 1; round <= argument(arguments, "rounds"); ++round) {
    phases.push_back({.name = fmt::format("create-{}", round), .body = create_empty_files});
    phases.push_back({.name = fmt::format("delete-{}", round), .body = delete_empty_files});
  }
  phases.push_back({.name = "verify", .measured = false, .body = verify});
  return phases;
}

}  // namespace

TimedWorkload empty_files() {
  return {.name = "empty-files",
          .title = "creates and deletes many empty files, several times",
          .source = "Soares, Krieger and Da Silva, section IV-B, figure 2",
          .operation = "files",
          .parameters = {{"files", 100'000, 5'000, 1, 10'000'000, "section IV-B: 100000"},
                         {"folders", 1'000, 50, 1, 1'000'000, "section IV-B: 1000"},
                         {"rounds", 3, 2, 1, 100, "section IV-B: three times in succession"}},
          .phases = empty_file_phases};
}

}  // namespace headcrash::timed
