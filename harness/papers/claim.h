#pragma once
// A paper's claims and our results. A claim consists of rows of numbers, and of rules in words that
// hold or do not hold.
//
// A row contains a number of the paper (absent if the paper has only a figure) and our number. A
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

/// Our number; nullopt if absent.
using Figure = std::optional<double>;

struct ClaimNumber {
  std::string cell;      ///< "conventional, initialization"
  std::string quantity;  ///< "elapsed"
  std::string unit;      ///< "s", "%", ""
  Figure paper, ours;
  std::string remark;          ///< reason if there is no number: "not built", or the error
  Figure low = {}, high = {};  ///< 95 % interval of the mean over seeds

  Figure ratio() const {
    if (!paper || !ours || *paper == 0) return std::nullopt;
    return *ours / *paper;
  }
};

enum class Verdict : std::uint8_t { holds, does_not_hold, undecided };
inline const char* name(Verdict verdict) {
  static constexpr auto kNames = base::names<Verdict>({"holds", "does not hold", "undecided"});
  return kNames[verdict].data();
}

enum class RuleOf : std::uint8_t { anybody, ours };
struct ClaimRule {
  std::string text;  ///< "Conventional > Flag > Chains > Soft Updates > No Order"
  Verdict verdict = Verdict::undecided;
  std::string detail;  ///< the numbers that decided the rule
  bool ours = false;   ///< our own question, not a claim of the paper

  std::string full_text() const { return (ours ? "(ours) " : "") + text; }
};

/// A table that is not a comparison with the paper, for example of a calculator. Columns of numbers
/// are right-aligned.
struct Table {
  std::string name;                            ///< "delays", unique in its claim
  std::string title;                           ///< one line
  std::vector<std::string> columns;            ///< headings, with units
  std::vector<std::vector<std::string>> rows;  ///< each row has as many cells as `columns`
};

/// One line of a plot.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x and y, in drawing order
  bool from_paper = false;                        ///< points of the paper, drawn without lines
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
  std::vector<ClaimNumber> numbers;
  std::vector<ClaimRule> rules;
  std::vector<std::string> remarks;  ///< inputs that we chose, and counterfactuals
  std::vector<Table> tables = {};
  std::vector<Plot> plots = {};  ///< drawn in the report
  /// The tables contain all numbers of the plots, so a terminal shows only the tables.
  bool tables_tell_all = false;
};

}  // namespace headcrash::experiment
