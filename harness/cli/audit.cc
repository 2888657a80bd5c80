// Implements `headcrash audit`, which finds missing and redundant flush calls in a user's program.
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
#include "harness/cli/terminal.h"
#include "plugin/base/installation.h"
#include "plugin/record/same_requests.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAuditFolder = "headcrash-audit";
constexpr const char* kBaselineName = "baseline";

/// Runs the experiments of one file system. All use the same guests and the same formatted disk.
class Laboratory {
 public:
  Laboratory(const ProgramArguments& arguments, const check::PreparedProgram& prepared,
             ExploreArguments explore, std::string filesystem)
      : arguments_(arguments),
        prepared_(prepared),
        explore_(std::move(explore)),
        filesystem_(std::move(filesystem)) {}

  Result<audit::ExperimentOutcome> run(const audit::Experiment& experiment);
  fs::path recording(const std::string& name) const {
    return fs::path(explore_.keep) / (name + ".hcrec");
  }

 private:
  Result<audit::ExperimentOutcome> run(const audit::Experiment& experiment, Explored& explored);
  Result<void> judge(const audit::Experiment& experiment, const ExploreArguments& explore,
                     Explored& explored, audit::ExperimentOutcome& outcome);
  void show_progress(const audit::Experiment& experiment) const;

  const ProgramArguments& arguments_;
  const check::PreparedProgram& prepared_;
  const ExploreArguments explore_;
  const std::string filesystem_;
  std::unique_ptr<explorer::GuestPool> pool_;
  std::optional<explorer::FormattedDisk> formatted_;
};

check::Tracing tracing_of(const audit::Experiment& experiment) {
  check::Tracing tracing{.tracer = base::installation().tracer, .options = {}};
  if (experiment.list_changes) tracing.options.emplace_back("--changes");
  for (const std::string& word : experiment.skip)
    tracing.options.insert(tracing.options.end(), {"--skip", word});
  for (const std::string& word : experiment.flush)
    tracing.options.insert(tracing.options.end(), {"--flush", word});
  return tracing;
}

void Laboratory::show_progress(const audit::Experiment& experiment) const {
  const bool verbose = arguments_.verbosity == Verbosity::verbose, terminal = can_overwrite();
  if (arguments_.verbosity == Verbosity::quiet || !(terminal || verbose)) return;
  fmt::print(stderr, "{}{}: {}{}", terminal ? "\r\033[K" : "", filesystem_, experiment.name,
             verbose ? "\n" : "");
}

Result<audit::ExperimentOutcome> Laboratory::run(const audit::Experiment& experiment) {
  Explored explored;
  explored.pool = std::move(pool_);
  explored.formatted = formatted_;
  auto outcome = run(experiment, explored);
  pool_ = std::move(explored.pool);
  formatted_ = std::move(explored.formatted);
  return outcome;
}

Result<audit::ExperimentOutcome> Laboratory::run(const audit::Experiment& experiment,
                                                 Explored& explored) {
  show_progress(experiment);
  ExploreArguments explore = explore_;
  const fs::path application =
      fs::path(arguments_.folder) / fmt::format("{}-{}.toml", filesystem_, experiment.name);
  TRY(check::write_application(arguments_.program, application, tracing_of(experiment)));
  explore.application = application.string();
  explore.recording_name = experiment.name + ".hcrec";
  if (const auto done = record_exploration(explore, explored); !done)
    return explained(arguments_, done.error());
  const bool changed = !experiment.skip.empty() || !experiment.flush.empty();
  if (explored.workload.failure && !changed)
    return failed_in_guest(arguments_, explore, explored.workload);
  audit::ExperimentOutcome outcome;
  if (explored.workload.failure) return outcome;
  TRY(outcome.trace, audit::parse_report(explored.workload.report, "the tracer's report"));
  if (!experiment.list_changes) {
    TRY(judge(experiment, explore, explored, outcome));
  }
  const bool shown = experiment.name == kBaselineName ||
                     outcome.verdict == audit::ExperimentOutcome::Verdict::lost;
  if (!shown && !arguments_.keep) {
    std::error_code error;
    fs::remove(recording(experiment.name), error);
  }
  return outcome;
}

