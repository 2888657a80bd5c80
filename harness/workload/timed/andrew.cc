// The Andrew benchmark: directories, copy, stat, scan, compile.
//
// Sources. Original: Howard et al., "Scale and Performance in a Distributed File System", ACM TOCS
// 1988, as described by Ganger and Patt in section 5.3: about 70 files of 200 KB in total, several
// of which are compiled. Modified: Ousterhout, "Why Aren't Operating Systems Getting Faster As Fast
// as Hardware?", 1990, as described by Rosenblum 1992, section 6.2.2 and figure 6-5: 20
// directories, 70 files of 4860 bytes on average, all compiled.
//
// Our choices: the shape and sizes of the tree (file_tree.h) and, in the original, 20 directories
// and 26 compiled files. No real compiler is used. At the end, all objects are read, and one
// program is written. `compile-cpu-ms` is the CPU time of a compilation. `programs` selects the
// programs:
//
//   0 No program is started. A compilation reads its source, writes an intermediate file of twice
//     the size, uses CPU time, writes an object of the source's size, and removes the intermediate
//     file. With several `passes`, each pass writes and reads a separate intermediate file.
//   1 The programs of a script are started: mkdir and cp for each directory, ls and grep for each
//     file, and make, which starts a shell and cc -O for each file. The commands are our choice,
//     because Howard describes only the phases. The compiler is that of Seventh Edition UNIX. Its
//     programs and files follow cc(1), as(1) and cc.c (compile_by_programs() lists the files). No
//     compiler of 1994 or of SVR4 was available. The files of each pass have twice the size of the
//     source, as above.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <vector>

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
    if (by_programs()) {
      work_.start_program();  // make, which calls stat for every file of the tree
      for (std::size_t i = 0; i < tree_.files(); ++i) {
        TRY(work_.stat(source(i).path));
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto done =
          work_.operation([&] { return by_programs() ? compile_by_programs(i) : compile(i); });
      if (!done) return done;
    }
    if (by_programs()) {
      for (int i = 0; i < 3; ++i) work_.start_program();  // a shell, cc, ld
    }
    for (std::size_t i = 0; i < count; ++i) {
      TRY(work_.read(object(i)));
    }
    return work_.create(program());
  }

  PhaseResult check() {
    for (std::size_t i = 0; i < compiled(); ++i) {
      TRY(work_.read(object(i)));
      for (std::uint64_t pass = 0; pass < passes(); ++pass) {
        TRY(work_.expect_missing(intermediate(i, pass).path));
      }
      if (!by_programs()) continue;
      for (const char* name :
           {"ctm0", "ctm1", "ctm2", "ctm3", "ctm4", "ctm5", "atm1", "atm2", "atm3"}) {
        TRY(work_.expect_missing(temporary(i, name).path));
      }
    }
    TRY(work_.read(program()));
    for (std::size_t i = 0; i < tree_.files(); ++i) {
      TRY(work_.read(source(i)));
    }
    return {};
  }

 private:
  std::size_t compiled() const {
    return std::min<std::size_t>(argument(user_.arguments, "compiled"), tree_.files());
  }
  std::uint64_t passes() const { return argument(user_.arguments, "passes"); }
  bool by_programs() const { return argument(user_.arguments, "programs") != 0; }
  TimedFile source(std::size_t i) const { return tree_.file(kTarget, i, 0); }
  TimedFile intermediate(std::size_t i, std::uint64_t pass) const {
    return {.path = fmt::format("cc{}.{}", i, pass),
            .number = static_cast<std::uint32_t>(2 * tree_.files() + i),
            .bytes = 2 * source(i).bytes};
  }
  TimedFile temporary(std::size_t i, const char* name) const {
    return {.path = fmt::format("{}{}", name, i),
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
    TRY(work_.read(source(i)));
    for (std::uint64_t pass = 0; pass < passes(); ++pass) {
      TRY(work_.create(intermediate(i, pass)));
      work_.compute_ms(argument(user_.arguments, "compile-cpu-ms") / passes());
      TRY(work_.read(intermediate(i, pass)));
      if (pass == 0) continue;
      TRY(work_.remove(intermediate(i, pass - 1).path));
    }
    TRY(work_.create(object(i)));
    return work_.remove(intermediate(i, passes() - 1).path);
  }

  /// Runs a program: starts it, reads its inputs, uses CPU time, and writes its outputs.
  PhaseResult run(const std::vector<TimedFile>& inputs, const std::vector<TimedFile>& outputs) {
    constexpr std::uint64_t kProgramsOfACompilation = 5;
    work_.start_program();
    for (const TimedFile& input : inputs) {
      TRY(work_.read(input));
    }
    work_.compute_ms(argument(user_.arguments, "compile-cpu-ms") / kProgramsOfACompilation);
    for (const TimedFile& output : outputs) {
      TRY(work_.create(output));
    }
    return {};
  }
  PhaseResult remove(const std::vector<TimedFile>& files) {
    for (const TimedFile& file : files) {
      TRY(work_.remove(file.path));
    }
    return {};
  }

  /// Runs the shell that make starts, and then cc -O -c with its passes cpp, c0, c1, c2 and as. The
  /// names of the temporary files are derived from ctm0. The first pass of the assembler passes
  /// three files to the second.
  PhaseResult compile_by_programs(std::size_t i) {
    const auto temp = [&](const char* name) { return temporary(i, name); };
    const TimedFile name{.path = temp("ctm0").path, .number = temp("ctm0").number};
    work_.start_program();
    work_.start_program();
    const std::function<PhaseResult()> steps[] = {
        [&] { return work_.create(name); },
        [&] { return run({source(i)}, {temp("ctm4")}); },                   // cpp
        [&] { return run({temp("ctm4")}, {temp("ctm1"), temp("ctm2")}); },  // c0
        [&] { return run({temp("ctm1"), temp("ctm2")}, {temp("ctm5")}); },  // c1
        [&] { return run({temp("ctm5")}, {temp("ctm3")}); },                // c2
        [&] { return remove({temp("ctm5"), temp("ctm1"), temp("ctm2"), temp("ctm4")}); },
        [&] { return run({temp("ctm3")}, {temp("atm1"), temp("atm2"), temp("atm3")}); },  // as
        [&] { return assemble(i); },
        [&] { return remove({temp("ctm3"), name}); }};
    for (const auto& step : steps) {
      TRY(step());
    }
    return {};
  }
  /// Runs the second pass of the assembler.
  PhaseResult assemble(std::size_t i) {
    const std::vector<TimedFile> files{temporary(i, "atm1"), temporary(i, "atm2"),
                                       temporary(i, "atm3")};
    for (const TimedFile& file : files) {
      TRY(work_.read(file));
    }
    TRY(work_.create(object(i)));
    return remove(files);
  }

  User& user_;
  const FileTree& tree_;
  FileWork work_;
};

