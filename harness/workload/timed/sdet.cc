// Simulates concurrent software development. Each user runs a script of commands in a separate home
// directory.
//
// Source: Sdet from the SPEC SDM suite (057.sdet), as used by Ganger and Patt, OSDI 1994, section
// 5.4: scripts of user commands for software development, taken from a fixed mix, run concurrently.
// The metric is scripts per hour as a function of the number of concurrent scripts. The suite is
// licensed and not included. This workload has the same kinds of commands (make, cc, cp, rm, mkdir,
// diff, grep, spell, nroff, ed, ls, find). Each command is a sequence of file operations and CPU
// time.
//
// Our choices: the number of times that each command occurs in a script (kMix), its operations, the
// home directory (40 files, 240 KB, 8 directories), and 4 ms of CPU time for each command that
// computes. With `programs`, each command is a program that a shell starts, and so is each of the
// three compilations of a make. All scripts have the same commands in different orders. The order
// and the files follow from the seed and the user, so that `verify` can repeat the random choices
// and determine how often each file was edited.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/workload/timed/file_tree.h"
#include "harness/workload/timed/random_source.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

enum class Command : std::uint8_t {
  make,
  cc,
  cp,
  rm,
  mkdir,
  diff,
  grep,
  spell,
  nroff,
  ed,
  ls,
  find
};

struct Frequency {
  Command command;
  int times;  ///< number of times that the command occurs in each script
};
constexpr Frequency kMix[] = {{Command::make, 2},  {Command::cc, 10},   {Command::cp, 8},
                              {Command::rm, 10},   {Command::mkdir, 4}, {Command::diff, 6},
                              {Command::grep, 10}, {Command::spell, 4}, {Command::nroff, 4},
                              {Command::ed, 14},   {Command::ls, 20},   {Command::find, 4}};

struct Step {
  Command command;
  std::size_t file = 0, other = 0;
};

/// Returns the commands of one script in order, with the files of each.
std::vector<Step> script_of(const User& user, std::size_t files, std::uint64_t script) {
  RandomSource random(mixed_seed(user.seed, user.number, 1 + script));
  std::vector<Step> steps;
  for (const Frequency& each : kMix) {
    for (int i = 0; i < each.times; ++i)
      steps.push_back(
          {.command = each.command, .file = random.below(files), .other = random.below(files)});
  }
  random.shuffle(steps);
  return steps;
}

class Developer {
 public:
  Developer(User& user, const FileTree& tree)
      : user_(user),
        tree_(tree),
        work_(user),
        home_(fmt::format("home{}", user.number)),
        edits_(tree.files()) {}

  PhaseResult settle_in() {
    TRY(tree_.create(work_, home_, user_.number));
    TRY(work_.make_folder(temporary()));
    return work_.sync();
  }

  /// Runs the scripts one after the other. Each script counts as one operation.
  PhaseResult run_scripts() {
    for (std::uint64_t script = 0; script < argument(user_.arguments, "each"); ++script) {
      if (const auto done = work_.operation([&] { return run_script(script); }); !done) return done;
    }
    return {};
  }
  PhaseResult run_script(std::uint64_t script) {
    for (const Step& step : script_of(user_, tree_.files(), script)) {
      TRY(run(step));
    }
    return {};
  }

  /// Verifies the files that were edited. The temporary files of commands no longer exist.
  PhaseResult check() {
    for (std::uint64_t script = 0; script < argument(user_.arguments, "each"); ++script) {
      for (const Step& step : script_of(user_, tree_.files(), script)) {
        if (step.command == Command::ed) ++edits_[step.file];
      }
    }
    for (std::size_t i = 0; i < tree_.files(); ++i) {
      TRY(work_.read(file(i)));
    }
    return {};
  }

 private:
  std::string temporary() const { return home_ + "/tmp"; }
  TimedFile file(std::size_t i) const {
    TimedFile one = tree_.file(home_, i, user_.number);
    one.rewritten = edits_[i];
    return one;
  }
  TimedFile scratch(std::string_view suffix, std::uint64_t bytes) {
    return {.path = fmt::format("{}/{}{}", temporary(), next_scratch_++, suffix),
            .number = static_cast<std::uint32_t>((1 + user_.number) * 1'000'000 + next_scratch_),
            .bytes = bytes};
  }
  void start_program() {
    if (argument(user_.arguments, "programs") != 0) work_.start_program();
  }
  void compute() { work_.compute_ms(argument(user_.arguments, "command-cpu-ms")); }

  PhaseResult run(const Step& step) {
    start_program();
    switch (step.command) {
      case Command::make:
        return make(step);
      case Command::cc:
        return translate(step, ".s", ".o");
      case Command::spell:
        return translate(step, ".words", ".sorted");
      case Command::nroff:
        compute();
        return translate(step, ".roff", ".text");
      case Command::cp:
        return copy(step);
      case Command::rm:
        return remove_oldest();
      case Command::mkdir:
        return work_.make_folder(fmt::format("{}/new{}", temporary(), next_scratch_++));
      case Command::diff:
        TRY(work_.read(file(step.file)));
        return work_.read(file(step.other));
      case Command::grep:
        return read_some(step, 8);
      case Command::ed:
        return edit(step.file);
      case Command::ls:
        return read_folder(step.file % tree_.folders());
      case Command::find:
        return read_all_folders();
    }
    return {};
  }

