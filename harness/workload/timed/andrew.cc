// The Andrew benchmark: folders, copy, stat, scan, compile.
//
// Sources: original: Howard et al., "Scale and Performance in a Distributed File System", ACM TOCS 1988, as
// Ganger and Patt describe it in section 5.3: about 70 files of 200 KB in all; several of them are compiled.
// Modified: Ousterhout, "Why Aren't Operating Systems Getting Faster As Fast as Hardware?", 1990, as
// Rosenblum 1992, section 6.2.2 and figure 6-5 has it: 20 directories, 70 files of 4860 bytes on average, all
// compiled.
//
// Our choices: the tree's shape and sizes (file_tree.h) and, in the original, 20 folders and 26 compiled
// files. There is no compiler here: a compilation reads its source, writes an intermediate file twice as
// long, burns CPU, writes an object as long as the source, and removes the intermediate file; at the end all
// objects are read and written into one program. How long a compilation computes is `compile-cpu-ms`, in how
// many programs that hand such files to each other `passes`.
#include <fmt/format.h>

#include <memory>

#include "harness/workload/timed/file_tree.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

constexpr const char* kSource = "source";
constexpr const char* kTarget = "target";

class Compiler {
 public:
  Compiler(User& user, const FileTree& tree) : user_(user), tree_(tree), work_(user) {}

  PhaseResult compile_all() {
    const std::size_t count = compiled();
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto done = work_.operation([&] { return compile(i); }); !done) return done;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto read = work_.read(object(i)); !read) return read;
    }
    return work_.create(program());
  }

  PhaseResult check() {
    for (std::size_t i = 0; i < compiled(); ++i) {
      if (const auto read = work_.read(object(i)); !read) return read;
      for (std::uint64_t pass = 0; pass < passes(); ++pass) {
        if (const auto gone = work_.expect_missing(intermediate(i, pass).path); !gone) return gone;
      }
    }
    if (const auto read = work_.read(program()); !read) return read;
    for (std::size_t i = 0; i < tree_.files(); ++i) {
      if (const auto read = work_.read(source(i)); !read) return read;
    }
    return {};
  }

 private:
  std::size_t compiled() const {
    return std::min<std::size_t>(argument(user_.arguments, "compiled"), tree_.files());
  }
  std::uint64_t passes() const { return argument(user_.arguments, "passes"); }
  TimedFile source(std::size_t i) const { return tree_.file(kTarget, i, 0); }
  TimedFile intermediate(std::size_t i, std::uint64_t pass) const {
    return {.path = fmt::format("cc{}.{}", i, pass),
            .number = static_cast<std::uint32_t>(2 * tree_.files() + i),
            .bytes = 2 * source(i).bytes};
  }
  TimedFile object(std::size_t i) const {
    return {.path = source(i).path + ".o",
            .number = static_cast<std::uint32_t>(tree_.files() + i),
            .bytes = source(i).bytes};
  }
  TimedFile program() const {
    TimedFile file{.path = "program", .number = static_cast<std::uint32_t>(3 * tree_.files())};
    for (std::size_t i = 0; i < compiled(); ++i) file.bytes += object(i).bytes;
    return file;
  }

  PhaseResult compile(std::size_t i) {
    if (const auto read = work_.read(source(i)); !read) return read;
    for (std::uint64_t pass = 0; pass < passes(); ++pass) {
      if (const auto made = work_.create(intermediate(i, pass)); !made) return made;
      work_.compute_ms(argument(user_.arguments, "compile-cpu-ms") / passes());
      if (const auto read = work_.read(intermediate(i, pass)); !read) return read;
      if (pass == 0) continue;
      if (const auto gone = work_.remove(intermediate(i, pass - 1).path); !gone) return gone;
    }
    if (const auto made = work_.create(object(i)); !made) return made;
    return work_.remove(intermediate(i, passes() - 1).path);
  }

  User& user_;
  const FileTree& tree_;
  FileWork work_;
};

