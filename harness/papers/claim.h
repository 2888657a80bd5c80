#pragma once
// What a paper claims, beside what came out here: rows of numbers, and rules in words that hold or
// do not.
//
// A row is one number of the paper (none where it only has a figure) and ours. A rule is the shape
// that a reproduction on other hardware must keep. What needs a scheme that does not exist is "not
// built", what needs a cell that failed says why: neither is ever a number, and a rule about it is
// undecided.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headcrash::experiment {

/// Ours, where there is one.
using Figure = std::optional<double>;

struct ClaimNumber {
  std::string cell;      ///< "conventional, initialization"
  std::string quantity;  ///< "elapsed"
  std::string unit;      ///< "s", "%", ""
  Figure paper, ours;
  std::string remark;          ///< why there is no number of ours: "not built", or the failure
  Figure low = {}, high = {};  ///< ours is a mean over seeds: between which the mean lies, at 95 %

  Figure ratio() const {
    if (!paper || !ours || *paper == 0) return std::nullopt;
    return *ours / *paper;
  }
};

enum class Verdict : std::uint8_t { holds, does_not_hold, undecided };
inline const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::undecided:
      return "undecided";
  }
  return "";
}

enum class RuleOf : std::uint8_t { anybody, ours };
struct ClaimRule {
  std::string text;  ///< "Conventional > Flag > Chains > Soft Updates > No Order"
  Verdict verdict = Verdict::undecided;
  std::string detail;  ///< the numbers that decided
  bool ours = false;   ///< no claim of the paper: what we ask of it beside

  std::string told() const { return (ours ? "(ours) " : "") + text; }
};

/// A table that is not a comparison with the paper, such as a calculator's. A column whose cells
/// are all numbers is set right.
struct Table {
  std::string name;                            ///< "delays", unique in its claim
  std::string title;                           ///< one line
  std::vector<std::string> columns;            ///< headings, with units
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
};

/// One line of a plot.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x, y, in drawing order
  bool from_paper = false;                        ///< points of the paper: drawn as points alone
};
struct Plot {
  std::string name;   ///< "figure3", unique in its claim
  std::string title;  ///< one line
  std::string x, y;   ///< what is at the axes, with units
  bool logarithmic_x = false;
  std::vector<Series> series;
};

struct ClaimAnswer {
  std::string id;     ///< "GP-15"
  std::string part;   ///< "table1": what a user asks for by name
  std::string title;  ///< what was run
  std::vector<ClaimNumber> numbers;
  std::vector<ClaimRule> rules;
  std::vector<std::string> remarks;  ///< inputs that are ours, counterfactuals
  std::vector<Table> tables = {};
  std::vector<Plot> plots = {};  ///< the report draws them
  bool tables_tell_all =
      false;  ///< its numbers are in its tables, too: a terminal shows these alone
};

}  // namespace headcrash::experiment
