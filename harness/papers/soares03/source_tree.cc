// Measures the extraction and removal of a source tree on the paper's machine. The paper has no
// such load.
#include "harness/papers/soares03/measures.h"
#include "harness/papers/soares03/soares03.h"

namespace headcrash::experiment::soares03 {

std::vector<ClaimAnswer> source_tree(Context& context) {
  ClaimAnswer answer{.id = "MS-02",
                     .part = "source-tree",
                     .title = "A kernel's source tree is unpacked and removed (not in the paper)",
                     .kind = RuleClass::ours};
  const auto elapsed = [](const PhaseOutcome& phase) { return phase.longest_s; };
  std::vector<Figure> extracted;
  Named generations;
  for (const System system : kAllSystems) {
    const Cell& cell = context.cells.get(setup_of(system), "source-tree");
    for (const char* phase : {"extract", "remove"}) {
      add_number(answer, cell, cell.setup.name, phase, "s", {}, cell.of(phase, elapsed));
      add_number(answer, cell, cell.setup.name, fmt::format("{}, disk busy", phase), "s", {},
                 cell.of(phase, disk_of));
    }
    extracted.push_back(cell.of("extract", elapsed));
    if (system == System::snap) generations = generations_in({&cell}, "extract");
  }
  const Figure snap = part_of(extracted[3], extracted[2]),
               journal = part_of(extracted[1], extracted[0]);
  add_rule(answer, "KFS+snap takes at most 5 % longer than KFS", {{"ratio", snap}},
           [&] { return *snap <= 1.05; });
  require_action(answer, generations);
  add_rule(answer, "the journal costs at least as much as snapshots do",
           {{"journal", journal}, {"snapshots", snap}}, [&] { return *journal >= *snap; });
  require_action(answer, generations);
  answer.remarks.push_back(
      "linux-2.4.16: 11 131 files in 768 directories, 156 MB. The tree fits into 628 MiB, so no "
      "process waits for the disk until the first kupdate or the end of a generation. A separate "
      "row has the disk's work until it is idle.");
  return {answer};
}

}  // namespace headcrash::experiment::soares03
