// headcrash contract: runs litmus tests on file systems and prints which guarantees each file
// system keeps.
// headcrash explain: finds litmus tests that match given words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "fs-adapters/registry.h"
#include "harness/cli/command.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/explored.h"
#include "harness/cli/lab_command.h"
#include "harness/cli/terminal.h"
#include "harness/contract/cell.h"
#include "harness/contract/guest_cell.h"
#include "harness/contract/in_process_cell.h"
#include "harness/run/guest_kind.h"
#include "plugin/base/command_text.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/text_file.h"
#include "plugin/base/version.h"
#include "results/report/contract/contract_page.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

/// Width of tables in files and pipes. It is so large that no line is folded.
constexpr std::size_t kWidthOfFiles = 1000;
constexpr std::size_t kTestsExplained = 5;
constexpr std::uint64_t kGuestStates = 60, kOwnStates = 1000;

struct ContractArguments {
  std::vector<std::string> filesystems, tests;
  std::string folder, markdown, csv, first, second;
  std::uint64_t states = 0, seed = 1, time_s = 0;
  std::size_t jobs = 2;
  bool as_json = false, list = false, resume = false;
  Verbosity verbosity = Verbosity::normal;
  KernelArguments kernel;
};

/// A file system in the table: one of our own, or one of the Linux kernel.
struct System {
  const adapters::SystemUnderTest* own = nullptr;
  std::optional<adapters::LinuxAdapter> kernel;
  std::string name() const { return own != nullptr ? own->full_name() : kernel->name; }
};

Result<std::vector<System>> find_systems(const ContractArguments& arguments) {
  std::vector<System> systems;
  const auto all = adapters::all_systems();
  for (const std::string& name : arguments.filesystems) {
    const auto own = std::ranges::find_if(
        all, [&](const adapters::SystemUnderTest* each) { return each->full_name() == name; });
    if (own != all.end()) {
      systems.push_back({.own = *own, .kernel = std::nullopt});
      continue;
    }
    TRY(auto adapter, adapters::load_adapter(name));
    TRY(apply_kernel(arguments.kernel, adapter));
    systems.push_back({.own = nullptr, .kernel = std::move(adapter)});
  }
  return systems;
}

contract::CellOptions options_of(const ContractArguments& arguments, bool own) {
  const std::uint64_t usual = own ? kOwnStates : kGuestStates;
  return {.states = arguments.states == 0 ? usual : arguments.states,
          .seed = arguments.seed,
          .time_s = arguments.time_s,
          .interrupted = &interrupted()};
}

void show_progress(const ContractArguments& arguments, const contract::LitmusTest& test,
                   const contract::Cell& cell) {
  if (arguments.verbosity == Verbosity::quiet) return;
  if (!can_overwrite() && arguments.verbosity != Verbosity::verbose) return;
  fmt::print(stderr, "{}{} {} {}: {}{}", can_overwrite() ? "\r\033[K" : "", cell.system,
             test.number, test.name, cell.text(),
             arguments.verbosity == Verbosity::verbose
                 ? fmt::format(" ({:.1f} s){}{}\n", cell.seconds, cell.problem.empty() ? "" : ": ",
                               cell.problem)
                 : "");
}

std::string crash_page_name(const contract::Cell& cell) {
  return fmt::format("{}-{:02}.html", cell.system, cell.test);
}

/// Writes the page that shows the smallest crash of the cell.
Result<void> write_crash(const System& system, const contract::Cell& cell,
                         const contract::GuestCells& cells, const fs::path& folder) {
  TRY(const auto run, states::RunHistory::load(cell.recording));
  TRY(const auto state, states::parse_crash_state(cell.smallest.state));
  const explorer::StateOutcome& outcome = cells.outcome();
  return save_crash_file(
      {.run = run.get(),
       .filesystem = &*system.kernel,
       .workload = &cells.workload(),
       .state = state,
       .judgement = outcome.judgement,
       .checked = true,
       .findings = outcome.findings,
       .log = outcome.log,
       .reproduce = {fmt::format("headcrash replay {} --fs {} --state {}", cell.recording,
                                 base::shell_quoted(adapters::name_to_load(*system.kernel)),
                                 base::shell_quoted(cell.smallest.state))}},
      folder / crash_page_name(cell));
}