PhaseResult stat_all(FileWork& work, const FileTree& tree, bool by_programs) {
  for (std::size_t in = 0; in < tree.folders(); ++in) {
    TRY(work.list(tree.folder(kTarget, in)));
    for (const std::size_t i : tree.files_in(in)) {
      if (by_programs) work.start_program();
      const auto done = work.operation([&] { return work.stat(tree.file(kTarget, i, 0).path); });
      if (!done) return done;
    }
  }
  return {};
}

std::vector<Phase> andrew_phases(const Arguments& arguments) {
  const auto tree = std::make_shared<const FileTree>(argument(arguments, "files"),
                                                     argument(arguments, "tree-bytes"),
                                                     argument(arguments, "folders"));
  using Act = std::function<PhaseResult(User&, FileWork&)>;
  const auto phase = [](std::string name, bool measured, Act act) {
    return Phase{
        .name = std::move(name), .measured = measured, .body = [act = std::move(act)](User& user) {
          FileWork work(user);
          return act(user, work);
        }};
  };
  const bool by_programs = argument(arguments, "programs") != 0;
  const Programs for_folders{.each_folder = by_programs}, for_files{.each_file = by_programs};
  Phase folders = phase("make-folders", true, [tree, for_folders](User&, FileWork& work) {
    return tree->make_folders(work, kTarget, for_folders);
  });
  folders.cold = argument(arguments, "cold") != 0;
  return {phase("prepare", false,
                [tree](User&, FileWork& work) -> PhaseResult {
                  TRY(tree->create(work, kSource, 0));
                  // The authors of the source ran the benchmark a hundred times, so the target's
                  // groups and inodes had been used before. Therefore, create directories in the
                  // target and remove them again.
                  TRY(tree->make_folders(work, kTarget));
                  for (std::size_t i = tree->folders(); i-- > 0;) {
                    TRY(work.remove_folder(tree->folder(kTarget, i)));
                  }
                  return work.sync();
                }),
          folders,
          phase("copy", true,
                [tree, for_folders](User&, FileWork& work) {
                  return tree->copy_files(work, kSource, kTarget, 0, for_folders);
                }),
          phase("stat", true,
                [tree, by_programs](User&, FileWork& work) {
                  return stat_all(work, *tree, by_programs);
                }),
          phase("scan", true,
                [tree, for_files](User&, FileWork& work) {
                  return tree->read(work, kTarget, 0, for_files);
                }),
          phase("compile", true,
                [tree](User& user, FileWork&) { return Compiler(user, *tree).compile_all(); }),
          phase("verify", false,
                [tree](User& user, FileWork&) { return Compiler(user, *tree).check(); })};
}

