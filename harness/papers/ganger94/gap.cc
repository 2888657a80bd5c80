// Figures 1 to 6 and tables 1 to 3 in the reading with rotational gaps (Reading::gap).
#include <algorithm>
#include <string_view>

#include "harness/papers/ganger94/ganger94.h"

namespace headcrash::experiment::ganger94 {
namespace {

constexpr std::string_view kParts[] = {"figure1", "figure2", "chains", "figure3",
                                       "figure4", "figure5", "table1", "table2",
                                       "table3",  "figure6", "overall"};

/// Changes an answer of another part into one of this part.
void move_here(ClaimAnswer& answer) {
  answer.id += ", gap";
  answer.part = "gap";
  answer.title += "; ufs leaves rotational gaps";
  answer.remarks.clear();  // about counterfactual runs, which this part omits
  // Rules that do not depend on a run have been judged in the first reading.
  std::erase_if(answer.rules,
                [](const ClaimRule& rule) { return rule.kind == RuleClass::arithmetic; });
}

}  // namespace

std::vector<ClaimAnswer> rotational_gap(Context& context) {
  CellOptions options = context.cells.options();
  options.reading = static_cast<std::uint32_t>(Reading::gap);
  Cells cells(std::move(options));
  Context second{.cells = cells,
                 .seed = context.seed,
                 .scaled = context.scaled,
                 .interrupt_requested = context.interrupt_requested,
                 .rules_only = true};
  std::vector<ClaimAnswer> answers;
  for (const Part& part : paper().parts) {
    if (std::ranges::find(kParts, part.name) == std::end(kParts)) continue;
    if (context.interrupted()) break;
    cells.executions(part.executions);
    for (ClaimAnswer& answer : part.answer(second)) {
      move_here(answer);
      answers.push_back(std::move(answer));
    }
  }
  context.modelled_s += second.modelled_s;
  for (const auto& cell : cells.all())
    if (cell->outcome) context.modelled_s += cell->outcome->modelled_s;
  return answers;
}

}  // namespace headcrash::experiment::ganger94