/// Runs the tests on one of our own file systems. Does not keep the recordings, because the same
/// command creates them again, byte for byte.
Result<void> run_own(const ContractArguments& arguments, const System& system,
                     contract::Table& table) {
  TRY(const auto scratch, base::ScratchFolder::make());
  in_process::DiskExplorers explorers(scratch.path());
  const fs::path recording = scratch.path() / "test.hcrec";
  for (const contract::LitmusTest& test : table.tests) {
    if (interrupted()) return {};
    TRY(auto cell, contract::run_in_process(test, *system.own, explorers,
                                            options_of(arguments, true), recording));
    show_progress(arguments, test, cell);
    table.cells.push_back(std::move(cell));
  }
  return {};
}

Result<void> run_in_guests(const ContractArguments& arguments, const System& system,
                           const fs::path& folder, contract::Table& table) {
  ExploreArguments size;
  size.filesystem = system.name();
  TRY(const auto bytes, size_of_new_disk(size, *system.kernel));
  TRY(const auto pool,
      start_guests(*system.kernel, {}, bytes, arguments.jobs, arguments.kernel.virtual_time()));
  TRY(auto cells, contract::GuestCells::start(*pool, *system.kernel, folder / system.name(),
                                              options_of(arguments, false)));
  for (const contract::LitmusTest& test : table.tests) {
    if (interrupted()) return {};
    TRY(auto cell, cells.run(test));
    if (interrupted()) return {};
    if (cell.lost() && !arguments.folder.empty()) {
      TRY(write_crash(system, cell, cells, arguments.folder));
    } else {
      std::error_code error;
      fs::remove(cell.recording, error);
      cell.recording.clear();
    }
    show_progress(arguments, test, cell);
    table.cells.push_back(std::move(cell));
  }
  return {};
}

report::ContractCell page_cell(const contract::Cell* cell, const std::string& folder) {
  report::ContractCell shown;
  if (cell == nullptr) return shown;
  using Answer = report::ContractCell::Answer;
  shown.answer = cell->answer == contract::Answer::kept          ? Answer::kept
                 : cell->answer == contract::Answer::broken      ? Answer::broken
                 : cell->answer == contract::Answer::unusable    ? Answer::unusable
                 : cell->answer == contract::Answer::unsupported ? Answer::unsupported
                                                                 : Answer::failed;
  shown.text = cell->text();
  shown.promise = name(cell->promise.kind);
  shown.promised = cell->promise.kind != contract::PromiseKind::none;
  shown.source = cell->promise.source;
  if (!cell->literature.empty())
    shown.source += (shown.source.empty() ? "" : "; ") + ("others found it " + cell->literature);
  shown.row = cell->smallest.row;
  shown.found = cell->smallest.found;
  shown.state = cell->smallest.state;
  shown.problem = cell->problem;
  if (!cell->lost()) return shown;
  shown.writes = cell->smallest.missing == 0 ? "none: the data had not been written before the cut"
                                             : std::to_string(cell->smallest.missing);
  const fs::path page = fs::path(folder) / crash_page_name(*cell);
  if (std::error_code error; fs::exists(page, error)) shown.crash_page = page.filename().string();
  shown.command = fmt::format("headcrash contract --fs {} --test {}",
                              base::shell_quoted(cell->system), cell->test);
  return shown;
}

std::string page_of(const contract::Table& table, const ContractArguments& arguments) {
  report::ContractPage page;
  page.commit = table.commit;
  for (const contract::TableSystem& system : table.systems) page.systems.push_back(system.name);
  for (const contract::LitmusTest& test : table.tests) {
    report::ContractRow row{.number = std::to_string(test.number),
                            .title = test.title,
                            .group = test.group,
                            .relies = test.relies};
    for (const auto& each : test.initial) row.initial.push_back(workload::format(each));
    for (const auto& each : test.operations) row.operations.push_back(workload::format(each));
    for (const auto& each : test.allowed.rows()) row.allowed.push_back(each.text);
    for (const auto& each : test.defect) row.defect.push_back(contract::format(each));
    for (const contract::TableSystem& system : table.systems)
      row.cells.push_back(page_cell(table.find(test.number, system.name), arguments.folder));
    page.rows.push_back(std::move(row));
  }
  return report::contract_page(page);
}

Result<void> write_files(const contract::Table& table, const ContractArguments& arguments) {
  if (!arguments.markdown.empty())
    TRY(base::write_text_file(arguments.markdown, contract::as_markdown(table)));
  if (!arguments.csv.empty()) TRY(base::write_text_file(arguments.csv, contract::as_csv(table)));
  if (arguments.folder.empty()) return {};
  const fs::path folder = arguments.folder;
  TRY(base::write_text_file(folder / "contract.json", contract::as_json(table).dump(1) + "\n"));
  TRY(base::write_text_file(folder / "contract.md", contract::as_markdown(table)));
  TRY(base::write_text_file(folder / "contract.csv", contract::as_csv(table)));
  TRY(base::write_text_file(folder / "contract.html", page_of(table, arguments)));
  return {};
}

