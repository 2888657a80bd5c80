// Implements the part `simulator`: answers the claims of chapter 5, figure by figure.
#include <fmt/format.h>

#include "harness/papers/rosenblum92/simulator_figures.h"

namespace headcrash::experiment::rosenblum92 {

std::vector<ClaimAnswer> simulator(Context& context) {
  SimulatorFigures figures(context);
  std::vector<ClaimAnswer> answers;
  for (const auto& claims : {greedy_claims, cost_benefit_claims, parameter_claims}) {
    if (context.interrupted()) break;
    for (ClaimAnswer& answer : claims(figures)) answers.push_back(std::move(answer));
  }
  if (!answers.empty())
    answers.front().remarks.push_back(
        fmt::format("all figures: {:.0f} million files written",
                    static_cast<double>(figures.runs().files_written()) * 1e-6));
  return answers;
}

}  // namespace headcrash::experiment::rosenblum92
