#pragma once
// What an experiment is made of: papers, each with the parts that can be asked for by name.
//
// A paper has a folder here (ganger94/), which holds all that is its own: setups, printed numbers,
// judgements. What papers share stays in this folder: the modelled machine, workloads on it, cells,
// claims. One table (papers.cc) lists the papers; `headcrash list experiments`, `headcrash
// experiment PAPER[/PART]` and the report take everything from it.
//
// An experiment of our own, which no paper has printed numbers of, is described the same way
// (compare/).
//
// A part is a function from a context to claims. It may run cells on the modelled machine, a
// simulator of its own, or nothing but arithmetic; it answers with numbers beside the paper's,
// rules, tables and plots (claim.h).

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/papers/cells.h"
#include "harness/papers/claim.h"

namespace headcrash::experiment {

/// An input of a part that a user may set: `--set cache-mb=85`.
struct Parameter {
  std::string name;  ///< unit last: "cache-mb"
  double usual = 0;
  std::string meaning;  ///< one line, for messages
};

/// What a part is run with. Belongs to run_experiment() and outlives the call of the part.
struct Context {
  Cells& cells;                         ///< shared by all parts of a run: equal cells are run once
  std::uint64_t seed = 1;               ///< of everything that is drawn
  bool scaled = false;                  ///< for tests: small, no number means anything
  std::vector<std::string> parts = {};  ///< names of all that this run has, in order
  std::map<std::string, double> parameters = {};  ///< the part's own, as usual or as set
  std::function<bool()> interrupt_requested = {};
  double modelled_s = 0;              ///< a part adds the model time of what it runs beside cells
  std::shared_ptr<void> shared = {};  ///< what the paper's parts keep for each other during one run

  /// A long part asks now and then and returns what it has.
  bool interrupted() const { return interrupt_requested && interrupt_requested(); }
  double parameter(const std::string& name) const { return parameters.at(name); }
};

struct Part {
  std::string name;   ///< "table1"
  std::string title;  ///< one line, with the claims in brackets
  /// Of each cell that does not ask for another number (Cells::get); their means are told.
  std::uint32_t executions = 1;
  std::function<std::vector<ClaimAnswer>(Context&)> answer;
  std::vector<Parameter> parameters = {};
};

struct Paper {
  std::string name;         ///< "ganger94"
  std::string title;        ///< authors, year, title
  std::vector<Part> parts;  ///< in the order of the paper
};

/// All of them, in the order in which they are listed.
const std::vector<Paper>& papers();

}  // namespace headcrash::experiment