Result<void> Laboratory::judge(const audit::Experiment& experiment, const ExploreArguments& explore,
                               Explored& explored, audit::ExperimentOutcome& outcome) {
  if (experiment.name != kBaselineName) {
    TRY(const auto same,
        record::same_requests(recording(kBaselineName), recording(experiment.name)));
    if (same) outcome.verdict = audit::ExperimentOutcome::Verdict::equal;
    if (same) return {};
  }
  TRY(explore_recorded(explore, explored));
  const explorer::ExplorationResult& result = explored.result;
  outcome.states = result.checked;
  for (const states::Coverage& part : result.coverage) outcome.space += part.space;
  if (explorer::first_confirmed(result.failures) == nullptr) {
    const bool kept = result.checked > 0 && result.checked == result.clean;
    outcome.verdict =
        kept ? audit::ExperimentOutcome::Verdict::kept : audit::ExperimentOutcome::Verdict::unclear;
    return {};
  }
  outcome.verdict = audit::ExperimentOutcome::Verdict::lost;
  if (!experiment.describe) return {};
  const std::string prefix = (fs::path(explore.keep) / (experiment.name + ".")).string();
  TRY(auto loss, describe_loss(arguments_, explored, prefix, 0));
  outcome.loss = std::move(loss.headline);
  outcome.evidence = std::move(loss.about);
  return {};
}

struct Audited {
  std::string option;      ///< value of --fs
  std::string filesystem;  ///< name of the file system's adapter
  audit::Audit audit;
  std::string recording;  ///< recording of the baseline
};

Result<Audited> audit_one(const ProgramArguments& arguments, const std::string& filesystem,
                          const check::PreparedProgram& prepared) {
  TRY(const auto adapter, adapters::load_adapter(filesystem));
  ExploreArguments explore = exploration_of(arguments, filesystem, prepared);
  explore.keep = (fs::path(arguments.folder) / adapter.name).string();
  explore.verbosity = Verbosity::quiet;
  TRY(explore.size, disk_size(arguments, adapter, prepared));
  Laboratory laboratory(arguments, prepared, std::move(explore), adapter.name);
  Audited audited{.option = filesystem,
                  .filesystem = adapter.name,
                  .audit = {},
                  .recording = laboratory.recording(kBaselineName).string()};
  TRY(audited.audit,
      audit::audit_program([&](const audit::Experiment& each) { return laboratory.run(each); },
                           {.interrupted = [] { return interrupted().load(); }}));
  clear_line();
  return audited;
}

/// A row of the result: one site or one missing flush, with its verdict on each file system.
struct AuditRow {
  audit::SourcePlace place;
  std::vector<audit::Frame> callers;  ///< the frames that called `place`
  /// `place` as text; also names the callers if several rows would otherwise have the same text.
  std::string where;
  std::string call;
  std::uint64_t calls = 0;
  std::string verdict;
  std::optional<double> cost_ms;  ///< cost of one call on the first file system
  bool droppable = false, missing = false;
  /// Describes the loss on the first file system that loses data.
  std::string loss;
  std::vector<std::string> evidence;  ///< further lines about this loss
};

std::string_view need_text(audit::SiteVerdict::Need need) {
  constexpr std::array<std::string_view, 6> kWords{"needed",
                                                   "redundant",
                                                   "redundant, proven,",
                                                   "needed if the redundant calls are removed",
                                                   "unclear",
                                                   "executed, but cannot be skipped"};
  return kWords.at(static_cast<std::size_t>(need));
}

/// Returns, for example, "needed on ext4, xfs; redundant on btrfs (88 of 1900 states)", where 88 of
/// about 1900 states were checked. If the site is redundant on several file systems, the numbers
/// are those of the file system with the fewest checked states.
std::string verdict_text(
    const std::vector<std::pair<std::string, const audit::SiteVerdict*>>& all) {
  std::map<audit::SiteVerdict::Need, std::vector<std::string>> filesystems;
  const audit::SiteVerdict* least = nullptr;
  for (const auto& [filesystem, each] : all) {
    filesystems[each->need].push_back(filesystem);
    if (each->need == audit::SiteVerdict::Need::redundant &&
        (least == nullptr || each->states < least->states))
      least = each;
  }
  std::string text;
  for (const auto& [need, names] : filesystems) {
    text += fmt::format("{}{} on {}", text.empty() ? "" : "; ", need_text(need),
                        fmt::join(names, ", "));
    if (need == audit::SiteVerdict::Need::redundant)
      text += fmt::format(" ({} of {} states)", least->states, states_text(least->space));
  }
  return text;
}

/// Finds the source places of frames, and caches them, because each search reads an object file and
/// starts addr2line.
class Places {
 public:
  explicit Places(const ProgramArguments& arguments)
      : root_(fs::is_directory(arguments.program.rootfs) ? arguments.program.rootfs : "/") {}

  const audit::SourcePlace& of(const audit::Frame& frame) {
    const auto [known, added] = known_.try_emplace({frame.object, frame.offset});
    if (added) known->second = audit::source_place(frame, root_);
    return known->second;
  }