const Parameter kCold{"cold", 0, 0, 0, 1, "1: the source is read from the disk; our choice: 0"};
const Parameter kPrograms{
    "programs", 0, 0,
    0,          1, "1: the script and the compiler start programs (andrew.cc); our choice: 0"};

}  // namespace

TimedWorkload andrew() {
  return {.name = "andrew",
          .title = "the original Andrew benchmark: folders, copy, stat, scan, compile",
          .source = "Howard et al. 1988; Ganger and Patt 1994, section 5.3, table 3",
          .operation = "files",
          .parameters = {{"files", 70, 20, 1, 10'000, "Howard: about 70"},
                         {"tree-bytes", 200 << 10, 60 << 10, 0, 1 << 30, "Howard: 200 KB in total"},
                         {"folders", 20, 6, 1, 1'000, "our choice: same as the modified benchmark"},
                         {"compiled", 26, 8, 1, 10'000,
                          "our choice; the source says \"several\" of the files"},
                         {"compile-cpu-ms", 100, 5, 0, 60'000,
                          "our choice: compiling dominates the total"},
                         {"passes", 1, 1, 1, 16,
                          "programs per compilation: our choice; each writes a file for the next"},
                         kCold,
                         kPrograms},
          .phases = andrew_phases};
}

TimedWorkload andrew_modified() {
  return {
      .name = "andrew-modified",
      .title = "Ousterhout's Andrew benchmark: folders, copy, stat, scan, compile everything",
      .source = "Ousterhout 1990; Rosenblum 1992, figure 6-5",
      .operation = "files",
      .parameters = {{"files", 70, 20, 1, 10'000, "figure 6-5: 70"},
                     {"tree-bytes", 70 * 4860, 20 * 4860, 0, 1 << 30,
                      "figure 6-5: 4860 bytes on average"},
                     {"folders", 20, 6, 1, 1'000, "figure 6-5: 20"},
                     {"compiled", 70, 20, 1, 10'000, "figure 6-5: all files"},
                     {"compile-cpu-ms", 100, 5, 0, 60'000, "our choice: over 70 % of the total"},
                     {"passes", 1, 1, 1, 16,
                      "programs per compilation: our choice; each writes a file for the next"},
                     kCold,
                     kPrograms},
      .phases = andrew_phases};
}

}  // namespace headcrash::timed