Result<fs::path> make_folder(const ContractArguments& arguments,
                             std::optional<base::ScratchFolder>& scratch) {
  if (arguments.folder.empty()) {
    TRY(auto made, base::ScratchFolder::make());
    scratch.emplace(std::move(made));
    return scratch->path();
  }
  std::error_code error;
  fs::create_directories(arguments.folder, error);
  if (error) return fail(arguments.folder, error.message(), "choose a writable folder with -o");
  return fs::path(arguments.folder);
}

/// Returns true if the cell shows a loss of something that is promised, or on which applications
/// rely.
bool breaks_a_promise(const contract::Cell& cell) {
  return cell.lost() && cell.promise.kind != contract::PromiseKind::none;
}

/// Returns the table that an interrupted run left in the output folder, without the file systems of
/// which cells are missing. Fails if that run's tests or version differ.
Result<contract::Table> table_so_far(const ContractArguments& arguments,
                                     std::vector<contract::LitmusTest> tests) {
  contract::Table table{
      .tests = std::move(tests), .systems = {}, .cells = {}, .commit = base::version()};
  if (!arguments.resume) return table;
  const std::string file = (fs::path(arguments.folder) / "contract.json").string();
  if (std::error_code error; !fs::exists(file, error)) return table;
  TRY(const auto text, base::read_text_file(file));
  TRY(auto before, contract::parse_table(text, file));
  if (!std::ranges::equal(before.tests, table.tests, {}, &contract::LitmusTest::number,
                          &contract::LitmusTest::number))
    return fail(file, "has other tests", "repeat the --test options of that run, or omit --resume");
  if (before.commit != table.commit)
    return fail(file, fmt::format("was written by version {}", before.commit),
                "use that version, or omit --resume");
  for (contract::TableSystem& system : before.systems) {
    const auto is_of_system = [&](const contract::Cell& cell) {
      return cell.system == system.name;
    };
    if (static_cast<std::size_t>(std::ranges::count_if(before.cells, is_of_system)) !=
        table.tests.size())
      continue;
    std::ranges::copy_if(before.cells, std::back_inserter(table.cells), is_of_system);
    table.systems.push_back(std::move(system));
  }
  return table;
}

Result<int> run_tests(const ContractArguments& arguments) {
  TRY(auto tests, contract::select_tests(arguments.tests));
  TRY(const auto systems, find_systems(arguments));
  std::optional<base::ScratchFolder> scratch;
  TRY(const auto folder, make_folder(arguments, scratch));
  TRY(auto table, table_so_far(arguments, std::move(tests)));
  for (const System& system : systems) {
    if (std::ranges::find(table.systems, system.name(), &contract::TableSystem::name) !=
        table.systems.end())
      continue;
    table.systems.push_back(
        {system.name(), system.kernel ? system.kernel->guest.kernel : "in process"});
    TRY(system.own != nullptr ? run_own(arguments, system, table)
                              : run_in_guests(arguments, system, folder, table));
    clear_line();
    if (interrupted()) break;
    if (&system != &systems.back()) TRY(write_files(table, arguments));
  }
  TRY(write_files(table, arguments));
  if (!arguments.folder.empty() && arguments.verbosity != Verbosity::quiet)
    fmt::print(stderr, "headcrash: table: {}\n",
               (fs::path(arguments.folder) / "contract.html").string());
  if (arguments.as_json) {
    print(contract::as_json(table));
  } else {
    fmt::print("{}", contract::as_text(table, terminal_width().value_or(kWidthOfFiles)));
    fmt::print(
        "\nkept 0/412: none of the 412 checked states failed; \"+\": more states exist. \"Kept\" "
        "does not mean \"promised\", and \"not seen\" does not mean \"never\".\n");
  }
  if (interrupted()) return kInterrupted;
  return std::ranges::any_of(table.cells, breaks_a_promise) ? kFound : kFine;
}

void print_tests(const std::vector<contract::LitmusTest>& tests, bool as_json) {
  if (as_json) {
    print(contract::as_json({.tests = tests, .systems = {}, .cells = {}, .commit = ""})["tests"]);
    return;
  }
  for (const contract::LitmusTest& test : tests)
    fmt::print("{:>2}  {:<10}{:<28}{}\n", test.number, test.group, test.name, test.title);
}

