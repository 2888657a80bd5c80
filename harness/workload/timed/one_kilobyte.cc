// Measures the throughput of metadata operations on files of one kilobyte: creating all files,
// removing all files, or removing each file directly after creating it.
//
// Source: Ganger and Patt, OSDI 1994, section 5.1 and figure 5: 10 000 files of 1 KB are divided
// among 1 to 8 users, each with its own directory. Our choices: four users by default; the files to
// remove are on the disk and still cached. Users are threads instead of processes.
#include <fmt/format.h>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

struct Share {
  std::uint64_t first = 0, files = 0, file_bytes = 0;
  std::string folder;

  explicit Share(const User& user) : file_bytes(argument(user.arguments, "file-bytes")) {
    const std::uint64_t all = argument(user.arguments, "files");
    const std::uint64_t users = argument(user.arguments, "users");
    first = all * user.number / users;
    files = all * (user.number + 1) / users - first;
    folder = fmt::format("u{}", user.number);
  }
  TimedFile file(std::uint64_t i) const {
    return {.path = fmt::format("{}/f{}", folder, i),
            .number = static_cast<std::uint32_t>(first + i),
            .bytes = file_bytes};
  }
};

PhaseResult for_each_file(User& user,
                          const std::function<PhaseResult(FileWork&, const TimedFile&)>& act) {
  const Share share(user);
  FileWork work(user);
  for (std::uint64_t i = 0; i < share.files; ++i) {
    if (const auto done = work.operation([&] { return act(work, share.file(i)); }); !done)
      return done;
  }
  return {};
}

PhaseResult make_share_folder(User& user) {
  FileWork work(user);
  return work.make_folder(Share(user).folder);
}

PhaseResult create_share(User& user) {
  return for_each_file(user,
                       [](FileWork& work, const TimedFile& file) { return work.create(file); });
}

PhaseResult remove_share(User& user) {
  return for_each_file(
      user, [](FileWork& work, const TimedFile& file) { return work.remove(file.path); });
}

PhaseResult verify_nothing_left(User& user) {
  FileWork work(user);
  return work.expect_entries(Share(user).folder, 0);
}

std::vector<Phase> create_phases(const Arguments& arguments) {
  const std::size_t users = argument(arguments, "users");
  const auto verify = [](User& user) -> PhaseResult {
    FileWork work(user);
    const Share share(user);
    TRY(work.expect_entries(share.folder, share.files));
    return for_each_file(user, [](FileWork& by, const TimedFile& file) { return by.read(file); });
  };
  return {{.name = "prepare", .users = users, .measured = false, .body = make_share_folder},
          {.name = "create", .users = users, .body = create_share},
          {.name = "verify", .users = users, .measured = false, .cold = true, .body = verify}};
}

std::vector<Phase> remove_phases_1k(const Arguments& arguments) {
  const std::size_t users = argument(arguments, "users");
  const auto prepare = [](User& user) -> PhaseResult {
    TRY(make_share_folder(user));
    TRY(create_share(user));
    return FileWork(user).sync();
  };
  return {{.name = "prepare", .users = users, .measured = false, .body = prepare},
          {.name = "remove", .users = users, .body = remove_share},
          {.name = "verify", .users = users, .measured = false, .body = verify_nothing_left}};
}

std::vector<Phase> create_remove_phases(const Arguments& arguments) {
  const std::size_t users = argument(arguments, "users");
  const auto both = [](User& user) {
    return for_each_file(user, [](FileWork& work, const TimedFile& file) -> PhaseResult {
      TRY(work.create(file));
      return work.remove(file.path);
    });
  };
  return {{.name = "prepare", .users = users, .measured = false, .body = make_share_folder},
          {.name = "create-remove", .users = users, .body = both},
          {.name = "verify", .users = users, .measured = false, .body = verify_nothing_left}};
}

TimedWorkload kilobyte_workload(std::string_view name, std::string_view title,
                                std::string_view source,
                                std::vector<Phase> (*phases)(const Arguments&)) {
  return {.name = name,
          .title = title,
          .source = source,
          .operation = "files",
          .parameters = {{"users", 4, 2, 1, 64, "figure 5: 1 to 8"},
                         {"files", 10'000, 1'000, 1, 10'000'000,
                          "section 5.1: 10000, divided among the users"},
                         {"file-bytes", 1024, 1024, 0, 1 << 20, "section 5.1: 1 KB"}},
          .phases = phases};
}

}  // namespace

TimedWorkload create_1k() {
  return kilobyte_workload("create-1k",
                           "users create files of one kilobyte, each in its own folder",
                           "Ganger and Patt 1994, section 5.1, figure 5a", create_phases);
}

TimedWorkload remove_1k() {
  return kilobyte_workload("remove-1k",
                           "users remove files of one kilobyte, each in its own folder",
                           "Ganger and Patt 1994, section 5.1, figure 5b", remove_phases_1k);
}

TimedWorkload create_remove_1k() {
  return kilobyte_workload("create-remove-1k",
                           "users create files of one kilobyte and immediately remove each",
                           "Ganger and Patt 1994, section 5.1, figure 5c", create_remove_phases);
}

}  // namespace headcrash::timed