 private:
  const fs::path root_;
  std::map<std::pair<std::string, std::uint64_t>, audit::SourcePlace> known_;
};

void set_place(AuditRow& row, const std::vector<audit::Frame>& frames, Places& places) {
  if (frames.empty()) {
    row.where = "unknown";
    return;
  }
  row.place = places.of(frames.front());
  row.where = row.place.text();
  row.callers.assign(frames.begin() + 1, frames.end());
}

AuditRow row_of(const std::vector<std::pair<std::string, const audit::SiteVerdict*>>& all,
                Places& places) {
  const audit::Site& site = all.front().second->site;
  AuditRow row{.call = audit::call_text(site), .cost_ms = audit::cost_ms(site), .droppable = true};
  set_place(row, site.frames, places);
  row.verdict = verdict_text(all);
  for (const auto& [filesystem, each] : all) {
    row.calls = std::max(row.calls, each->site.calls);
    row.droppable = row.droppable && audit::is_droppable(each->need);
    if (!row.loss.empty() || each->loss.empty()) continue;
    row.loss = fmt::format("{} loses data {}", filesystem, each->loss);
    row.evidence = each->evidence;
  }
  return row;
}

AuditRow row_of(const audit::MissingFlush& missing, const std::vector<std::string>& filesystems,
                Places& places) {
  AuditRow row{.call = fmt::format("{}, no flush", missing.site.call),
               .verdict = fmt::format("missing: flush {} {} after this call, on {}",
                                      missing.site.names ? "folder" : "file", missing.target,
                                      fmt::join(filesystems, ", ")),
               .missing = true};
  set_place(row, missing.frames, places);
  return row;
}

/// If several rows have the same place and the same call, appends the places of their callers until
/// all rows differ.
void distinguish(std::vector<AuditRow>& rows, Places& places) {
  for (std::size_t depth = 0; depth < audit::kFramesInKey; ++depth) {
    std::map<std::string, std::size_t> rows_of_place;
    for (const AuditRow& row : rows) ++rows_of_place[row.where + " " + row.call];
    for (AuditRow& row : rows)
      if (rows_of_place[row.where + " " + row.call] > 1 && depth < row.callers.size())
        row.where += " < " + places.of(row.callers[depth]).text();
  }
}

/// Returns one row for each site and each missing flush, in the order in which the program makes
/// the calls.
std::vector<AuditRow> rows_of(const std::vector<Audited>& all, Places& places) {
  std::vector<std::string> words;
  std::map<std::string, std::vector<std::pair<std::string, const audit::SiteVerdict*>>> sites;
  std::map<audit::ChangeSite, std::pair<const audit::MissingFlush*, std::vector<std::string>>>
      missing;
  for (const Audited& each : all) {
    for (const audit::SiteVerdict& verdict : each.audit.sites) {
      const std::string word = verdict.site.word();
      if (!sites.contains(word)) words.push_back(word);
      sites[word].emplace_back(each.filesystem, &verdict);
    }
    for (const audit::MissingFlush& flush : each.audit.missing) {
      auto& [first, filesystems] = missing[flush.site];
      if (first == nullptr) first = &flush;
      filesystems.push_back(each.filesystem);
    }
  }
  std::vector<AuditRow> rows;
  for (const std::string& word : words) rows.push_back(row_of(sites[word], places));
  for (const auto& [site, found] : missing)
    rows.push_back(row_of(*found.first, found.second, places));
  distinguish(rows, places);
  return rows;
}

void print_rows(const std::vector<AuditRow>& rows) {
  std::vector<std::string> names;
  std::size_t width = std::string_view("call site").size(), verdict_width = 0;
  for (const AuditRow& row : rows) {
    names.push_back(row.where + "  " + row.call);
    width = std::max(width, names.back().size());
    verdict_width = std::max(verdict_width, row.verdict.size());
  }
  fmt::print("{:<{}}  calls  {:<{}}  cost / call\n", "call site", width, "verdict", verdict_width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AuditRow& row = rows[i];
    fmt::print("{:<{}}  {:>5}  {:<{}}  {:>11}\n", names[i], width,
               row.missing ? "-" : fmt::format("{}", row.calls), row.verdict, verdict_width,
               row.cost_ms ? fmt::format("{:.1f} ms", *row.cost_ms) : "-");
  }
}

/// Returns the reason why no missing flush was found; empty if all were found.
std::string unmended_text(const audit::Audit& audit) {
  if (audit.mended) return "";
  if (!audit.mapped.empty())
    return fmt::format(
        "; the program changes {} through a mapping, so it must call msync before it prints the "
        "line",
        fmt::join(audit.mapped, ", "));
  return "; flushes after the program's changes do not prevent the loss";
}