int run(ContractArguments arguments) {
  if (arguments.list) {
    const auto tests = contract::select_tests(arguments.tests);
    if (!tests) return report_error(tests.error(), arguments.as_json);
    print_tests(*tests, arguments.as_json);
    return kFine;
  }
  if (arguments.filesystems.empty()) arguments.filesystems = {"ext4", "xfs", "btrfs", "f2fs"};
  if (arguments.kernel.guest.empty())
    arguments.kernel.guest = fastest_guest(arguments.kernel.parts());
  catch_interrupts();
  const auto done = run_tests(arguments);
  return done ? *done : report_error(done.error(), arguments.as_json);
}

/// A table and one of the systems in it. The user specifies them as FILE or FILE:SYSTEM.
struct Side {
  contract::Table table;
  std::vector<std::string> systems;
};

Result<Side> read_side(const std::string& argument) {
  std::string file = argument, system;
  std::error_code error;
  if (!fs::exists(file, error)) {
    const std::size_t colon = argument.rfind(':');
    if (colon != std::string::npos)
      file = argument.substr(0, colon), system = argument.substr(colon + 1);
  }
  TRY(const auto text, base::read_text_file(file));
  TRY(auto table, contract::parse_table(text, file));
  Side side{.table = std::move(table), .systems = {}};
  std::vector<std::string> known;
  for (const contract::TableSystem& each : side.table.systems) known.push_back(each.name);
  if (system.empty()) {
    side.systems = known;
  } else if (std::ranges::find(known, system) != known.end()) {
    side.systems = {system};
  } else {
    return fail(argument, fmt::format("the table has no file system \"{}\"", system),
                fmt::format("use one of {}", fmt::join(known, ", ")));
  }
  return side;
}

Result<int> run_diff(const ContractArguments& arguments) {
  TRY(const auto one, read_side(arguments.first));
  TRY(const auto other, read_side(arguments.second));
  const bool single = one.systems.size() == 1 && other.systems.size() == 1;
  nlohmann::json list = nlohmann::json::array();
  std::size_t compared = 0;
  for (const std::string& system : one.systems) {
    const std::string other_system = single ? other.systems.front() : system;
    if (std::ranges::find(other.systems, other_system) == other.systems.end()) continue;
    ++compared;
    for (const auto& difference :
         contract::differences(one.table, system, other.table, other_system)) {
      list.push_back({{"test", difference.test},
                      {"one", system},
                      {"other", other_system},
                      {"one_answer", difference.one->text()},
                      {"other_answer", difference.other->text()}});
      if (arguments.as_json) continue;
      const auto test =
          std::ranges::find(one.table.tests, difference.test, &contract::LitmusTest::number);
      fmt::print("{:>2} {:<44} {}: {:<20} {}: {}\n", difference.test, test->title, system,
                 difference.one->text(), other_system, difference.other->text());
    }
  }
  if (compared == 0)
    return fail(arguments.second, "has no file system in common with " + arguments.first,
                "name one system of each table as FILE:SYSTEM");
  if (arguments.as_json) print(list);
  if (!arguments.as_json && list.empty()) fmt::print("no cell differs\n");
  return list.empty() ? kFine : kFound;
}

int explain(const std::string& words, bool as_json) {
  const auto tests = contract::find_tests(words, kTestsExplained);
  if (tests.empty())
    return report_error({fmt::format("\"{}\"", words), "no litmus test covers this",
                         "headcrash contract --list lists all tests"},
                        as_json);
  if (as_json) {
    print_tests(tests, true);
    return kFine;
  }
  for (const contract::LitmusTest& test : tests) {
    fmt::print("{} {} ({})\n  {}.\n", test.number, test.title, test.name, test.relies);
    if (!test.initial.empty()) fmt::print("  before:");
    for (std::size_t i = 0; i < test.initial.size(); ++i)
      fmt::print("{} {}", i == 0 ? "" : ";", workload::format(test.initial[i]));
    if (!test.initial.empty()) fmt::print("\n");
    for (std::size_t i = 0; i < test.operations.size(); ++i)
      fmt::print("  {:>2} {}\n", i + 1, workload::format(test.operations[i]));
    for (const contract::Row& row : test.allowed.rows()) fmt::print("  allowed: {}\n", row.text);
    const auto promise = [](const contract::Promise& each) {
      return std::string(name(each.kind)) + (each.source.empty() ? "" : ": " + each.source);
    };
    fmt::print("  {}\n", promise(test.promise));
    for (const auto& [family, each] : test.promises)
      fmt::print("    {:<16} {}\n", family, promise(each));
    fmt::print("  headcrash contract --test {}\n\n", test.name);
  }
  return kFine;
}

