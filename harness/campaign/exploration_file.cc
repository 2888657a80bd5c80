// Parses the exploration tables of a campaign file (exploration_file.h).
#include "harness/campaign/exploration_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "harness/campaign/trial/array_disk.h"
#include "harness/explorer/guests/record_workload.h"
#include "harness/explorer/guests/stack_rules.h"
#include "harness/oracle/verdict.h"
#include "harness/workload/ace.h"
#include "harness/workload/catalogue.h"
#include "plugin/base/names.h"
#include "plugin/base/nearest.h"
#include "plugin/base/text_file.h"
#include "plugin/states/state_enumerator.h"

namespace headcrash::campaign {
namespace {

using base::StrictTable;

constexpr const char* kAny = "any";
constexpr std::array kControls{Control::lose, Control::damage, Control::keep,
                               Control::keep_after_fsck};
constexpr std::int64_t kTrialsMost = 100'000'000;
constexpr std::int64_t kBudgetMost = 10'000'000;

Result<Control> parse_control(const StrictTable& table, const std::string& word) {
  std::vector<std::string> known{kAny};
  for (const Control control : kControls) {
    if (word == name(control)) return control;
    known.emplace_back(name(control));
  }
  return fail(table.subject("must"), fmt::format("a control cannot require \"{}\"", word),
              base::suggest(word, known));
}

Result<void> parse_strategies(const StrictTable& table, std::vector<std::string>& into) {
  TRY(table.take("strategies", into));
  std::set<std::string> seen;
  for (const std::string& word : into) {
    if (const auto known = states::parse_strategy(word); !known)
      return fail(table.subject("strategies"), known.error().subject + " " + known.error().problem,
                  known.error().hint);
    if (!seen.insert(word).second)
      return fail(table.subject("strategies"), fmt::format("\"{}\" is listed twice", word));
  }
  return {};
}

/// Names of a cell's keys, for use in errors.
struct CellKeys {
  std::string device, strategies;
};

/// Checks that the strategies are compatible with recordings made on the cell's hardware.
Result<void> check_strategies(const CellKeys& keys, const ExploredCell& cell) {
  for (const std::string& word : cell.strategies) {
    TRY(const auto strategy, states::parse_strategy(word));
    const bool by_media = states::by_media(strategy);
    if (!cell.machine.is_array() && by_media) {
      return fail(
          keys.strategies,
          fmt::format(
              "\"{}\" needs the events of an emulated medium, which a plain disk does not have",
              word),
          "use an array, or record a trial on a drive profile and run headcrash explore on its "
          "recording");
    }
    if (cell.machine.is_array() && !by_media && strategy != states::Strategy::recovery) {
      return fail(keys.strategies,
                  fmt::format("\"{}\" applies to the writes of one disk, but {} has several disks",
                              word, cell.machine.profile),
                  "use only the strategies physical, member and recovery");
    }
  }
  return {};
}

/// Checks that the array can be used with the file system and the size.
Result<void> check_machine(const CellKeys& keys, const ExploredCell& cell,
                           std::uint64_t size_bytes) {
  const auto bytes = disk_bytes_of(cell.machine, cell.filesystem, size_bytes);
  if (!bytes) {
    const Error& error = bytes.error();
    return fail(keys.device + ": " + error.subject, error.problem, error.hint);
  }
  if (*bytes != size_bytes) {
    return fail(
        keys.device,
        fmt::format("{} needs whole stripes, but {} bytes is not a multiple of the stripe size",
                    cell.machine.profile, size_bytes),
        fmt::format("use device.size = {}, or a size that suits all arrays of the campaign",
                    *bytes));
  }
  return check_strategies(keys, cell);
}

/// Parses the key `device`. The key may be omitted if the campaign has only one device.
Result<void> parse_machine(const StrictTable& table, const std::vector<std::string>& devices,
                           ExploredCell& cell) {
  if (!table.has("device") && devices.size() > 1)
    return fail(table.subject("device"),
                fmt::format("is missing, but the campaign has {} devices", devices.size()),
                fmt::format("use device = \"{}\"", devices.front()));
  if (table.has("device")) cell.machine = {};
  if (!devices.empty()) cell.machine.profile = devices.front();
  TRY(table.take("device", cell.machine.profile));
  return parse_faults(table, cell.machine);
}

Result<void> parse_atomic_write(const StrictTable& table, std::uint64_t& bytes) {
  TRY(table.take_size("atomic-write", bytes));
  TRY(states::atomic_sectors_of(bytes, table.subject("atomic-write")));
  return {};
}

Result<void> parse_budget(const StrictTable& table, ExploredCell& cell) {
  if (table.has("budget") && table.has("states")) {
    return fail(table.subject("budget"), "cannot be combined with 'states'",
                "omit one of them: `budget` limits each workload, `states` all workloads together");
  }
  if (table.has("budget")) cell.states.reset();
  TRY(table.take("budget", cell.budget, {.least = 1, .most = kBudgetMost}));
  std::int64_t states = cell.states.value_or(0);
  TRY(table.take("states", states, {.least = 1, .most = kBudgetMost}));
  if (table.has("states")) cell.states = states;
  return {};
}

/// Returns true if `list` has the kernel: 6.12 includes 6.12.118.
bool has_kernel(const std::vector<std::string>& list, const std::string& kernel) {
  return std::ranges::any_of(list, [&](const std::string& each) {
    return kernel == each || kernel.starts_with(each + ".");
  });
}

std::string kernel_of(const adapters::LinuxAdapter& filesystem) {
  const std::size_t at = adapters::name_without_kernel(filesystem.name).size();
  return at < filesystem.name.size() ? filesystem.name.substr(at + 1) : "";
}

/// Adds a copy of the cell for each kernel in the list `kernels`, which is in `table` or, by
/// default, in `root`. Adds the cell unchanged if there is no list. Skips kernels that are not in
/// the list `only-kernels`.
Result<void> add_under_kernels(const StrictTable& root, const StrictTable& table,
                               const ExploredCell& cell, std::vector<ExploredCell>& cells) {
  std::vector<std::string> kernels, only;
  const StrictTable& whose = table.has("kernels") ? table : root;
  TRY(whose.take("kernels", kernels));
  TRY(table.take("only-kernels", only));
  if (kernels.empty() && only.empty()) cells.push_back(cell);
  for (const std::string& kernel : kernels) {
    if (!only.empty() && !has_kernel(only, kernel)) continue;
    ExploredCell under = cell;
    if (const auto set = adapters::set_kernel(under.filesystem, kernel); !set) {
      const Error& error = set.error();
      return fail(whose.subject("kernels") + ": " + error.subject, error.problem, error.hint);
    }
    cells.push_back(std::move(under));
  }
  return {};
}

/// Returns the result that a control must show if the file does not specify one, derived from the
/// adapter's expectation. Returns nullopt if the adapter expects nothing.
std::optional<Control> control_expected(const adapters::LinuxAdapter& filesystem) {
  switch (filesystem.expected) {
    case adapters::Expectation::loss:
      return Control::lose;
    case adapters::Expectation::clean:
      return Control::keep;
    case adapters::Expectation::any:
      break;
  }
  return std::nullopt;
}

Result<void> read_control_role(const StrictTable& root, const StrictTable& table,
                               std::uint64_t size_bytes, ExploredCell& cell) {
  std::string name, must;
  TRY(table.take("filesystem", name));
  if (name.empty())
    return fail(table.subject("filesystem"), "is missing", "use filesystem = \"ext4\"");
  TRY(auto adapter, load_filesystem(root, table.subject("filesystem"), name, size_bytes));
  cell.filesystem = std::move(adapter);
  TRY(table.take("must", must));
  cell.control = control_expected(cell.filesystem);
  if (must == kAny) {
    cell.control.reset();
    return {};
  }
  if (!must.empty()) {
    TRY(const auto parsed, parse_control(table, must));
    cell.control = parsed;
  }
  if (!cell.control) {
    return fail(table.subject("must"),
                fmt::format("is missing, and the file system {} defines no expected outcome", name),
                "use must = \"lose\", \"damage\", \"keep\", \"keep-after-fsck\" or \"any\"");
  }
  return {};
}

/// Returns a copy of the cell for each application. If `applications` is empty, returns only the
/// cell itself.
std::vector<ExploredCell> with_each(const std::vector<workload::Application>& applications,
                                    const ExploredCell& cell) {
  if (applications.empty()) return {cell};
  std::vector<ExploredCell> cells(applications.size(), cell);
  for (std::size_t i = 0; i < cells.size(); ++i) set_application(applications[i], cells[i]);
  return cells;
}

/// Adds to the cell's guest everything that the application requires. If the application is
/// expected to lose data, makes the cell a control.
void settle_application(ExploredCell& cell) {
  if (!cell.application) return;
  cell.application->add_to(cell.filesystem.guest);
  if (cell.application->expected == adapters::Expectation::loss &&
      cell.control.value_or(Control::keep) == Control::keep)
    cell.control = Control::lose;
}

/// Parses a control. If it lists several applications, returns one control for each.
Result<std::vector<ExploredCell>> read_control(const StrictTable& root, const StrictTable& table,
                                               const ExplorationDefaults& defaults) {
  TRY(table.only({"filesystem", "must", "write-cache", "prefill", "device", "faults",
                  "faults-after-cut", "kernels", "only-kernels", "strategies", "workload",
                  "operations", "application", "trials", "budget", "states", "rounds"}));
  ExploredCell cell = defaults.cell;
  TRY(read_control_role(root, table, defaults.size_bytes, cell));
  TRY(auto applications, parse_applications(table));
  if (table.has("workload") || table.has("operations")) {
    cell.operations.clear();
    cell.application.reset();
  } else if (applications.empty()) {
    applications = defaults.applications;
  }
  if (!applications.empty()) set_application(applications.front(), cell);
  if (table.has("operations")) cell.workload = "operations";
  for (const auto& read :
       {parse_write_cache(table, cell.write_through), parse_prefill(table, cell.prefill),
        parse_machine(table, defaults.devices, cell), parse_strategies(table, cell.strategies),
        table.take("workload", cell.workload), table.take("operations", cell.operations),
        parse_trials(table, cell.trials), parse_budget(table, cell),
        table.take("rounds", cell.rounds, {.least = 4, .most = 100'000})}) {
    TRY(read);
  }
  cell.own_strategies = cell.strategies != defaults.cell.strategies;
  apply_own_workload(defaults.workloads, cell);
  TRY(check_workload(table, "workload", cell));
  TRY(check_machine({table.subject("device"), table.subject("strategies")}, cell,
                    defaults.size_bytes));
  return with_each(applications, cell);
}

/// Checks that the operations are valid and contain a persistence point.
Result<void> check_operations(const std::string& subject, const std::string& text) {
  TRY(const auto list, workload::parse_operations(text, subject));
  TRY(explorer::check_list(text, subject, {}));
  if (std::ranges::none_of(list, workload::is_persistence_point)) {
    return fail(subject, "has no persistence point, so no loss could be detected",
                "add fsync, fdatasync, fsyncdir or sync");
  }
  return {};
}

Result<KnownFailure> read_known_failure(const StrictTable& table) {
  TRY(table.only({"finding", "filesystems", "kernels", "rule", "verdicts"}));
  KnownFailure known;
  for (const auto& read :
       {table.take("finding", known.finding), table.take("filesystems", known.filesystems),
        table.take("kernels", known.kernels), table.take("rule", known.rule),
        table.take("verdicts", known.verdicts)}) {
    TRY(read);
  }
  if (known.finding.empty())
    return fail(table.subject("finding"), "is missing",
                "name the finding that describes the cause");
  if (known.filesystems.empty())
    return fail(table.subject("filesystems"), "is missing",
                "list the file systems that the finding affects");
  const std::vector<std::string> rules(explorer::kRuleNames.begin(), explorer::kRuleNames.end());
  if (std::ranges::find(rules, known.rule) == rules.end())
    return fail(table.subject("rule"), fmt::format("\"{}\" is not a rule of stacks", known.rule),
                base::suggest(known.rule, rules));
  for (const std::string& verdict : known.verdicts)
    if (oracle::name(oracle::verdict_named(verdict)) != verdict)
      return fail(table.subject("verdicts"), fmt::format("unknown verdict \"{}\"", verdict),
                  "use a verdict such as \"lost-synced-data\" or \"stale-data\"");
  return known;
}

/// Parses the tables `known`, and adds each entry to the cells to which it applies.
Result<void> apply_known_failures(const StrictTable& root, Exploration& exploration) {
  TRY(const auto tables, root.tables("known"));
  for (const StrictTable& table : tables) {
    TRY(const auto known, read_known_failure(table));
    for (const std::string& name : known.filesystems) {
      bool there = false;
      for (ExploredCell& cell : exploration.cells) {
        if (adapters::name_without_kernel(cell.filesystem.name) != name) continue;
        there = true;
        if (known.kernels.empty() || has_kernel(known.kernels, kernel_of(cell.filesystem)))
          cell.known.push_back(known);
      }
      if (!there)
        return fail(table.subject("filesystems"),
                    fmt::format("the campaign has no file system \"{}\"", name),
                    "use the name of a cell, without a kernel");
    }
  }
  return {};
}

/// Adds the controls whose disks ignore flushes (Exploration::lying_flush_states).
void add_lying_flush(const std::string& workload, const OwnWorkloads& own,
                     Exploration& exploration) {
  if (exploration.lying_flush_states == 0) return;
  const std::vector<std::string> lying{std::string(states::name(states::Strategy::lying_flush))};
  std::set<std::string> seen;
  for (const ExploredCell& cell : exploration.cells)
    if (cell.strategies == lying) seen.insert(adapters::name_without_kernel(cell.filesystem.name));
  std::vector<ExploredCell> added;
  for (const ExploredCell& cell : exploration.cells) {
    if (!cell.filesystem.stack || cell.control != Control::keep) continue;
    if (!seen.insert(adapters::name_without_kernel(cell.filesystem.name)).second) continue;
    ExploredCell control = cell;
    control.control = Control::lose;
    control.strategies = lying;
    control.own_strategies = true;
    control.states = exploration.lying_flush_states;
    if (!workload.empty()) {
      control.workload = workload;
      control.operations.clear();
      control.application.reset();
      apply_own_workload(own, control);
    }
    added.push_back(std::move(control));
  }
  std::ranges::move(added, std::back_inserter(exploration.cells));
}

Result<void> check_cells(const StrictTable& root, const Exploration& exploration) {
  std::set<std::string> seen;
  for (const ExploredCell& cell : exploration.cells) {
    const std::string called = fmt::format("{} {}", cell.filesystem.name, variant(cell));
    if (!seen.insert(called + cell.workload).second) {
      return fail(
          root.subject(cell.control ? "controls" : "filesystems"),
          fmt::format("\"{}\" with {} is listed twice", cell.filesystem.name, cell.workload),
          "remove one of them; do not list a control in `filesystems`, and give controls that "
          "differ only in their operations distinct `workload` names");
    }
  }
  return {};
}

/// Returns the number of workloads of the kind that the cell names. Returns 0 if the cell names a
/// single workload, or if workloads of this kind have no numbers.
std::uint64_t numbers_of(const ExploredCell& cell) {
  if (!cell.operations.empty() || cell.application) return 0;
  for (const workload::WorkloadSummary& known : workload::known_workloads())
    if (known.name == cell.workload) return known.count;
  return 0;
}

}  // namespace

std::string_view name(Control control) {
  static constexpr auto kNames =
      base::names<Control>({"lose", "damage", "keep", "keep-after-fsck"});
  return kNames[control];
}

std::string variant(const ExploredCell& cell) {
  std::vector<std::string> words;
  if (cell.write_through) words.emplace_back("write-through");
  if (!cell.prefill) words.emplace_back("new-disk");
  if (cell.machine.is_array()) words.push_back(cell.machine.name());
  words.insert(words.end(), cell.machine.faults.begin(), cell.machine.faults.end());
  for (const std::string& fault : cell.machine.faults_after_cut)
    words.push_back("after-cut:" + fault);
  if (cell.own_strategies)
    words.insert(words.end(), cell.strategies.begin(), cell.strategies.end());
  return fmt::format("{}", fmt::join(words, "+"));
}

std::string cell_name(const ExploredCell& cell) {
  const std::string differing = variant(cell);
  return cell.filesystem.name + (differing.empty() ? "" : "+") + differing;
}

Result<adapters::LinuxAdapter> load_filesystem(const StrictTable& root, const std::string& subject,
                                               const std::string& name, std::uint64_t size_bytes) {
  Result<adapters::LinuxAdapter> adapter = adapters::load_adapter(name);
  if (!adapter) {
    return fail(subject + ": " + adapter.error().subject, adapter.error().problem,
                adapter.error().hint);
  }
  if (adapter->minimum_size_bytes > size_bytes) {
    return fail(root.subject("device.size"),
                fmt::format("{} needs at least {} MiB", name, adapter->minimum_size_bytes >> 20),
                "increase the size of the device, or omit the file system");
  }
  return adapter;
}

Result<void> parse_trials(const StrictTable& table, std::optional<std::int64_t>& trials) {
  std::string word;
  if (table.has("trials") && table.take("trials", word)) {
    if (word != "all")
      return fail(table.subject("trials"), fmt::format("\"{}\" is not a number", word),
                  "use a number or \"all\"");
    trials.reset();
    return {};
  }
  std::int64_t count = trials.value_or(0);
  TRY(table.take("trials", count, {.least = 1, .most = kTrialsMost}));
  if (table.has("trials")) trials = count;
  return {};
}

Result<void> parse_write_cache(const StrictTable& table, bool& write_through) {
  std::string word;
  if (const auto taken = table.take("write-cache", word); !taken || word.empty()) return taken;
  if (word != "write back" && word != "write through") {
    return fail(table.subject("write-cache"), fmt::format("unknown kind of cache \"{}\"", word),
                "use \"write back\" or \"write through\"");
  }
  write_through = word == "write through";
  return {};
}

Result<void> parse_prefill(const StrictTable& table, bool& prefill) {
  std::string word;
  if (const auto taken = table.take("prefill", word); !taken || word.empty()) return taken;
  if (word != "pattern" && word != "none") {
    return fail(table.subject("prefill"), fmt::format("unknown prefill \"{}\"", word),
                "use \"pattern\" or \"none\"");
  }
  prefill = word == "pattern";
  return {};
}

Result<void> parse_faults(const StrictTable& table, explorer::StageMachine& machine) {
  for (const auto& read : {table.take("faults", machine.faults),
                           table.take("faults-after-cut", machine.faults_after_cut)}) {
    if (!read) return read;
  }
  return {};
}

Result<OwnWorkloads> read_own_workloads(const StrictTable& root) {
  OwnWorkloads own;
  TRY(const auto table, root.table("workloads"));
  if (!table) return own;
  for (const std::string& name : table->keys()) {
    const std::string subject = table->subject(name);
    if (std::ranges::any_of(workload::known_workloads(),
                            [&](const auto& known) { return known.name == name; }))
      return fail(subject, "is already the name of a built-in workload", "choose another name");
    std::string& operations = own[name];
    TRY(table->take(name, operations));
    TRY(check_operations(subject, operations));
  }
  return own;
}

void apply_own_workload(const OwnWorkloads& own, ExploredCell& cell) {
  if (!cell.operations.empty() || cell.application) return;
  if (const auto found = own.find(cell.workload); found != own.end())
    cell.operations = found->second;
}

Result<std::vector<workload::Application>> parse_applications(const StrictTable& table) {
  std::vector<workload::Application> applications;
  if (!table.has("application")) return applications;
  if (table.has("operations") || table.has("workload") || table.has("name")) {
    return fail(table.subject("application"), "cannot be combined with another workload",
                "omit one of them: an application is a workload");
  }
  std::vector<std::string> names(1);
  TRY(table.type("application") == StrictTable::Type::list
          ? table.take("application", names)
          : table.take("application", names.front()));
  for (const std::string& name : names) {
    auto loaded = workload::load_applications(name);
    if (!loaded) {
      const Error& error = loaded.error();
      return fail(table.subject("application") + ": " + error.subject, error.problem, error.hint);
    }
    std::ranges::move(*loaded, std::back_inserter(applications));
  }
  return applications;
}

void set_application(const workload::Application& application, ExploredCell& cell) {
  cell.operations.clear();
  cell.workload = application.name;
  cell.application = application;
}

Result<void> check_workload(const StrictTable& table, const std::string& key,
                            const ExploredCell& cell) {
  if (cell.application) {
    if (cell.trials) return {};
    return fail(
        table.subject("trials"),
        fmt::format("{} has no fixed number of workloads, so \"all\" is invalid", cell.workload),
        "use a number");
  }
  if (!cell.operations.empty())
    return check_operations(table.subject("operations"), cell.operations);
  const auto list = workload::make_workload(
      {.name = cell.workload, .rounds = static_cast<std::uint32_t>(cell.rounds)});
  if (!list) return fail(table.subject(key), list.error().message());
  if (workload::is_list_file(cell.workload)) {
    TRY(const auto text, base::read_text_file(cell.workload));
    TRY(explorer::check_list(text, cell.workload, {}));
  }
  const std::uint64_t numbers = numbers_of(cell);
  if (!cell.trials && numbers == 0) {
    return fail(
        table.subject("trials"),
        fmt::format("{} has no fixed number of workloads, so \"all\" is invalid", cell.workload),
        "use a number; \"all\" is for numbered workloads such as ace-seq1");
  }
  if (cell.trials && numbers != 0 && static_cast<std::uint64_t>(*cell.trials) > numbers) {
    return fail(table.subject("trials"),
                fmt::format("{} has only {} workloads", cell.workload, numbers),
                "use a smaller number, or \"all\"");
  }
  return {};
}

CellWorkloads workloads_of(const ExploredCell& cell, std::uint64_t seed) {
  if (const std::uint64_t numbers = numbers_of(cell); numbers != 0) {
    const auto wanted = cell.trials ? static_cast<std::uint64_t>(*cell.trials) : numbers;
    CellWorkloads all{.count = wanted, .numbered = true, .sample = {}};
    if (wanted < numbers) all.sample = workload::sample_numbers(numbers, wanted, seed);
    return all;
  }
  // A list of operations and a name with a number each stand for a single workload. For other
  // names, a workload is generated from each trial's seed.
  const bool fixed = !cell.operations.empty() || cell.workload.find('/') != std::string::npos;
  return {.count = fixed ? 1 : static_cast<std::uint64_t>(cell.trials.value_or(1)), .sample = {}};
}

Result<Exploration> read_exploration(const StrictTable& root, const ExplorationDefaults& defaults,
                                     const std::vector<adapters::LinuxAdapter>& filesystems) {
  Exploration exploration;
  ExplorationDefaults own = defaults;
  std::string lying_flush_workload;
  own.cell.strategies = {"prefix", "reorder", "lose-all"};
  if (!own.devices.empty()) own.cell.strategies = {"member", "physical"};
  TRY(const auto table, root.table("explore"));
  if (!table) return fail(root.subject("explore"), "is missing", "use [explore]");
  TRY(table->only({"strategies", "budget", "states", "reorder-per-cut", "atomic-write",
                   "in-guest-share", "confirm", "minimise-operations", "keep", "answer-delay-us",
                   "slow", "slow-us", "lying-flush-states", "lying-flush-workload"}));
  for (const auto& read :
       {parse_strategies(*table, own.cell.strategies), parse_budget(*table, own.cell),
        table->take("reorder-per-cut", exploration.reorder_per_cut,
                    {.least = 0, .most = 1'000'000}),
        parse_atomic_write(*table, exploration.atomic_write_bytes),
        table->take("answer-delay-us", exploration.answer_delay_us,
                    {.least = 0, .most = 1'000'000}),
        table->take("slow", exploration.slow),
        table->take("slow-us", exploration.slow_us, {.least = 1, .most = 1'000'000}),
        table->take("in-guest-share", exploration.in_guest_share),
        table->take("confirm", exploration.confirm, {.least = 1, .most = 1'000'000}),
        table->take("minimise-operations", exploration.minimise_operations),
        table->take("keep", exploration.keep),
        table->take("lying-flush-workload", lying_flush_workload),
        table->take("lying-flush-states", exploration.lying_flush_states,
                    {.least = 1, .most = 1'000'000})}) {
    TRY(read);
  }
  if (!exploration.slow.empty() && !own.devices.empty())
    return fail(table->subject("slow"), "requires a plain disk", "omit `profiles` under [device]");
  if (exploration.in_guest_share < 0 || exploration.in_guest_share > 1)
    return fail(table->subject("in-guest-share"), "must be a number from 0 to 1",
                "use in-guest-share = 0.05");
  TRY(const auto controls, root.tables("controls"));
  for (const StrictTable& control : controls) {
    TRY(const auto cells, read_control(root, control, own));
    for (const ExploredCell& cell : cells) {
      TRY(add_under_kernels(root, control, cell, exploration.cells));
    }
  }
  const std::vector<std::string> devices =
      own.devices.empty() ? std::vector<std::string>{""} : own.devices;
  const CellKeys keys{root.subject("device.profiles"), root.subject("explore.strategies")};
  for (const std::string& device : devices) {
    for (const adapters::LinuxAdapter& filesystem : filesystems) {
      ExploredCell cell = own.cell;
      cell.filesystem = filesystem;
      cell.machine.profile = device;
      if (filesystem.expected == adapters::Expectation::loss) cell.control = Control::lose;
      TRY(check_machine(keys, cell, own.size_bytes));
      std::ranges::move(with_each(own.applications, cell), std::back_inserter(exploration.cells));
    }
  }
  std::ranges::for_each(exploration.cells, settle_application);
  TRY(apply_known_failures(root, exploration));
  add_lying_flush(lying_flush_workload, own.workloads, exploration);
  for (ExploredCell& cell : exploration.cells) {
    if (!cell.states) continue;
    const auto workloads = static_cast<std::int64_t>(workloads_of(cell, 0).count);
    cell.budget = (*cell.states + workloads - 1) / workloads;
  }
  std::ranges::stable_sort(exploration.cells, {},
                           [](const ExploredCell& cell) { return !cell.control; });
  TRY(check_cells(root, exploration));
  return exploration;
}

}  // namespace headcrash::campaign
