#pragma once
// A paper's experiment: which there are, running one, keeping what came out.
//
// Everything happens in virtual time on the calling thread; equal seeds give equal answers. The
// database gets a trial for each cell, with its phases, and the claims' numbers and rules.

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/papers/paper.h"
#include "results/db/database.h"

namespace headcrash::experiment {

struct ExperimentSummary {
  std::string name;  ///< "ganger94", or "ganger94/table1"
  std::string title;
  std::vector<Parameter> parameters = {};  ///< that can be set
};
std::vector<ExperimentSummary> known_experiments();

struct ExperimentOptions {
  std::string name;
  std::uint64_t seed = 1;
  bool scaled =
      false;  ///< for tests: small trees, so that no number means anything beside the paper's
  std::map<std::string, double> parameters =
      {};  ///< of the parts that are run, where they differ from usual
  std::function<void(const Cell&)> on_cell = {};
  std::function<bool()> interrupted = {};
};

struct ExperimentOutcome {
  std::string name;
  std::uint64_t seed = 1;
  std::vector<ClaimAnswer> answers;
  std::vector<Cell> cells;
  double host_s = 0;      ///< CPU time that all of it took here
  double wall_s = 0;      ///< ... and time: less, where parts run on several threads
  double modelled_s = 0;  ///< model time of all cells, and of what parts run beside them
  bool interrupted = false;

  std::size_t count(Verdict verdict, RuleOf whose = RuleOf::anybody) const;
  /// Cells that have neither numbers nor a missing scheme for it.
  std::size_t failed() const;
};

/// Errors: no such experiment or parameter (the nearest name). A cell that fails is told in its
/// rows.
Result<ExperimentOutcome> run_experiment(const ExperimentOptions& options);

/// A finished run of kind "experiment". Returns its number.
Result<std::int64_t> keep(db::Database& database, const ExperimentOutcome& outcome);

// What the host took is in none of them: equal seeds give equal bytes.
std::string as_text(const ExperimentOutcome& outcome);
nlohmann::json as_json(const ExperimentOutcome& outcome);
/// The claims' numbers, then their rules, a line each.
std::string as_csv(const ExperimentOutcome& outcome);

}  // namespace headcrash::experiment
