#pragma once
// The cells of an experiment. A cell is a workload on a machine with one scheme. Each cell is run
// only once, even if several claims use it.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harness/papers/run_workload.h"
#include "results/db/claim.h"

namespace headcrash::experiment {

/// Returns the CPU time that this process has used so far.
double cpu_seconds_here();

struct Setup {
  std::string name;  ///< "scheduler-flag part-nr/cb"
  ModelledMachineOptions machine;
};

struct Cell {
  std::string key;  ///< for example "n-user-copy users=4 / no-order"
  Setup setup;
  WorkloadRun run;
  std::uint32_t executions = 1;
  std::optional<WorkloadOutcome> outcome;  ///< mean of the outcomes of all executions
  /// Spread of the elapsed times: (longest - shortest) / mean.
  double spread = 0;
  std::string remark;  ///< the reason if there is no outcome: "not built", or the error message
  double host_s = 0;   ///< CPU time on this host

  bool missing() const { return !outcome && remark == kNotBuilt; }
  static constexpr const char* kNotBuilt = "not built";
  static constexpr const char* kInterrupted = "interrupted";

  /// Returns a quantity of a measured phase, or nullopt if the cell has no outcome.
  Figure of(std::string_view phase,
            const std::function<double(const PhaseOutcome&)>& quantity) const;
};

struct CellOptions {
  std::uint64_t seed = 1;
  bool scaled = false;  ///< for tests: use the workloads' small variants
  bool verify = true;
  /// Runs each cell once, even if the caller requests more executions.
  bool once = false;
  /// Pause before execution 0. The pause before execution N is longer by N times
  /// kBetweenBeginnings.
  os::TimeNs begins_after_ns = 0;
  /// The reading of the paper in which the paper's code builds the setups, if it has several. 0 is
  /// the first.
  std::uint32_t reading = 0;
  std::function<void(const Cell&)> on_cell = {};  ///< reports progress
  std::function<bool()> interrupted = {};
};

class Cells {
 public:
  explicit Cells(CellOptions options) : options_(std::move(options)) {}

  /// Returns the cell, and runs it on first use. `executions` is the number of runs, which start at
  /// different times between two ticks of the syncer; 0 selects the number last set by
  /// executions(). With `scaled`, the cell runs only once. The reference is valid as long as this
  /// object exists. A failed cell has a remark instead of an outcome.
  const Cell& get(const Setup& setup, const std::string& workload,
                  const timed::Arguments& arguments = {}, std::uint32_t executions = 0);
  void executions(std::uint32_t usual) { usual_executions_ = usual; }
  /// Returns all cells in the order in which they ran.
  const std::vector<std::unique_ptr<Cell>>& all() const { return all_; }
  const CellOptions& options() const { return options_; }
  bool interrupted() const { return options_.interrupted && options_.interrupted(); }

 private:
  CellOptions options_;
  std::uint32_t usual_executions_ = 1;
  std::map<std::string, const Cell*> by_key_;
  std::vector<std::unique_ptr<Cell>> all_;
};

}  // namespace headcrash::experiment
