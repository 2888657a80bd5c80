#pragma once
// Decides, for one file system, which flush calls of a program are needed, redundant or missing.
//
//   baseline          the program unchanged; if it loses data, flushes are missing:
//     mend            flush after every change that was unflushed at a line, then after as few
//                     change sites as possible; the mended program is the new baseline
//   each site         without the site's calls: needed if a crash state fails
//   all redundant     without all of them; if a crash state fails, as few as possible must stay
//
// The caller supplies a function that runs the program in an experiment and explores its crash
// states, so tests need no guest.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/audit/sites.h"
#include "plugin/base/result.h"

namespace headcrash::audit {

/// A run of the program with changed flushes.
struct Experiment {
  std::string name;             ///< for files and messages, such as "without-3"
  std::set<std::string> skip;   ///< words of sites
  std::set<std::string> flush;  ///< stacks of change sites
  bool list_changes = false;    ///< list unflushed changes, and check no crash states
  bool describe = false;        ///< describe a loss
};

struct ExperimentOutcome {
  enum class Verdict : std::uint8_t {
    kept,
    lost,    ///< a crash state fails, also on a fresh guest
    equal,   ///< same requests and bytes as in the baseline; no state was checked
    unclear  ///< no state was checked, or failures were not reproduced
  };
  Verdict verdict = Verdict::unclear;
  std::uint64_t states = 0;           ///< number of crash states that were checked
  double space = 0;                   ///< number of crash states that there are, about
  std::string loss;                   ///< the loss in one line
  std::vector<std::string> evidence;  ///< further lines about the loss
  Trace trace;
};

using Runner = std::function<Result<ExperimentOutcome>(const Experiment&)>;

struct SiteVerdict {
  enum class Need : std::uint8_t {
    needed,
    redundant,    ///< no state fails without it
    proven,       ///< the disk receives equal requests without it
    together,     ///< redundant alone, but must stay if all other redundant sites are dropped
    unclear,      ///< it was not called without a change, or no state was checked
    unskippable,  ///< it cannot be skipped, such as a flush from io_uring
  };
  Site site;
  Need need = Need::unclear;
  std::uint64_t states = 0;  ///< as in ExperimentOutcome
  double space = 0;
  std::string loss;
  std::vector<std::string> evidence;
};

/// A change after which the changed file or folder must be flushed.
struct MissingFlush {
  ChangeSite site;
  std::string target;  ///< the first file or folder
  std::vector<Frame> frames;
};

struct Audit {
  ExperimentOutcome baseline;
  std::vector<MissingFlush> missing;
  bool mended = false;  ///< the baseline lost data, and does not with the missing flushes
  std::vector<SiteVerdict> sites;
  std::int64_t ns = 0;          ///< duration of the program, with the missing flushes
  std::int64_t ns_without = 0;  ///< duration without the droppable sites; 0 if no site is droppable
};

/// Returns true if the site can be dropped together with all others of which this is true.
bool is_droppable(SiteVerdict::Need need);

struct SearchOptions {
  std::size_t checks = 40;            ///< maximum experiments of each search for a subset
  std::function<bool()> interrupted;  ///< may be empty
};

/// Fails if an experiment fails.
Result<Audit> audit_program(const Runner& run, const SearchOptions& options);

}  // namespace headcrash::audit
