// Implements `headcrash check`, which runs a user's program on file systems and cuts the power.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>

#include "harness/audit/search.h"
#include "harness/audit/source_place.h"
#include "harness/audit/tracer/report.h"
#include "harness/cli/explored.h"
#include "harness/cli/program_arguments.h"
#include "harness/cli/stack_options.h"
#include "plugin/base/installation.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultFolder = "headcrash-check";
constexpr const char* kTracedName = "traced";
constexpr std::size_t kUnflushedShown = 3;

struct CheckArguments : ProgramArguments {
  bool all = false;
  explorer::DiskOptions disk;
};

struct Verdict {
  enum class Kind : std::uint8_t { kept, lost, unclear };
  std::string option;      ///< the value of --fs
  std::string filesystem;  ///< name of the file system's adapter
  Kind kind = Kind::unclear;
  std::uint64_t states = 0;
  std::size_t lines = 0;  ///< number of lines that the program printed in the guest
  double space = 0, seconds = 0;
  bool whole = false;  ///< true if every state that the strategies define was checked
  /// Recording of the program's run. If all promises were kept, sees_a_loss() uses this recording
  /// to test whether the verifier can detect a loss.
  std::string recording;
  /// text that follows the word for `kind`; empty if the verdict is `kept`
  std::string headline;
  std::vector<std::string> about;  ///< further lines about the loss
};

std::string word(Verdict::Kind kind) {
  constexpr std::array<const char*, 3> kWords{"kept", "lost", "unclear"};
  return kWords.at(static_cast<std::size_t>(kind));
}

/// Runs the program once more, under the tracer of `audit`. Returns the changes to files that were
/// unflushed when the program printed a line. Boots another guest, because the tracer is a file of
/// the guest.
Result<std::vector<audit::MissingFlush>> trace_unflushed(const CheckArguments& arguments,
                                                         ExploreArguments explore,
                                                         const Explored& explored) {
  const fs::path application =
      fs::path(arguments.folder) / fmt::format("{}-{}.toml", explored.filesystem.name, kTracedName);
  TRY(check::write_application(
      arguments.program, application,
      check::Tracing{.tracer = base::installation().tracer, .options = {"--changes"}}));
  explore.application = application.string();
  explore.recording_name = fmt::format("{}.hcrec", kTracedName);
  explore.jobs = 1;
  Explored traced;
  traced.formatted = explored.formatted;
  const auto recorded = record_exploration(explore, traced);
  std::error_code error;
  fs::remove(fs::path(explore.keep) / explore.recording_name, error);
  TRY(recorded);
  TRY(const auto trace, audit::parse_report(traced.workload.report, "the tracer's report"));
  return audit::unflushed_changes(trace);
}

/// Returns a line that names the changes that were not flushed, for example: unflushed file log
/// after write at store.c:212
std::string unflushed_text(const CheckArguments& arguments,
                           const std::vector<audit::MissingFlush>& changes) {
  const fs::path root = fs::is_directory(arguments.program.rootfs) ? arguments.program.rootfs : "/";
  // Sort files before directories. For each file or directory, show only its first change.
  std::map<std::pair<bool, std::string>, const audit::MissingFlush*> first;
  for (const audit::MissingFlush& change : changes)
    first.try_emplace({change.site.names, change.target}, &change);
  std::vector<std::string> texts;
  bool mapped = true;
  for (const auto& [changed, change] : first) {
    mapped = mapped && audit::is_mapping(change->site);
    texts.push_back(fmt::format("{} {} after {}", changed.first ? "folder" : "file", changed.second,
                                change->site.call));
    if (!change->frames.empty())
      texts.back() += " at " + audit::source_place(change->frames.front(), root).text();
  }
  if (texts.size() > kUnflushedShown) {
    texts.resize(kUnflushedShown);
    texts.emplace_back("...");
  }
  return fmt::format(
      "unflushed {} ({})", fmt::join(texts, "; "),
      mapped ? "call msync before the line is printed" : "headcrash audit finds the missing flush");
}

