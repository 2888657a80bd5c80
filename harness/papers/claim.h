#pragma once
// A paper's claims and our results. A claim consists of rows of numbers, and of rules in words that
// hold or do not hold.
//
// A row contains a number from the paper (absent if the paper has only a figure) and our number. A
// rule is a qualitative result that a reproduction on other hardware must show. If a scheme does
// not exist, its cell is "not built"; if a cell failed, the reason is given. Such a cell has no
// number, and rules about it are undecided.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/names.h"

namespace headcrash::experiment {

/// Our number; nullopt if we have none.
using Figure = std::optional<double>;

struct ClaimNumber {
  std::string cell;      ///< "conventional, initialization"
  std::string quantity;  ///< "elapsed"
  std::string unit;      ///< "s", "%", ""
  Figure paper, ours;
  std::string remark;  ///< the reason if there is no number: "not built", or the error
  /// Lowest and highest value over all executions; in `compare`, the 95 % interval of the mean.
  Figure low = {}, high = {};

  Figure ratio() const {
    if (!paper || !ours || *paper == 0) return std::nullopt;
    return *ours / *paper;
  }
};

/// undecided: a number is missing, or the executions disagree, so the result is within their
/// spread. vacuous: the mechanism that the rule is about never acted during the run.
enum class Verdict : std::uint8_t { holds, does_not_hold, undecided, vacuous };
inline const char* name(Verdict verdict) {
  static constexpr auto kNames =
      base::names<Verdict>({"holds", "does not hold", "undecided", "vacuous"});
  return kNames[verdict].data();
}
inline constexpr Verdict kVerdicts[] = {Verdict::holds, Verdict::does_not_hold, Verdict::undecided,
                                        Verdict::vacuous};

/// The kind of evidence that a rule gives. Only `paper` compares a run with a statement in the
/// paper.
enum class RuleClass : std::uint8_t {
  paper,
  ours,        ///< our own question, interpretation or threshold
  arithmetic,  ///< follows from printed numbers, a formula or the construction; no run decides it
  calibrated,  ///< the number against which one of our constants was calibrated
};
inline const char* name(RuleClass kind) {
  static constexpr auto kNames =
      base::names<RuleClass>({"paper", "ours", "arithmetic", "calibrated"});
  return kNames[kind].data();
}
inline constexpr RuleClass kRuleClasses[] = {RuleClass::paper, RuleClass::ours,
                                             RuleClass::arithmetic, RuleClass::calibrated};

struct ClaimRule {
  std::string text;  ///< "Conventional > Flag > Chains > Soft Updates > No Order"
  Verdict verdict = Verdict::undecided;
  std::string detail;  ///< the numbers that decided the rule
  RuleClass kind = RuleClass::paper;
  /// Number of executions with different seeds that decided the rule; 0 if the rule does not depend
  /// on a seed.
  std::uint32_t executions = 1;
};

/// A table that is not a comparison with the paper, for example a calculator's output. Columns of
/// numbers are right-aligned.
struct Table {
  std::string name;                            ///< "delays", unique in its claim
  std::string title;                           ///< one line
  std::vector<std::string> columns;            ///< headings, with units
  std::vector<std::vector<std::string>> rows;  ///< each row has as many cells as `columns`
};

/// One line in a plot.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x and y, in drawing order
  bool from_paper = false;                        ///< the paper's points, drawn without lines
};
struct Plot {
  std::string name;   ///< "figure3", unique in its claim
  std::string title;  ///< one line
  std::string x, y;   ///< axis labels, with units
  bool logarithmic_x = false;
  std::vector<Series> series;
};

struct ClaimAnswer {
  std::string id;     ///< "GP-15"
  std::string part;   ///< name of the part that a user selects, for example "table1"
  std::string title;  ///< description of the runs
  RuleClass kind = RuleClass::paper;  ///< the class of its rules, unless a rule sets another
  std::vector<ClaimNumber> numbers = {};
  std::vector<ClaimRule> rules = {};
  std::vector<std::string> remarks = {};  ///< inputs that we chose, and counterfactuals
  std::vector<Table> tables = {};
  std::vector<Plot> plots = {};  ///< drawn in the report
  /// The tables contain all numbers of the plots, so a terminal shows only the tables.
  bool tables_tell_all = false;
};

}  // namespace headcrash::experiment
