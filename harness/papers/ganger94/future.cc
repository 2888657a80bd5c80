// Section 7: the comparison that the authors planned. Compares soft updates with a write-ahead log
// (with one commit per change, or one commit for many changes), and with synchronous writes into
// NVRAM.
#include <algorithm>

#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "harness/papers/ganger94/ganger94.h"
#include "harness/papers/judge.h"

namespace headcrash::experiment::ganger94 {
namespace {

double seconds_elapsed(const PhaseOutcome& phase) {
  return phase.elapsed_s;
}
double seconds_waited(const PhaseOutcome& phase) {
  return phase.user_wait_s / static_cast<double>(phase.users);
}

struct Candidate {
  std::string name;
  std::optional<UfsSetup> setup;  ///< nullopt if the scheme is not implemented
};

UfsSetup nvram_setup() {
  UfsSetup setup = usual(ComparedScheme::conventional);
  setup.name = "conventional (NVRAM)";
  setup.machine.profile = "hp-c2447-nvram";
  return setup;
}

/// Returns all variants of the file system that use a journal, with their names.
std::vector<Candidate> journals() {
  std::vector<Candidate> found;
  for (const ufs::SchemeVariant& scheme : ufs::scheme_variants()) {
    if (!scheme.name.starts_with("journal") || scheme.control) continue;
    // Skip Peacock's variants for a file server (harness/papers/peacock98).
    if (scheme.features.any() ||
        scheme.mount.options.journal.sharing != ufs::JournalOptions::Sharing::all)
      continue;
    found.push_back({scheme.name, UfsSetup{.name = scheme.name, .scheme = scheme}});
  }
  if (found.empty())
    found = {{"journal, each change committed", {}}, {"journal, delayed group commit", {}}};
  return found;
}

bool commits_each(const std::string& name) {
  return name.find("sync") != std::string::npos || name.find("each") != std::string::npos;
}

Named add_candidate(ClaimAnswer& answer, Cells& cells, const Candidate& candidate,
                    const char* workload, const char* phase) {
  if (!candidate.setup) {
    answer.numbers.push_back(
        {.cell = candidate.name, .quantity = phase, .unit = "s", .remark = Cell::kNotBuilt});
    return {candidate.name, {}};
  }
  const Cell& cell = cell_of(cells, *candidate.setup, workload, {{"users", 4}});
  const Figure elapsed = cell.of(phase, seconds_elapsed);
  add_number(answer, cell, candidate.name, phase, "s", {}, elapsed);
  add_number(answer, cell, candidate.name, fmt::format("{}, wait for the disk", phase), "s", {},
             cell.of(phase, seconds_waited));
  return {candidate.name, elapsed};
}

}  // namespace

std::vector<ClaimAnswer> future_work(Context& context) {
  Cells& cells = context.cells;
  ClaimAnswer answer{
      .id = "GP-34",
      .part = "future",
      .title = "Write-ahead log and NVRAM compared with Soft Updates, 4 users: elapsed time",
      .kind = RuleClass::ours};
  const std::vector<Candidate> logs = journals();
  const Candidate soft{"Soft Updates", usual(ComparedScheme::soft_updates)};
  const Candidate conventional{"Conventional", usual(ComparedScheme::conventional)};
  const Candidate nvram{"Conventional on NVRAM", nvram_setup()};
  for (const auto& [workload, phase] :
       {std::pair{"n-user-copy", "copy"}, std::pair{"n-user-remove", "remove"}}) {
    const Named with_soft = add_candidate(answer, cells, soft, workload, phase);
    const Named with_sync = add_candidate(answer, cells, conventional, workload, phase);
    const Named with_nvram = add_candidate(answer, cells, nvram, workload, phase);
    add_rule(
        answer,
        fmt::format("{}: with NVRAM, Conventional is closer to Soft Updates than to Conventional "
                    "without NVRAM",
                    phase),
        {with_nvram, with_soft, with_sync}, [&] {
          return std::abs(*with_nvram.value - *with_soft.value) <
                 std::abs(*with_sync.value - *with_nvram.value);
        });
    for (const Candidate& log : logs) {
      const Named with_log = add_candidate(answer, cells, log, workload, phase);
      const std::vector<Named> both{with_log, with_soft};
      const bool removes = std::string_view(phase) == "remove";
      if (!commits_each(log.name))
        add_rule(answer,
                 fmt::format("{}: {} is within 10 % of Soft Updates, or faster", phase, log.name),
                 both, [&] { return *both[0].value <= 1.1 * *both[1].value; });
      else if (removes)
        add_rule(
            answer,
            fmt::format("{}: {} takes more than twice as long as Soft Updates", phase, log.name),
            both, [&] { return *both[0].value > 2 * *both[1].value; });
    }
  }
  answer.remarks.push_back(
      "The paper has no numbers, only these statements: a log \"must use delayed group commit to "
      "achieve the same performance levels\", and NVRAM gives \"slight performance improvements "
      "as compared to soft updates\".");
  answer.remarks.push_back(
      "With a journal, the user who removes a file also releases its blocks, and waits for the "
      "indirect blocks. With soft updates, a work item of the syncer releases them. "
      "journal-late-removal also leaves the release to the syncer; this accounts for the "
      "journal's loss in removals.");
  return {answer};
}

}  // namespace headcrash::experiment::ganger94
