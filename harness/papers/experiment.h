#pragma once
// Lists and runs the papers' experiments, and stores their results.
//
// All runs use virtual time on the calling thread, so the same seed gives the same results. A
// stored run contains one trial per cell with the phases of that cell, and the numbers and rules of
// all claims.

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/papers/paper.h"
#include "results/db/database.h"

namespace headcrash::experiment {

struct ExperimentSummary {
  std::string name;  ///< a paper or one of its parts: "ganger94", or "ganger94/table1"
  std::string title;
  std::vector<Parameter> parameters = {};  ///< parameters that a user can set
};
std::vector<ExperimentSummary> known_experiments();
/// Returns the part with that name or, if it is the name of a paper, the parts that run with the
/// whole paper (Part::only_by_name). Returns an empty vector if the name is unknown.
std::vector<const Part*> parts_of(const std::string& name);

struct ExperimentOptions {
  std::string name;
  std::uint64_t seed = 1;
  /// For tests: use small file trees. The numbers are then not comparable with those in the paper.
  bool scaled = false;
  std::map<std::string, double> parameters = {};  ///< overrides for the parts to run
  std::function<void(const Cell&)> on_cell = {};
  std::function<bool()> interrupted = {};
};

struct ExperimentOutcome {
  std::string name;
  std::uint64_t seed = 1;
  std::vector<ClaimAnswer> answers;
  std::vector<Cell> cells;
  double host_s = 0;  ///< CPU time on this host
  /// Elapsed time on this host. Less than the CPU time if runs execute in parallel.
  double wall_s = 0;
  double modelled_s = 0;  ///< total model time of all runs, including the cells
  bool interrupted = false;

  /// Returns the number of rules with this verdict, in one class or in all classes.
  std::size_t count(Verdict verdict, std::optional<RuleClass> kind = std::nullopt) const;
  /// Returns the number of cells that failed. Cells that are "not built" do not count as failed.
  std::size_t failed() const;
};

/// Runs an experiment. Fails if the experiment or a parameter is unknown; the error suggests the
/// closest name. If a cell fails, its rows contain the error.
Result<ExperimentOutcome> run_experiment(const ExperimentOptions& options);

/// Stores a finished run of kind "experiment". Returns its number.
Result<std::int64_t> keep(db::Database& database, const ExperimentOutcome& outcome);

// The following functions omit times measured on the host, so equal seeds give equal output.
std::string as_text(const ExperimentOutcome& outcome);
nlohmann::json as_json(const ExperimentOutcome& outcome);
/// Formats the numbers of all claims and then the rules, with one number or rule per line
/// (plugin/base/csv.h).
std::string as_csv(const ExperimentOutcome& outcome);

}  // namespace headcrash::experiment
