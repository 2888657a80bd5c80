#pragma once
// Helpers for claims: they add rows of numbers, and rules that compare numbers.

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "harness/papers/cells.h"

namespace headcrash::experiment {

/// A number that decides a rule, formatted as "LFS 153.8" or "LFS 153.8 files/s". Without a name:
/// "2.497 s", "9 of 11".
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

/// Adds a rule. Calls `holds` only if all values are available; otherwise the rule is undecided.
template <typename Holds>
void add_rule(ClaimAnswer& answer, std::string text, const std::vector<Named>& values,
              const Holds& holds) {
  ClaimRule rule{.text = std::move(text), .detail = text_of(values)};
  if (all_there(values)) rule.verdict = holds() ? Verdict::holds : Verdict::does_not_hold;
  answer.rules.push_back(std::move(rule));
}

/// Marks the last rule of the answer as our own question, not a claim of the paper.
inline void mark_ours(ClaimAnswer& answer) {
  answer.rules.back().ours = true;
}

/// Returns true if the two values differ by at most a factor of `times`.
inline bool within_times(double ours, double paper, double times) {
  return ours <= paper * times && ours * times >= paper;
}

/// Adds a rule that the values fall. A value may exceed its predecessor by at most the share
/// `slack`.
inline void add_falling(ClaimAnswer& answer, std::string text, const std::vector<Named>& values,
                        double slack = 0) {
  add_rule(answer, std::move(text), values, [&] {
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (*values[i].value > *values[i - 1].value * (1 + slack)) return false;
    }
    return true;
  });
}

/// Returns true if a percentage of No Order is close to the paper's: within 5 points, or within a
/// quarter of the paper's distance from 100.
inline bool close_percentage(double ours, double paper) {
  return std::abs(ours - paper) <= std::max(5.0, std::abs(paper - 100) / 4);
}

inline Figure part_of(const Figure& value, const Figure& whole, double times = 1) {
  if (!value || !whole || *whole == 0) return std::nullopt;
  return *value / *whole * times;
}

/// Adds a row for a number that belongs to no cell. If our number is missing, `remark` gives the
/// reason.
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