PhaseResult stat_all(FileWork& work, const FileTree& tree) {
  for (std::size_t in = 0; in < tree.folders(); ++in) {
    if (const auto listed = work.list(tree.folder(kTarget, in)); !listed) return listed;
    for (const std::size_t i : tree.files_in(in)) {
      const auto done = work.operation([&] { return work.stat(tree.file(kTarget, i, 0).path); });
      if (!done) return done;
    }
  }
  return {};
}

std::vector<Phase> andrew_phases(const Arguments& arguments) {
  const auto tree = std::make_shared<const FileTree>(
      argument(arguments, "files"), argument(arguments, "tree-bytes"), argument(arguments, "folders"));
  using Act = std::function<PhaseResult(User&, FileWork&)>;
  const auto phase = [](std::string name, bool measured, Act act) {
    return Phase{.name = std::move(name), .measured = measured, .body = [act = std::move(act)](User& user) {
                   FileWork work(user);
                   return act(user, work);
                 }};
  };
  Phase folders = phase("make-folders", true,
                        [tree](User&, FileWork& work) { return tree->make_folders(work, kTarget); });
  folders.cold = argument(arguments, "cold") != 0;
  return {
      phase("prepare", false,
            [tree](User&, FileWork& work) -> PhaseResult {
              if (const auto made = tree->create(work, kSource, 0); !made) return made;
              // The source ran it a hundred times: groups and inodes have been seen before.
              if (const auto made = tree->make_folders(work, kTarget); !made) return made;
              for (std::size_t i = tree->folders(); i-- > 0;) {
                if (const auto gone = work.remove_folder(tree->folder(kTarget, i)); !gone) return gone;
              }
              return work.sync();
            }),
      folders,
      phase("copy", true,
            [tree](User&, FileWork& work) { return tree->copy_files(work, kSource, kTarget, 0); }),
      phase("stat", true, [tree](User&, FileWork& work) { return stat_all(work, *tree); }),
      phase("scan", true, [tree](User&, FileWork& work) { return tree->read(work, kTarget, 0); }),
      phase("compile", true, [tree](User& user, FileWork&) { return Compiler(user, *tree).compile_all(); }),
      phase("verify", false, [tree](User& user, FileWork&) { return Compiler(user, *tree).check(); })};
}

const Parameter kCold{"cold", 0, 0, 0, 1, "our choice: 1: the source is read from the disk"};

}  // namespace

TimedWorkload andrew() {
  return {.name = "andrew",
          .title = "the original Andrew benchmark: folders, copy, stat, scan, compile",
          .source = "Howard et al. 1988; Ganger and Patt 1994, section 5.3, table 3",
          .operation = "files",
          .parameters = {{"files", 70, 20, 1, 10'000, "Howard: about 70"},
                         {"tree-bytes", 200 << 10, 60 << 10, 0, 1 << 30, "Howard: 200 KB in all"},
                         {"folders", 20, 6, 1, 1'000, "our choice: as in the modified one"},
                         {"compiled", 26, 8, 1, 10'000, "our choice: \"several\" of them"},
                         {"compile-cpu-ms", 100, 5, 0, 60'000, "our choice: compiling dominates the total"},
                         {"passes", 1, 1, 1, 16,
                          "our choice: programs in a compilation, each with a file for the next"},
                         kCold},
          .phases = andrew_phases};
}

TimedWorkload andrew_modified() {
  return {
      .name = "andrew-modified",
      .title = "Ousterhout's Andrew benchmark: folders, copy, stat, scan, compile everything",
      .source = "Ousterhout 1990; Rosenblum 1992, figure 6-5",
      .operation = "files",
      .parameters = {{"files", 70, 20, 1, 10'000, "figure 6-5: 70"},
                     {"tree-bytes", 70 * 4860, 20 * 4860, 0, 1 << 30, "figure 6-5: 4860 bytes on average"},
                     {"folders", 20, 6, 1, 1'000, "figure 6-5: 20"},
                     {"compiled", 70, 20, 1, 10'000, "figure 6-5: all of them"},
                     {"compile-cpu-ms", 100, 5, 0, 60'000, "our choice: over 70 % of the total"},
                     {"passes", 1, 1, 1, 16,
                      "our choice: programs in a compilation, each with a file for the next"},
                     kCold},
      .phases = andrew_phases};
}

}  // namespace headcrash::timed
