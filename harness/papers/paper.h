#pragma once
// The structure of experiments. Each paper has parts, which a user selects by name.
//
// A paper has a directory here (ganger94/) with its setups, published numbers and judgements. This
// directory contains the shared code: the modelled machine, its workloads, cells and claims. One
// table (papers.cc) lists the papers for `headcrash list experiments`, `headcrash experiment
// PAPER[/PART]` and the report.
//
// comparison/ is our own experiment. It has the same structure, but there are no published numbers.
//
// A part is a function that takes a context and returns claims. It may run cells on the modelled
// machine, use a simulator, or only compute. The result contains our numbers next to the paper's,
// rules, tables and plots (claim.h).

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/papers/cells.h"
#include "results/db/claim.h"

namespace headcrash::experiment {

/// An input of a part that a user may set, for example with `--set cache-mb=85`.
struct Parameter {
  std::string name;  ///< ends with the unit, for example "cache-mb"
  double usual = 0;
  std::string meaning;  ///< one line, used in messages
};

/// The arguments of a part. run_experiment() owns them. They are valid until the part returns.
struct Context {
  Cells& cells;            ///< shared by all parts of a run, so that each cell runs only once
  std::uint64_t seed = 1;  ///< seed for all random choices
  bool scaled = false;     ///< for tests: small runs, whose numbers have no meaning
  std::vector<std::string> parts = {};  ///< names of all parts in this run, in order
  /// The parameters of the part, including those with default values.
  std::map<std::string, double> parameters = {};
  std::function<bool()> interrupt_requested = {};
  double modelled_s = 0;  ///< model time of runs other than cells; each part adds its own
  std::shared_ptr<void> shared = {};  ///< data shared by the parts of a paper during one run
  /// True if the caller uses only the rules of the answer, to compare them between seeds. The part
  /// then omits counterfactual runs.
  bool rules_only = false;

  /// Returns true if the run was interrupted. Long parts must call this function regularly and
  /// return partial results.
  bool interrupted() const { return interrupt_requested && interrupt_requested(); }
  double parameter(const std::string& name) const { return parameters.at(name); }
};

struct Part {
  std::string name;   ///< "table1"
  std::string title;  ///< one line; ends with the claims in brackets
  /// Default number of executions of each cell (Cells::get). The results are means over the
  /// executions.
  std::uint32_t executions = 1;
  std::function<std::vector<ClaimAnswer>(Context&)> answer;
  std::vector<Parameter> parameters = {};
  /// Number of executions with consecutive seeds. A rule holds only if it holds in all of these
  /// executions. 0 if the answer does not depend on the seed.
  std::uint32_t seeds = 1;
  /// If true, the part runs only if it is selected by name, and not with the whole paper. Used for
  /// second readings, whose results are stored in separate files.
  bool only_by_name = false;
};
/// Value of Part::seeds for a part whose answer depends on the seed.
inline constexpr std::uint32_t kSeeds = 5;

/// A number shown at the beginning of a paper's results.
struct MainFigure {
  std::string name;  ///< understandable without knowledge of the claims
  /// Identifies a number in the claims by claim id, cell and quantity (ClaimAnswer, ClaimNumber).
  std::string claim, cell, quantity;
};

struct Paper {
  std::string name;                           ///< "ganger94"
  std::string title;                          ///< authors, year, title
  std::vector<Part> parts;                    ///< in the same order as in the paper
  std::string main_claim = {};                ///< what the paper claims, in one sentence
  std::vector<MainFigure> main_figures = {};  ///< two or three figures
};

/// Name of the claim that contains a paper's main claim and main figures. The results of a whole
/// paper begin with this claim.
inline constexpr const char* kInShort = "in short";

/// Returns all papers in the order in which they are listed.
const std::vector<Paper>& papers();

}  // namespace headcrash::experiment