void print_losses(const std::vector<AuditRow>& rows, const std::vector<Audited>& all) {
  for (const Audited& each : all) {
    const audit::ExperimentOutcome& baseline = each.audit.baseline;
    if (baseline.verdict != audit::ExperimentOutcome::Verdict::lost) continue;
    fmt::print("{:<8}lost    {}{}\n", each.filesystem, baseline.loss, unmended_text(each.audit));
    for (const std::string& line : baseline.evidence) fmt::print("{:<8}{}\n", "", line);
  }
  for (const AuditRow& row : rows) {
    if (row.loss.empty()) continue;
    fmt::print("Without {} {}: {}\n", row.where, row.call, row.loss);
    for (const std::string& line : row.evidence)
      if (line.starts_with("the verifier") || line.starts_with("again"))
        fmt::print("{:<8}{}\n", "", line);
  }
}

void print_savings(const std::vector<Audited>& all) {
  for (const Audited& each : all)
    if (each.audit.ns_without > 0)
      fmt::print(
          "Without the redundant calls, the test takes {:.3f} s instead of {:.3f} s on {}.\n",
          static_cast<double>(each.audit.ns_without) / 1e9,
          static_cast<double>(each.audit.ns) / 1e9, each.filesystem);
}

/// Prints the changes to make to the program, one on each line.
void print_patch(const std::vector<AuditRow>& rows) {
  for (const AuditRow& row : rows) {
    if (row.droppable) fmt::print("remove  {}  {}\n", row.where, row.call);
    if (row.missing) fmt::print("add     {}  {}\n", row.where, row.verdict);
  }
}

void print_text(const ProgramArguments& arguments, const std::vector<AuditRow>& rows,
                const std::vector<Audited>& all) {
  if (rows.empty()) fmt::print("{} makes no flush calls\n", program_name(arguments));
  if (!rows.empty()) print_rows(rows);
  print_losses(rows, all);
  print_savings(all);
  print_patch(rows);
  if (std::ranges::any_of(rows, &AuditRow::droppable))
    fmt::print(
        "\"Redundant\" applies only to these file systems and kernels, and to the states that were "
        "tried.\n");
}

nlohmann::json as_json(const audit::SourcePlace& place) {
  return {{"file", place.file},
          {"line", place.line},
          {"function", place.function},
          {"object", place.object}};
}

nlohmann::json stack_as_json(const std::vector<audit::Frame>& frames, Places& places) {
  nlohmann::json list = nlohmann::json::array();
  for (const audit::Frame& frame : frames) list.push_back(as_json(places.of(frame)));
  return list;
}

nlohmann::json as_json(const Audited& audited, Places& places) {
  nlohmann::json sites = nlohmann::json::array(), missing = nlohmann::json::array();
  for (const audit::SiteVerdict& each : audited.audit.sites) {
    const auto cost = audit::cost_ms(each.site);
    sites.push_back({{"kind", each.site.kind},
                     {"target", each.site.example},
                     {"word", each.site.word()},
                     {"calls", each.site.calls},
                     {"verdict", need_text(each.need)},
                     {"droppable", audit::is_droppable(each.need)},
                     {"states", each.states},
                     {"space", each.space},
                     {"cost_ms", cost ? nlohmann::json(*cost) : nlohmann::json()},
                     {"loss", each.loss},
                     {"evidence", each.evidence},
                     {"stack", stack_as_json(each.site.frames, places)}});
  }
  for (const audit::MissingFlush& each : audited.audit.missing)
    missing.push_back({{"call", each.site.call},
                       {"flush", each.site.names ? "folder" : "file"},
                       {"target", each.target},
                       {"stack", stack_as_json(each.frames, places)}});
  const audit::ExperimentOutcome& baseline = audited.audit.baseline;
  return {{"filesystem", audited.filesystem},
          {"lost", baseline.verdict == audit::ExperimentOutcome::Verdict::lost},
          {"mended", audited.audit.mended},
          {"loss", baseline.loss},
          {"evidence", baseline.evidence},
          {"states", baseline.states},
          {"sites", sites},
          {"missing", missing},
          {"seconds", static_cast<double>(audited.audit.ns) / 1e9},
          {"seconds_without", static_cast<double>(audited.audit.ns_without) / 1e9}};
}