Result<Verdict> check_one(const CheckArguments& arguments, const std::string& filesystem,
                          const check::PreparedProgram& prepared) {
  TRY(const auto adapter, adapters::load_adapter(filesystem));
  ExploreArguments explore = exploration_of(arguments, filesystem, prepared);
  explore.stop_at_first = !arguments.all;
  explore.disk = arguments.disk;
  explore.keep = (fs::path(arguments.folder) / adapter.name).string();
  TRY(explore.size, disk_size(arguments, adapter, prepared));
  Explored explored;
  if (const auto done = run_exploration(explore, explored); !done)
    return explained(arguments, done.error());
  if (explored.workload.failure) return failed_in_guest(arguments, explore, explored.workload);
  const explorer::ExplorationResult& result = explored.result;
  Verdict verdict{.option = filesystem,
                  .filesystem = adapter.name,
                  .states = result.checked,
                  .seconds = result.wall_ms / 1000,
                  .whole = !result.out_of_time,
                  .recording = explored.workload.recording.string()};
  TRY(verdict.lines, printed_lines(verdict.recording));
  for (const states::Coverage& part : result.coverage) {
    verdict.space += part.space;
    if (static_cast<double>(part.generated) < part.space) verdict.whole = false;
  }
  if (explorer::first_confirmed(result.failures) != nullptr) {
    verdict.kind = Verdict::Kind::lost;
    const double left = static_cast<double>(arguments.time_s) - verdict.seconds;
    TRY(auto loss, describe_loss(arguments, explored,
                                 (fs::path(arguments.folder) / adapter.name).string() + "/", left));
    verdict.headline = std::move(loss.headline);
    verdict.about = std::move(loss.about);
    // The tracer only adds a hint, so its failure does not change the verdict.
    const auto changes = trace_unflushed(arguments, explore, explored);
    if (!changes)
      verdict.about.push_back("unflushed unknown: " + changes.error().problem);
    else if (!changes->empty())
      verdict.about.push_back(unflushed_text(arguments, *changes));
    if (explored.workload.issuers)
      verdict.about.push_back("issuers   " + share_text(*explored.workload.issuers));
    TRY(attribute_failures(explore, explored));
    if (!explored.attribution.empty())
      verdict.about.push_back("attributed to " + explored.attribution);
  } else if (!explored.broken_rules.empty()) {
    verdict.kind = Verdict::Kind::lost;
    verdict.headline = "a promise of the stack " + explored.filesystem.stack->name;
  } else if (result.checked == result.clean && result.checked > 0) {
    verdict.kind = Verdict::Kind::kept;
  } else {
    verdict.headline = headline(explored);
  }
  for (const explorer::BrokenRule& broken : explored.broken_rules)
    verdict.about.push_back(
        fmt::format("rule broken: {}, {}: {}", broken.rule, broken.disk, broken.text));
  return verdict;
}

void print_lines(const std::string& name, std::size_t lines,
                 const check::PreparedProgram& prepared) {
  const bool differs = prepared.ran_on_host && lines != prepared.lines;
  fmt::print("{} acknowledged {} {}{}\n", name, lines, lines == 1 ? "line" : "lines",
             differs ? fmt::format(" ({} on this host)", prepared.lines) : "");
}

void print_verdict(const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::kept) {
    const std::string of = verdict.whole ? " (all states that the strategies generate)"
                                         : fmt::format(" of about {}", states_text(verdict.space));
    fmt::print("{:<7} kept    {} crash states{}    {:.1f} s\n", verdict.filesystem, verdict.states,
               of, verdict.seconds);
    return;
  }
  fmt::print("{:<7} {:<8}{}\n", verdict.filesystem, word(verdict.kind), verdict.headline);
  for (const std::string& line : verdict.about) fmt::print("{:<8}{}\n", "", line);
}

/// Prints that the verifier can detect a loss, or that the time limit left this undecided. Prints
/// nothing if it cannot detect a loss.
void print_control(const CheckArguments& arguments, const std::optional<bool>& can_see) {
  if (!can_see)
    fmt::print(
        "In {} s, no loss was found even without the program's flushes; a larger --time may show "
        "whether the verifier can detect a loss.\n",
        arguments.time_s);
  else if (*can_see)
    fmt::print(
        "Without the program's flushes, the same test loses data, so the verifier can detect a "
        "loss.\n");
}