  /// Runs a command such as cc, which creates and removes an intermediate file, and leaves a
  /// result.
  PhaseResult translate(const Step& step, std::string_view between, std::string_view result) {
    const TimedFile source = file(step.file);
    TRY(work_.read(source));
    const TimedFile intermediate = scratch(between, 2 * source.bytes);
    TRY(work_.create(intermediate));
    compute();
    TRY(work_.read(intermediate));
    const TimedFile product = scratch(result, source.bytes);
    TRY(work_.create(product));
    products_.push_back(product);
    return work_.remove(intermediate.path);
  }

  PhaseResult make(const Step& step) {
    for (std::size_t i = 0; i < tree_.files(); ++i) {
      TRY(work_.stat(file(i).path));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      start_program();
      const Step one{.command = Command::cc, .file = (step.file + i) % tree_.files()};
      TRY(translate(one, ".s", ".o"));
    }
    return {};
  }

  PhaseResult copy(const Step& step) {
    const TimedFile source = file(step.file);
    TimedFile target = source;
    target.path = scratch(".copy", 0).path;
    TRY(work_.copy(source, target.path));
    products_.push_back(target);
    return {};
  }

  /// Verifies the contents of the oldest product, and removes it.
  PhaseResult remove_oldest() {
    if (products_.empty()) return {};
    const TimedFile oldest = products_.front();
    products_.erase(products_.begin());
    TRY(work_.read(oldest));
    return work_.remove(oldest.path);
  }

  /// Edits a file as ed does: writes the text to a separate file, then copies it over the original.
  PhaseResult edit(std::size_t number) {
    TRY(work_.read(file(number)));
    const TimedFile buffer = scratch(".ed", file(number).bytes);
    TRY(work_.create(buffer));
    ++edits_[number];
    const TimedFile changed = file(number);
    const auto written = work_.with_open(
        changed, {.truncate = true}, "open",
        [&](FileHandle handle) { return work_.write_at(handle, changed, 0, changed.bytes); });
    if (!written) return written;
    return work_.remove(buffer.path);
  }

  PhaseResult read_some(const Step& step, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      TRY(work_.read(file((step.file + i) % tree_.files())));
    }
    return {};
  }

  PhaseResult read_folder(std::size_t number) {
    TRY(work_.list(tree_.folder(home_, number)));
    for (const std::size_t i : tree_.files_in(number)) {
      TRY(work_.stat(file(i).path));
    }
    return {};
  }

  PhaseResult read_all_folders() {
    for (std::size_t i = 0; i < tree_.folders(); ++i) {
      TRY(read_folder(i));
    }
    return {};
  }

  User& user_;
  const FileTree& tree_;
  FileWork work_;
  std::string home_;
  std::vector<std::uint32_t> edits_;
  std::vector<TimedFile> products_;  // at most one per command
  std::uint32_t next_scratch_ = 0;
};

std::vector<Phase> sdet_phases(const Arguments& arguments) {
  const auto tree = std::make_shared<const FileTree>(argument(arguments, "files"),
                                                     argument(arguments, "home-bytes"),
                                                     argument(arguments, "folders"));
  const std::size_t users = argument(arguments, "scripts");
  const auto script = [tree](User& user) { return Developer(user, *tree).run_scripts(); };
  return {{.name = "prepare",
           .users = users,
           .measured = false,
           .body = [tree](User& user) { return Developer(user, *tree).settle_in(); }},
          {.name = "scripts", .users = users, .body = script},
          {.name = "verify",
           .users = users,
           .measured = false,
           .cold = true,
           .body = [tree](User& user) { return Developer(user, *tree).check(); }}};
}

}  // namespace

TimedWorkload sdet() {
  return {
      .name = "sdet",
      .title = "scripts of developers' commands run concurrently, as in Sdet",
      .source =
          "SPEC SDM 057.sdet as in Ganger and Patt 1994, section 5.4, figure 6; our own commands",
      .operation = "scripts",
      .parameters =
          {{"scripts", 4, 2, 1, 64, "concurrent scripts: the x axis of figure 6"},
           {"files", 40, 12, 1, 10'000, "our choice: a typical home directory"},
           {"home-bytes", 240 << 10, 60 << 10, 0, 1 << 30, "our choice: a typical home directory"},
           {"folders", 8, 4, 1, 1'000, "our choice: a typical home directory"},
           {"each", 1, 1, 1, 1'000, "scripts that each stream runs in succession: our choice"},
           {"command-cpu-ms", 4, 1, 0, 60'000, "processor time of a typical command: our choice"},
           {"programs", 0, 0, 0, 1, "1: each command starts a program; our choice: 0"}},
      .phases = sdet_phases};
}

}  // namespace headcrash::timed
