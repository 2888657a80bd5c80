// Figures 1 to 4 and sections 3.1 to 3.3: meanings of the ordering flag, reads that bypass writes,
// copied blocks, and chains. The paper does not give the values in its figures.
#include <algorithm>

#include "harness/papers/ganger94/ganger94.h"
#include "harness/papers/judge.h"

namespace headcrash::experiment::ganger94 {
namespace {

using os::FlagMeaning;

double elapsed_of(const PhaseOutcome& phase) {
  return phase.elapsed_s;
}
double access_of(const PhaseOutcome& phase) {
  return phase.access_ms;
}
double response_of(const PhaseOutcome& phase) {
  return phase.response_ms;
}
double cpu_of(const PhaseOutcome& phase) {
  return phase.user_cpu_s;
}

double quiet_of(const PhaseOutcome& phase) {
  return phase.quiescent_s;
}

constexpr std::pair<FlagMeaning, const char*> kMeanings[] = {
    {FlagMeaning::full, "Full"}, {FlagMeaning::back, "Back"}, {FlagMeaning::part, "Part"}};

struct Bar {
  std::string name;
  const Cell* cell = nullptr;
};

/// Returns the bars for Full, Full-NR, Back, Back-NR, Part, Part-NR and Ignore, all with -CB.
std::vector<Bar> meanings(Cells& cells, const std::string& workload,
                          const timed::Arguments& arguments) {
  std::vector<Bar> bars;
  for (const auto& [meaning, name] : kMeanings) {
    for (const bool bypass : {false, true})
      bars.push_back({std::string(name) + (bypass ? "-NR" : ""),
                      &cell_of(cells, flag_setup(meaning, bypass, true), workload, arguments)});
  }
  bars.push_back({"Ignore", &cell_of(cells, flag_setup(FlagMeaning::ignore, false, true), workload,
                                     arguments)});
  return bars;
}

/// Adds the same bars for other machines, each of which differs from the paper's machine in one
/// respect, to show possible causes of a deviation from the paper. Each bar is the result of one
/// execution.
void add_meanings_elsewhere(ClaimAnswer& answer, Cells& cells, const char* name, const char* title,
                            const std::string& workload, const timed::Arguments& arguments,
                            const char* phase, double (*quantity)(const PhaseOutcome&),
                            const char* format) {
  const struct {
    const char* name;
    void (*change)(UfsSetup&);
  } kMachines[] = {{"data also delayed", [](UfsSetup& s) { s.write_behind_bytes = 0; }},
                   {"cache of 12 MiB", [](UfsSetup& s) { s.machine.cache_bytes = 12 << 20; }},
                   {"copies in 30 MiB", [](UfsSetup& s) { s.machine.copies_bytes = 30 << 20; }}};
  experiment::Table table{.name = name, .title = title, .columns = {"machine"}, .rows = {}};
  for (const auto& machine : kMachines) {
    std::vector<std::string> row{machine.name};
    const auto add = [&](FlagMeaning meaning, bool bypass) {
      UfsSetup setup = flag_setup(meaning, bypass, true);
      machine.change(setup);
      setup.name += fmt::format(" ({})", machine.name);
      const Figure value = cells.get(setup.setup(), workload, arguments, 1).of(phase, quantity);
      row.push_back(value ? fmt::format(fmt::runtime(format), *value) : "-");
    };
    for (const auto& [meaning, _] : kMeanings) add(meaning, false);
    for (const auto& [meaning, _] : kMeanings) add(meaning, true);
    add(FlagMeaning::ignore, false);
    table.rows.push_back(std::move(row));
  }
  for (const char* column : {"Full", "Back", "Part", "Full-NR", "Back-NR", "Part-NR", "Ignore"})
    table.columns.emplace_back(column);
  answer.tables.push_back(std::move(table));
}

/// The workload in section 3.3 without file data, so that only names and inodes change.
const timed::Arguments kNamesOnly{{"users", 4}, {"files", 2000}};

std::vector<Bar> enhancements(Cells& cells, const std::string& workload,
                              const timed::Arguments& arguments = {{"users", 4}}) {
  std::vector<Bar> bars;
  const std::pair<bool, bool> kinds[] = {
      {false, false}, {true, false}, {false, true}, {true, true}};
  const char* names[] = {"Part", "Part-NR", "Part-CB", "Part-NR/CB"};
  bars.reserve(4);
  for (std::size_t i = 0; i < 4; ++i)
    bars.push_back(
        {names[i], &cell_of(cells, flag_setup(FlagMeaning::part, kinds[i].first, kinds[i].second),
                            workload, arguments)});
  return bars;
}

std::vector<Named> column(const std::vector<Bar>& bars, const char* phase,
                          double (*quantity)(const PhaseOutcome&),
                          std::initializer_list<const char*> names) {
  std::vector<Named> values;
  for (const char* name : names) {
    for (const Bar& bar : bars) {
      if (bar.name == name) values.push_back({name, bar.cell->of(phase, quantity)});
    }
  }
  return values;
}

void add_bars(ClaimAnswer& answer, const std::vector<Bar>& bars, const char* phase,
              const char* quantity, const char* unit, double (*value)(const PhaseOutcome&)) {
  for (const Bar& bar : bars)
    add_number(answer, *bar.cell, bar.name, quantity, unit, {}, bar.cell->of(phase, value));
}

double saved(const std::vector<Named>& values, std::size_t by) {
  return *values[0].value - *values[by].value;
}

/// Adds the rule that -NR alone and -CB alone each achieve less than half of the gain of both
/// together. `values` contains the bars in the order plain, -NR, -CB, both.
void add_only_both(ClaimAnswer& answer, const std::vector<Named>& values) {
  add_rule(answer,
           "-NR and -CB together are the fastest, and either option alone saves less than half "
           "of that",
           values, [&] {
             const double both = saved(values, 3);
             return both > 0 && saved(values, 1) < both / 2 && saved(values, 2) < both / 2;
           });
}

constexpr std::initializer_list<const char*> kWithBypass = {"Part-NR", "Back-NR", "Full-NR"};

/// Adds the rule that a weaker order is faster. The times must differ by at least 1 %, because
/// equal times prove nothing.
void add_stricter_is_faster(ClaimAnswer& answer, const char* when,
                            const std::vector<Named>& values) {
  add_rule(answer,
           fmt::format("{}: with -NR, the stricter meaning is faster: Part-NR > Back-NR > Full-NR",
                       when),
           values, [&] {
             return *values[0].value >= *values[1].value && *values[1].value >= *values[2].value &&
                    *values[0].value > 1.01 * *values[2].value;
           });
}

}  // namespace

std::vector<ClaimAnswer> figure_1(Context& context) {
  Cells& cells = context.cells;
  const auto bars = meanings(cells, "n-user-copy", {{"users", 4}});
  ClaimAnswer elapsed{
      .id = "GP-01", .part = "figure1", .title = "4-user copy by the flag's meaning: elapsed time"};
  add_bars(elapsed, bars, "copy", "elapsed", "s", elapsed_of);
  add_falling(elapsed, "Full > Back > Part > Ignore",
              column(bars, "copy", elapsed_of, {"Full", "Back", "Part", "Ignore"}));
  for (const auto& [meaning, name] : kMeanings) {
    const std::string with = std::string(name) + "-NR";
    add_falling(elapsed, with + " is at most " + name,
                column(bars, "copy", elapsed_of, {name, with.c_str()}), 0.005);
  }
  // In the paper, this trend has no exception for -NR, so the rule is also checked for the variants
  // with -NR.
  add_falling(elapsed, "also with -NR: Full-NR > Back-NR > Part-NR > Ignore",
              column(bars, "copy", elapsed_of, {"Full-NR", "Back-NR", "Part-NR", "Ignore"}));
  elapsed.remarks.push_back(
      "In this figure, the paper's trend has no exception: a less restrictive meaning is faster. "
      "If our result is reversed with -NR, the cause is the same as in figure 2: the stricter "
      "meaning permits fewer writes, so reads that pass them meet fewer writes.");
  if (!context.rules_only)
    add_meanings_elsewhere(elapsed, cells, "machines",
                           "Counterfactual: elapsed time (s), one execution", "n-user-copy",
                           {{"users", 4}}, "copy", elapsed_of, "{:.1f}");
  ClaimAnswer access{
      .id = "GP-02", .part = "figure1", .title = "4-user copy by the flag's meaning: disk access"};
  add_bars(access, bars, "copy", "access", "ms", access_of);
  add_falling(access, "access times fall: Full > Back > Part > Ignore",
              column(bars, "copy", access_of, {"Full", "Back", "Part", "Ignore"}));
  add_falling(access, "also with -NR: Full-NR > Back-NR > Part-NR > Ignore",
              column(bars, "copy", access_of, {"Full-NR", "Back-NR", "Part-NR", "Ignore"}));
  if (!context.rules_only)
    add_meanings_elsewhere(access, cells, "machines",
                           "Counterfactual: disk access (ms), one execution", "n-user-copy",
                           {{"users", 4}}, "copy", access_of, "{:.2f}");
  return {elapsed, access};
}

std::vector<ClaimAnswer> figure_2(Context& context) {
  Cells& cells = context.cells;
  const auto bars = meanings(cells, "n-user-remove", {{"users", 1}});
  ClaimAnswer elapsed{.id = "GP-03",
                      .part = "figure2",
                      .title = "1-user remove by the flag's meaning: elapsed time"};
  add_bars(elapsed, bars, "remove", "elapsed", "s", elapsed_of);
  add_stricter_is_faster(elapsed, "as freshly copied",
                         column(bars, "remove", elapsed_of, kWithBypass));
  // Repeat the removal with an empty cache, so that it must read the tree from the disk.
  const auto cold = meanings(cells, "n-user-remove", {{"users", 1}, {"cold", 1}});
  for (const Bar& bar : cold)
    add_number(elapsed, *bar.cell, bar.name + ", caches dropped", "elapsed", "s", {},
               bar.cell->of("remove", elapsed_of));
  add_stricter_is_faster(elapsed, "caches dropped",
                         column(cold, "remove", elapsed_of, kWithBypass));
  elapsed.remarks.push_back(
      "All writes of a removal are flagged. The three meanings differ only if there are also "
      "unflagged writes, such as data of the preceding copy that is still unwritten when the "
      "removal begins. With dropped caches all data has been written, and the three meanings are "
      "equal.");
  if (!context.rules_only)
    add_meanings_elsewhere(elapsed, cells, "machines",
                           "Counterfactual: as freshly copied, elapsed time (s), one execution",
                           "n-user-remove", {{"users", 1}}, "remove", elapsed_of, "{:.2f}");
  ClaimAnswer response{.id = "GP-04",
                       .part = "figure2",
                       .title = "1-user remove by the flag's meaning: driver response"};
  add_bars(response, bars, "remove", "response", "ms", response_of);
  const auto strict = column(bars, "remove", response_of, {"Full-NR", "Back-NR", "Part-NR"});
  add_rule(response, "5 s and more", strict, [&] {
    return std::all_of(strict.begin(), strict.end(),
                       [](const Named& each) { return *each.value >= 5000; });
  });
  response.remarks.push_back(
      "The mean response time depends on how many writes of a removal are in the queue (see "
      "the counterfactual of GP-21, memory for copies).");
  return {elapsed, response};
}

std::vector<ClaimAnswer> figure_3(Context& context) {
  Cells& cells = context.cells;
  const auto bars = enhancements(cells, "n-user-copy");
  ClaimAnswer elapsed{
      .id = "GP-06", .part = "figure3", .title = "4-user copy with Part: -NR and -CB"};
  add_bars(elapsed, bars, "copy", "elapsed", "s", elapsed_of);
  add_bars(elapsed, bars, "copy", "CPU", "s", cpu_of);
  add_only_both(elapsed,
                column(bars, "copy", elapsed_of, {"Part", "Part-NR", "Part-CB", "Part-NR/CB"}));
  const auto cpu = column(bars, "copy", cpu_of, {"Part", "Part-NR/CB"});
  add_rule(elapsed,
           "copying costs little: CPU time with both options is within 20 % of CPU time "
           "without them",
           cpu, [&] { return *cpu[1].value < 1.2 * *cpu[0].value; });
  mark(elapsed, RuleClass::calibrated);
  const auto names = enhancements(cells, "create-1k", kNamesOnly);
  for (const Bar& bar : names)
    add_number(elapsed, *bar.cell, bar.name + ", 2000 creations", "elapsed", "s", {},
               bar.cell->of("create", elapsed_of));
  elapsed.remarks.push_back(
      "Counterfactual: 2000 creations of 1 KB files instead of the copy, so that the disk is not "
      "always busy with data. Then only both options together save time. Our copy is limited by "
      "its data transfers, independent of waits for locks or reads.");
  ClaimAnswer response{
      .id = "GP-07", .part = "figure3", .title = "4-user copy with Part: driver response"};
  add_bars(response, bars, "copy", "response", "ms", response_of);
  const auto queues =
      column(bars, "copy", response_of, {"Part-NR/CB", "Part-NR", "Part-CB", "Part"});
  add_rule(response,
           "the queue is longest with both options: Part-NR/CB has the longest response time",
           queues, [&] {
             return std::all_of(queues.begin() + 1, queues.end(),
                                [&](const Named& each) { return *queues[0].value > *each.value; });
           });
  return {elapsed, response};
}

std::vector<ClaimAnswer> figure_4(Context& context) {
  Cells& cells = context.cells;
  const auto bars = enhancements(cells, "n-user-remove");
  const auto copy = enhancements(cells, "n-user-copy");
  ClaimAnswer answer{
      .id = "GP-08", .part = "figure4", .title = "4-user remove with Part: -NR and -CB"};
  add_bars(answer, bars, "remove", "elapsed", "s", elapsed_of);
  add_bars(answer, bars, "remove", "response", "ms", response_of);
  for (ClaimNumber& number : answer.numbers) {
    if (number.cell == "Part-NR/CB" && number.quantity == "response") number.paper = 20'000;
  }
  add_only_both(answer,
                column(bars, "remove", elapsed_of, {"Part", "Part-NR", "Part-CB", "Part-NR/CB"}));
  const auto queue = column(bars, "remove", response_of, {"Part-NR/CB"});
  add_rule(answer, "\"almost 20 seconds\": Part-NR/CB responds in 15 to 20 s", queue,
           [&] { return *queue[0].value >= 15'000 && *queue[0].value <= 20'000; });
  std::vector<Named> values = column(bars, "remove", elapsed_of, {"Part", "Part-NR/CB"});
  for (const Named& each : column(copy, "copy", elapsed_of, {"Part", "Part-NR/CB"}))
    values.push_back({each.name + " of the copy", each.value});
  add_rule(answer, "the differences are larger than in the copy", values, [&] {
    return *values[0].value / *values[1].value > *values[2].value / *values[3].value;
  });
  return {answer};
}

std::vector<ClaimAnswer> chains(Context& context) {
  Cells& cells = context.cells;
  using ufs::Deallocation;
  const timed::Arguments four{{"users", 4}};
  const Cell& tracked =
      cell_of(cells, chains_setup(Deallocation::tracked, true), "n-user-remove", four);
  const Cell& barrier =
      cell_of(cells, chains_setup(Deallocation::barrier, true), "n-user-remove", four);
  ClaimAnswer deallocation{
      .id = "GP-05",
      .part = "chains",
      .title = "4-user remove: tracking of freed blocks compared with a barrier"};
  const std::vector<Named> both{{"barrier", barrier.of("remove", elapsed_of)},
                                {"tracked", tracked.of("remove", elapsed_of)}};
  add_number(deallocation, barrier, "barrier", "elapsed", "s", {}, both[0].value);
  add_number(deallocation, tracked, "tracked", "elapsed", "s", {}, both[1].value);
  const Figure kept = part_of(both[1].value, both[0].value, 100);
  add_number(deallocation, tracked, "tracked compared with barrier", "saved", "%", 16,
             kept ? Figure(100 - *kept) : std::nullopt);
  add_falling(deallocation, "tracked is faster than barrier", both);
  // If the memory for copies is exhausted, the time depends on how fast the disk writes, so measure
  // this case, too.
  constexpr std::uint64_t kFewCopies = 4 << 20;
  for (const Deallocation kind : {Deallocation::barrier, Deallocation::tracked}) {
    if (context.rules_only) break;
    UfsSetup setup = chains_setup(kind, true);
    setup.name += " (copies in 4 MiB)";
    setup.machine.copies_bytes = kFewCopies;
    const Cell& cell = cell_of(cells, setup, "n-user-remove", four);
    add_number(
        deallocation, cell,
        kind == Deallocation::barrier ? "barrier, copies in 4 MiB" : "tracked, copies in 4 MiB",
        "elapsed", "s", {}, cell.of("remove", elapsed_of));
  }
  deallocation.remarks.push_back(
      "Counterfactual: with 4 MiB instead of 9.6 MiB for copies, users wait for the disk, and a "
      "barrier is slower because it leaves the disk no choice of the next write. With more "
      "memory for copies, users wait for their reads, which are served sooner if few writes are "
      "permitted. Figure 2 shows this effect for the flag.");
  const Cell& tracked_locks =
      cell_of(cells, chains_setup(Deallocation::tracked, false), "n-user-remove", four);
  const Cell& barrier_locks =
      cell_of(cells, chains_setup(Deallocation::barrier, false), "n-user-remove", four);
  for (const auto& [name, cell] : {std::pair{"barrier", &barrier}, std::pair{"tracked", &tracked}})
    add_number(deallocation, *cell, name, "until quiet", "s", {}, cell->of("remove", quiet_of));
  add_number(deallocation, barrier_locks, "barrier, without -CB", "elapsed", "s", {},
             barrier_locks.of("remove", elapsed_of));
  add_number(deallocation, tracked_locks, "tracked, without -CB", "elapsed", "s", {},
             tracked_locks.of("remove", elapsed_of));

  ClaimAnswer copying{
      .id = "GP-09", .part = "chains", .title = "Scheduler Chains with and without -CB"};
  const struct {
    const char *workload, *phase;
    double paper, least;
  } kKinds[] = {{"n-user-copy", "copy", 26, 20}, {"n-user-remove", "remove", 57, 50}};
  for (const auto& kind : kKinds) {
    const Cell& without =
        cell_of(cells, chains_setup(Deallocation::tracked, false), kind.workload, four);
    const Cell& with =
        cell_of(cells, chains_setup(Deallocation::tracked, true), kind.workload, four);
    const std::vector<Named> times{{"without -CB", without.of(kind.phase, elapsed_of)},
                                   {"with -CB", with.of(kind.phase, elapsed_of)}};
    add_number(copying, without, fmt::format("4-user {}, without -CB", kind.phase), "elapsed", "s",
               {}, times[0].value);
    add_number(copying, with, fmt::format("4-user {}, with -CB", kind.phase), "elapsed", "s", {},
               times[1].value);
    const Figure share = part_of(times[1].value, times[0].value, 100);
    const Figure gain = share ? Figure(100 - *share) : std::nullopt;
    add_number(copying, with, fmt::format("4-user {}", kind.phase), "saved by -CB", "%", kind.paper,
               gain);
    add_rule(copying, fmt::format("-CB saves at least {:g} % of the {}", kind.least, kind.phase),
             {{"saved", gain}}, [&] { return *gain >= kind.least; });
  }

  const Cell& slow =
      cell_of(cells, chains_setup(Deallocation::tracked, false), "create-1k", kNamesOnly);
  const Cell& fast =
      cell_of(cells, chains_setup(Deallocation::tracked, true), "create-1k", kNamesOnly);
  const Figure share = part_of(fast.of("create", elapsed_of), slow.of("create", elapsed_of), 100);
  add_number(copying, fast, "2000 creations", "saved by -CB", "%", {},
             share ? Figure(100 - *share) : std::nullopt);
  copying.remarks.push_back(
      "Counterfactual: 2000 creations of 1 KB files, which change only names and inodes. In the "
      "copy, the disk is busy with data even while users wait for locks, so locks cost less than "
      "in the paper.");

  ClaimAnswer bypass{.id = "GP-10", .part = "chains", .title = "Scheduler Chains with -NR"};
  const Cell& plain =
      cell_of(cells, chains_setup(Deallocation::tracked, true), "n-user-copy", four);
  const Cell& passing =
      cell_of(cells, chains_setup(Deallocation::tracked, true, true), "n-user-copy", four);
  const std::vector<Named> same{{"chains", plain.of("copy", elapsed_of)},
                                {"chains-NR", passing.of("copy", elapsed_of)}};
  add_number(bypass, plain, "chains", "elapsed", "s", {}, same[0].value);
  add_number(bypass, passing, "chains-NR", "elapsed", "s", {}, same[1].value);
  add_rule(bypass,
           "-NR has no effect: by construction, reads never depend on writes "
           "(fs-adapters/substrate/os/disk_order.cc)",
           same, [&] { return *same[0].value == *same[1].value; });
  mark(bypass, RuleClass::arithmetic);
  return {deallocation, copying, bypass};
}

}  // namespace headcrash::experiment::ganger94
