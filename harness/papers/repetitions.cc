// Compares the executions of an experiment with different seeds (repetitions.h).
#include "harness/papers/repetitions.h"

#include <fmt/format.h>

#include <algorithm>

namespace headcrash::experiment {
namespace {

/// Returns the element of `all` for which `matches` returns true, or null if there is no such
/// element.
template <typename Element, typename Matches>
const Element* find_in(const std::vector<Element>& all, const Matches& matches) {
  const auto found = std::ranges::find_if(all, matches);
  return found == all.end() ? nullptr : &*found;
}

/// Returns the answers to the same claim in the other executions. Executions without this claim are
/// skipped.
std::vector<const ClaimAnswer*> same_claims(const ClaimAnswer& answer,
                                            const std::vector<std::vector<ClaimAnswer>>& others) {
  std::vector<const ClaimAnswer*> found;
  for (const auto& other : others) {
    const ClaimAnswer* const same = find_in(other, [&](const ClaimAnswer& each) {
      return each.id == answer.id && each.title == answer.title;
    });
    if (same != nullptr) found.push_back(same);
  }
  return found;
}

void compare_rule(ClaimRule& rule, const std::vector<const ClaimAnswer*>& others) {
  std::uint32_t holds = 0, fails = 0;
  const auto count = [&](Verdict verdict) {
    holds += verdict == Verdict::holds ? 1 : 0;
    fails += verdict == Verdict::does_not_hold ? 1 : 0;
  };
  count(rule.verdict);
  if (holds + fails == 0) return;
  for (const ClaimAnswer* other : others) {
    const ClaimRule* const same =
        find_in(other->rules, [&](const ClaimRule& each) { return each.text == rule.text; });
    if (same != nullptr) count(same->verdict);
  }
  rule.executions = holds + fails;
  if (holds == 0 || fails == 0) return;
  rule.verdict = Verdict::undecided;
  rule.detail += fmt::format("; holds in {} of {} executions", holds, rule.executions);
}

void compare_number(ClaimNumber& number, const std::vector<const ClaimAnswer*>& others) {
  if (!number.ours || number.low) return;
  double low = *number.ours, high = *number.ours;
  bool repeated = false;
  for (const ClaimAnswer* other : others) {
    const ClaimNumber* const same = find_in(other->numbers, [&](const ClaimNumber& each) {
      return each.cell == number.cell && each.quantity == number.quantity &&
             each.unit == number.unit;
    });
    if (same == nullptr || !same->ours) continue;
    repeated = true;
    low = std::min(low, *same->ours);
    high = std::max(high, *same->ours);
  }
  if (repeated) number.low = low, number.high = high;
}

}  // namespace

void compare_executions(std::vector<ClaimAnswer>& answers,
                        const std::vector<std::vector<ClaimAnswer>>& others) {
  for (ClaimAnswer& answer : answers) {
    const auto same = same_claims(answer, others);
    for (ClaimRule& rule : answer.rules) compare_rule(rule, same);
    for (ClaimNumber& number : answer.numbers) compare_number(number, same);
  }
}

}  // namespace headcrash::experiment