nlohmann::json as_json(const std::vector<Verdict>& verdicts, const std::optional<bool>& can_see) {
  nlohmann::json list = nlohmann::json::array();
  for (const Verdict& verdict : verdicts)
    list.push_back({{"filesystem", verdict.filesystem},
                    {"verdict", word(verdict.kind)},
                    {"states", verdict.states},
                    {"space", verdict.space},
                    {"whole", verdict.whole},
                    {"lines", verdict.lines},
                    {"seconds", verdict.seconds},
                    {"headline", verdict.headline},
                    {"about", verdict.about}});
  return {{"filesystems", list},
          {"can_see", can_see ? nlohmann::json(*can_see) : nlohmann::json()}};
}

std::vector<report::CiCase> ci_cases(const CheckArguments& arguments,
                                     const std::vector<Verdict>& verdicts, bool blind) {
  using enum report::CiCase::Verdict;
  std::vector<report::CiCase> cases;
  for (const Verdict& verdict : verdicts) {
    const bool lost = verdict.kind == Verdict::Kind::lost;
    const bool kept = verdict.kind == Verdict::Kind::kept;
    cases.push_back(
        {.group = "check " + program_name(arguments),
         .name = verdict.filesystem,
         .verdict = lost             ? failed
                    : kept && !blind ? passed
                                     : error,
         .message = kept && blind ? "the verifier cannot detect a loss" : verdict.headline,
         .details = fmt::format("{}", fmt::join(verdict.about, "\n")),
         .seconds = verdict.seconds,
         .files = {},
         .source = {}});
  }
  return cases;
}

Result<int> check_all(const CheckArguments& arguments) {
  TRY(validate(arguments));
  TRY(const auto folder, make_result_folder(arguments));
  TRY(const auto prepared, prepare_program(arguments));
  const std::string name = program_name(arguments);
  std::vector<Verdict> verdicts;
  std::optional<bool> can_see;
  bool lost = false, unclear = false;
  for (const std::string& filesystem : arguments.filesystems) {
    TRY(auto verdict, check_one(arguments, filesystem, prepared));
    if (!arguments.as_json) {
      if (verdicts.empty()) print_lines(name, verdict.lines, prepared);
      print_verdict(verdict);
      std::fflush(stdout);
    }
    lost = lost || verdict.kind == Verdict::Kind::lost;
    unclear = unclear || verdict.kind == Verdict::Kind::unclear;
    if (verdict.kind == Verdict::Kind::lost) can_see = true;
    verdicts.push_back(std::move(verdict));
  }
  for (const Verdict& verdict : verdicts) {
    if (can_see.value_or(false) || verdict.kind != Verdict::Kind::kept) continue;
    TRY(can_see, sees_a_loss(arguments, verdict.option, verdict.recording, prepared));
    if (!can_see) break;
  }
  if (arguments.as_json) print(as_json(verdicts, can_see));
  if (!lost && !unclear && !arguments.as_json) print_control(arguments, can_see);
  const bool blind = can_see && !*can_see;
  const int ended =
      finish_ci(arguments.ci, "headcrash check", ci_cases(arguments, verdicts, blind), kFine);
  if (ended != kFine) return ended;
  // With --json, no error message is needed: the output contains "can_see": false.
  if (!lost && blind && arguments.as_json) return kUsage;
  if (!lost && blind) return cannot_detect_a_loss(arguments, verdicts.front().recording, prepared);
  if (!lost && !unclear && !arguments.keep) {
    std::error_code error;
    fs::remove_all(arguments.folder, error);
  }
  if (lost) return kFound;
  return unclear ? kUsage : kFine;
}

int run(CheckArguments arguments) {
  return run_on_program(arguments, "check", [&] { return check_all(arguments); });
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Runs a program on file systems, cuts the power, and verifies that no promised data is lost");
  const auto arguments = std::make_shared<CheckArguments>();
  arguments->folder = kDefaultFolder;
  add_program_options(*command, *arguments);
  command->add_flag("--all", arguments->all, "Do not stop at the first loss on a file system");
  add_stacks_options(*command, arguments->disk);
  command->footer(
      "Examples:\n  headcrash check --fs ext4 -- ./mytest\n"
      "  headcrash check --verify './verify.sh' -- ./mytest 100\n"
      "  headcrash check --fs ext4 --fs btrfs --time 300 -- python3 test.py\n\n"
      "Exit code 0: every promise was kept; 1: a promise was broken; 2: usage error, or a check "
      "that\ncannot detect a loss; 77: no guest can run here.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
