#pragma once
// Helpers that add rows of numbers to claims, and rules that compare numbers.

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "harness/papers/cells.h"

namespace headcrash::experiment {

/// A number that decides a rule. It is formatted as "LFS 153.8" or "LFS 153.8 files/s", or without
/// a name as "2.497 s" or "9 of 11".
struct Named {
  std::string name;
  Figure value;
  std::string unit = {};
};
inline Named in_unit(const Figure& value, std::string unit) {
  return {.name = {}, .value = value, .unit = std::move(unit)};
}

inline bool all_there(const std::vector<Named>& values) {
  for (const Named& each : values) {
    if (!each.value) return false;
  }
  return true;
}

inline std::string text_of(const Named& one) {
  std::string text = one.name + (one.name.empty() ? "" : " ");
  text += one.value ? fmt::format("{:.4g}", *one.value) : std::string("none");
  return one.value && !one.unit.empty() ? text + " " + one.unit : text;
}

inline std::string text_of(const std::vector<Named>& values) {
  std::string text;
  for (const Named& each : values) text += (text.empty() ? "" : ", ") + text_of(each);
  return text;
}

/// Adds a rule. If a value is missing, the rule is undecided and `holds` is not called.
template <typename Holds>
void add_rule(ClaimAnswer& answer, std::string text, const std::vector<Named>& values,
              const Holds& holds) {
  ClaimRule rule{
      .text = std::move(text), .detail = text_of(values), .kind = answer.kind, .executions = 1};
  if (all_there(values)) rule.verdict = holds() ? Verdict::holds : Verdict::does_not_hold;
  answer.rules.push_back(std::move(rule));
}

/// Sets the class of the last rule. Needed only if the rule's class differs from its claim's class.
inline void mark(ClaimAnswer& answer, RuleClass kind) {
  answer.rules.back().kind = kind;
}

/// Makes the last rule vacuous if a counter shows that the mechanism did not act during the run. A
/// rule that is undecided remains undecided.
inline void require_action(ClaimAnswer& answer, const Named& counter, double least = 1) {
  ClaimRule& rule = answer.rules.back();
  if (rule.verdict == Verdict::undecided || !counter.value || *counter.value >= least) return;
  rule.verdict = Verdict::vacuous;
  rule.detail += "; " + text_of(counter);
}

/// Adds a rule about a quantity whose relative error is at most `precision`. `holds` evaluates the
/// rule with the quantity multiplied by a given factor. The rule is undecided if the result differs
/// for a factor of 1 + precision or 1 - precision.
template <typename Holds>
void add_rule_within(ClaimAnswer& answer, std::string text, const std::vector<Named>& values,
                     double precision, const Holds& holds) {
  add_rule(answer, std::move(text), values, [&] { return holds(1.0); });
  ClaimRule& rule = answer.rules.back();
  if (rule.verdict == Verdict::undecided) return;
  const bool known = rule.verdict == Verdict::holds;
  if (holds(1 + precision) == known && holds(1 - precision) == known) return;
  rule.verdict = Verdict::undecided;
  rule.detail += fmt::format("; known within {:g} %", 100 * precision);
}

/// Returns true if the values differ by at most a factor of `times`.
inline bool within_times(double ours, double paper, double times) {
  return ours <= paper * times && ours * times >= paper;
}

/// Adds a rule that the values decrease. Each value may exceed its predecessor by at most the
/// fraction `slack`.
inline void add_falling(ClaimAnswer& answer, std::string text, const std::vector<Named>& values,
                        double slack = 0) {
  add_rule(answer, std::move(text), values, [&] {
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (*values[i].value > *values[i - 1].value * (1 + slack)) return false;
    }
    return true;
  });
}

/// Returns true if `ours`, a percentage of a baseline, is close to the paper's percentage. Both
/// must be on the same side of 100. They may differ by 5 points or by a quarter of the distance
/// from `paper` to 100, whichever is larger.
inline bool close_percentage(double ours, double paper) {
  return (ours - 100) * (paper - 100) > 0 &&
         std::abs(ours - paper) <= std::max(5.0, std::abs(paper - 100) / 4);
}

inline Figure part_of(const Figure& value, const Figure& whole, double times = 1) {
  if (!value || !whole || *whole == 0) return std::nullopt;
  return *value / *whole * times;
}

/// Adds a row with a number that was not measured by a cell. If `ours` is nullopt, `remark` gives
/// the reason.
inline void add_row(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
                    Figure paper, Figure ours, const std::string& remark = {}) {
  answer.numbers.push_back({.cell = std::move(cell),
                            .quantity = std::move(quantity),
                            .unit = std::move(unit),
                            .paper = paper,
                            .ours = ours,
                            .remark = ours ? "" : remark});
}

inline void add_number(ClaimAnswer& answer, const Cell& cell, std::string label,
                       std::string quantity, std::string unit, Figure paper, Figure ours) {
  answer.numbers.push_back({.cell = std::move(label),
                            .quantity = std::move(quantity),
                            .unit = std::move(unit),
                            .paper = paper,
                            .ours = ours,
                            .remark = cell.remark});
}

}  // namespace headcrash::experiment
