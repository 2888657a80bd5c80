#pragma once
// A paper's claims and our results, as an experiment produces them, the database stores them and the
// report shows them. A claim consists of rows of numbers, and of rules in words that
// hold or do not hold.
//
// A row contains a number from the paper (absent if the paper has only a figure) and our number. A
// rule is a qualitative result that a reproduction on other hardware must show. If a scheme is not
// implemented, its cell is "not built". If a cell failed, its remark gives the reason. In both
// cases the cell has no number, and rules about it are undecided.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/names.h"

namespace headcrash::experiment {

/// A number that we measured or that a paper reports; nullopt if there is no number.
using Figure = std::optional<double>;

struct ClaimNumber {
  std::string cell;      ///< "conventional, initialization"
  std::string quantity;  ///< "elapsed"
  std::string unit;      ///< for example "s" or "%"; may be empty
  Figure paper, ours;
  std::string remark;  ///< the reason if there is no number: "not built", or the error message
  /// The lowest and the highest value over all executions or, in the experiment `compare`, the ends
  /// of the 95 % confidence interval of the mean.
  Figure low = {}, high = {};

  Figure ratio() const {
    if (!paper || !ours || *paper == 0) return std::nullopt;
    return *ours / *paper;
  }
};

/// undecided: a number is missing, or the executions disagree, so the result is within their
/// spread. vacuous: the mechanism that the rule is about never acted during the run.
enum class Verdict : std::uint8_t { holds, does_not_hold, undecided, vacuous };
inline constexpr auto kVerdictNames =
    base::names<Verdict>({"holds", "does not hold", "undecided", "vacuous"});
inline const char* name(Verdict verdict) {
  return kVerdictNames[verdict].data();
}
inline constexpr Verdict kVerdicts[] = {Verdict::holds, Verdict::does_not_hold, Verdict::undecided,
                                        Verdict::vacuous};

/// The evidence on which a rule is based. Only `paper` compares a run with a statement in the
/// paper.
enum class RuleClass : std::uint8_t {
  paper,
  ours,  ///< our own question, interpretation or threshold
  /// The result follows from numbers in the paper, from a formula or from the design of the system,
  /// and not from a run.
  arithmetic,
  calibrated,  ///< compares with a number that was used to calibrate one of our constants
};
inline constexpr auto kRuleClassNames =
    base::names<RuleClass>({"paper", "ours", "arithmetic", "calibrated"});
inline const char* name(RuleClass kind) {
  return kRuleClassNames[kind].data();
}
inline constexpr RuleClass kRuleClasses[] = {RuleClass::paper, RuleClass::ours,
                                             RuleClass::arithmetic, RuleClass::calibrated};

struct ClaimRule {
  std::string text;  ///< for example "Conventional > Flag > Chains > Soft Updates > No Order"
  Verdict verdict = Verdict::undecided;
  std::string detail;  ///< the numbers that decided the rule
  RuleClass kind = RuleClass::paper;
  /// Number of executions with different seeds that decided the rule; 0 if the rule does not depend
  /// on a seed.
  std::uint32_t executions = 1;
};

/// Prefix of the names of tables that the report draws as heat maps. Each row has a group, a name,
/// and values as multiples of the row's best value, such as "1.23". kUnbeaten marks a value that no
/// other value beats; "-" means that the value is missing.
inline constexpr const char* kHeatMap = "heat map";
inline constexpr const char* kUnbeaten = "*";

/// A table without the paper's numbers, for example a calculator's output. Columns of numbers are
/// right-aligned.
struct Table {
  std::string name;                            ///< for example "delays"; unique within the claim
  std::string title;                           ///< one line
  std::vector<std::string> columns;            ///< headings, with units
  std::vector<std::vector<std::string>> rows;  ///< each row has one cell per column
};

/// One line in a plot.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x and y, in drawing order
  /// True for the paper's points, which are drawn without lines.
  bool from_paper = false;
};
struct Plot {
  std::string name;   ///< for example "figure3"; unique within the claim
  std::string title;  ///< one line
  std::string x, y;   ///< axis labels, with units
  bool logarithmic_x = false;
  std::vector<Series> series;
};

struct ClaimAnswer {
  std::string id;     ///< "GP-15"
  std::string part;   ///< name by which a user selects the part, for example "table1"
  std::string title;  ///< description of the runs
  RuleClass kind = RuleClass::paper;  ///< class of its rules, unless a rule has its own class
  std::vector<ClaimNumber> numbers = {};
  std::vector<ClaimRule> rules = {};
  std::vector<std::string> remarks = {};  ///< describe inputs that we chose, and counterfactuals
  std::vector<Table> tables = {};
  std::vector<Plot> plots = {};  ///< drawn only in the report
  /// If true, a terminal shows only the tables, which contain all numbers of the plots.
  bool tables_tell_all = false;
};

}  // namespace headcrash::experiment