std::vector<report::CiCase> ci_cases(const ProgramArguments& arguments,
                                     const std::vector<AuditRow>& rows,
                                     const std::vector<Audited>& all) {
  using enum report::CiCase::Verdict;
  const std::string group = "audit " + program_name(arguments);
  std::vector<report::CiCase> cases;
  for (const AuditRow& row : rows) {
    std::error_code error;
    const fs::path file = row.place.file;
    const fs::path relative = fs::relative(file, fs::current_path(), error);
    const bool below = !error && !relative.empty() && *relative.begin() != "..";
    cases.push_back({.group = group,
                     .name = row.where + " " + row.call,
                     .verdict = row.missing     ? failed
                                : row.droppable ? note
                                                : passed,
                     .message = row.verdict,
                     .details = row.loss,
                     .source = file.empty() ? ""
                               : below      ? relative.string()
                                            : file.string(),
                     .line = std::max(row.place.line, 1)});
  }
  for (const Audited& each : all)
    if (each.audit.baseline.verdict == audit::ExperimentOutcome::Verdict::lost &&
        !each.audit.mended)
      cases.push_back({.group = group,
                       .name = each.filesystem,
                       .verdict = failed,
                       .message = each.audit.baseline.loss});
  return cases;
}

/// Determines whether the verifier can detect a loss. Returns nullopt if no loss was found before
/// the time limit.
Result<std::optional<bool>> can_see(const ProgramArguments& arguments,
                                    const std::vector<Audited>& all,
                                    const check::PreparedProgram& prepared) {
  const auto lost = [](const audit::SiteVerdict& each) {
    return each.need == audit::SiteVerdict::Need::needed ||
           each.need == audit::SiteVerdict::Need::together;
  };
  for (const Audited& each : all)
    if (each.audit.baseline.verdict == audit::ExperimentOutcome::Verdict::lost ||
        std::ranges::any_of(each.audit.sites, lost))
      return true;
  std::optional<bool> sees = false;
  for (const Audited& each : all) {
    TRY(sees, sees_a_loss(arguments, each.option, each.recording, prepared));
    if (!sees || *sees) break;
  }
  return sees;
}

Result<int> audit_all(const ProgramArguments& arguments) {
  TRY(validate(arguments));
  TRY(const auto folder, make_result_folder(arguments));
  TRY(const auto prepared, prepare_program(arguments));
  std::vector<Audited> all;
  for (const std::string& filesystem : arguments.filesystems) {
    TRY(auto audited, audit_one(arguments, filesystem, prepared));
    all.push_back(std::move(audited));
  }
  TRY(const auto sees, can_see(arguments, all, prepared));
  Places places(arguments);
  const std::vector<AuditRow> rows = rows_of(all, places);
  if (sees && !*sees) return cannot_detect_a_loss(arguments, all.front().recording, prepared);
  if (arguments.as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Audited& each : all) list.push_back(as_json(each, places));
    print({{"filesystems", list}, {"can_see", sees ? nlohmann::json(*sees) : nlohmann::json()}});
  } else {
    print_text(arguments, rows, all);
    if (!sees)
      fmt::print(
          "In {} s, no loss was found even without any flush; a larger --time may show whether the "
          "verifier can detect a loss.\n",
          arguments.time_s);
  }
  const bool lost = std::ranges::any_of(all, [](const Audited& each) {
    return each.audit.baseline.verdict == audit::ExperimentOutcome::Verdict::lost;
  });
  const bool shown =
      lost || std::ranges::any_of(rows, [](const AuditRow& row) { return !row.loss.empty(); });
  if (!shown && !arguments.keep) {
    std::error_code error;
    fs::remove_all(arguments.folder, error);
  }
  return finish_ci(arguments.ci, "headcrash audit", ci_cases(arguments, rows, all),
                   lost ? kFound : kFine);
}

}  // namespace

void add_audit(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "audit", "Finds the flush calls of a program that are missing or redundant");
  const auto arguments = std::make_shared<ProgramArguments>();
  arguments->folder = kAuditFolder;
  add_program_options(*command, *arguments);
  command->footer(
      "Examples:\n  headcrash audit --fs ext4 -- ./mytest\n"
      "  headcrash audit --verify './verify.sh' --fs ext4 --fs xfs -- ./mytest 100\n\n"
      "Each call site of fsync, fdatasync, sync_file_range, syncfs, sync, msync, O_SYNC, O_DSYNC "
      "and RWF_DSYNC is\nskipped in turn, and the crash states of that run are then checked as in "
      "`headcrash check`. --time is the time limit for\nthe states of each such run.\n\n"
      "Exit code 0: no flush is missing; 1: data can be lost; 2: usage error, or a verifier that "
      "cannot detect a loss;\n77: no guest can run here.");
  command->callback([arguments, &exit_code] {
    exit_code = run_on_program(*arguments, "audit", [&] { return audit_all(*arguments); });
  });
}

}  // namespace headcrash::cli