void add_diff(CLI::App& command, const std::shared_ptr<ContractArguments>& arguments,
              int& exit_code) {
  CLI::App* diff = command.add_subcommand("diff", "Compares the answers in two stored tables");
  diff->add_option("ONE", arguments->first, "contract.json of a run, or FILE:SYSTEM")->required();
  diff->add_option("OTHER", arguments->second, "The other table")->required();
  diff->add_flag("--json", arguments->as_json, "Print the differences as JSON");
  diff->footer(
      "Examples:\n  headcrash contract diff old/contract.json new/contract.json\n"
      "  headcrash contract diff t/contract.json:ext4 t/contract.json:ext4-writeback\n\n"
      "Exit code 1: a cell differs.");
  diff->callback([arguments, &exit_code] {
    const auto done = run_diff(*arguments);
    exit_code = done ? *done : report_error(done.error(), arguments->as_json);
  });
}

}  // namespace

void add_contract(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "contract", "Runs litmus tests that show what file systems keep after a power cut");
  const auto arguments = std::make_shared<ContractArguments>();
  command
      ->add_option(
          "--fs", arguments->filesystems,
          "File system: one of Linux (headcrash list filesystems), a .toml file, or one of "
          "headcrash's own (headcrash list systems); may be repeated; default: ext4, xfs, btrfs "
          "and f2fs")
      ->allow_extra_args(false);
  command
      ->add_option("--test", arguments->tests,
                   "Litmus test: a number, a name or a group; may be repeated; default: all")
      ->allow_extra_args(false);
  command->add_flag("--list", arguments->list, "List the tests");
  add_kernel_options(*command, arguments->kernel, kFastestGuest);
  command
      ->add_option("--states", arguments->states,
                   "Maximum number of crash states of each cell; default: 60 in guests, 1000 in "
                   "process")
      ->check(between(1, 100'000'000));
  command
      ->add_option("--time", arguments->time_s,
                   "Time limit in seconds for the states of each cell in guests; default: none")
      ->check(between(1, 1'000'000));
  command->add_option("--seed", arguments->seed, "Seed of all random choices")
      ->capture_default_str();
  command->add_option("--jobs", arguments->jobs, "Number of concurrent guests")
      ->check(between(1, 64))
      ->capture_default_str();
  CLI::Option* const output =
      command->add_option("-o,--output", arguments->folder,
                          "Folder for the table (as a page, JSON, CSV and Markdown) and, for each "
                          "cell that is broken in a guest, a page and the recording");
  command
      ->add_flag("--resume", arguments->resume,
                 "Keep the columns that are complete in the folder's table, and run the others")
      ->needs(output);
  command->add_option("--markdown", arguments->markdown,
                      "Write the table to this file, as Markdown");
  command->add_option("--csv", arguments->csv, "Write a CSV file with a line for each cell");
  add_verbosity_options(*command, arguments->verbosity);
  command->add_flag("--json", arguments->as_json, "Print the table as JSON");
  command->footer(
      "Examples:\n  headcrash contract --list\n"
      "  headcrash contract --fs ufs-journal --fs lfs-roll-forward\n"
      "  headcrash contract --fs ext4 --fs xfs --test replace\n"
      "  headcrash contract --fs ext4@6.12 --test 39 --states 1000 -o table\n\n"
      "Exit code 1: a guarantee that is promised, or that programs rely on, is broken.");
  command->require_subcommand(0, 1);
  add_diff(*command, arguments, exit_code);
  command->callback([arguments, command, &exit_code] {
    if (command->get_subcommands().empty()) exit_code = run(*arguments);
  });
}

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "explain", "Searches the litmus tests for words, and shows what each file system promises");
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto as_json = std::make_shared<bool>(false);
  command->add_option("WORDS", *words, "Words that describe the operations")->required();
  command->add_flag("--json", *as_json, "Print the tests as JSON");
  command->footer(
      "Examples:\n  headcrash explain \"rename over without fsync\"\n"
      "  headcrash explain msync");
  command->callback([words, as_json, &exit_code] {
    exit_code = explain(fmt::format("{}", fmt::join(*words, " ")), *as_json);
  });
}

}  // namespace headcrash::cli
