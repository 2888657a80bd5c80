#pragma once
// Decides, for one file system, which flush calls of a program are needed, redundant or missing.
//
//   baseline          runs the program unchanged; if it loses data, flushes are missing:
//     mend            adds a flush after every change that was unflushed when a line was printed,
//                     then reduces these to as few change sites as possible; the mended program is
//                     the new baseline
//   each site         skips the site's calls; the site is needed if a crash state fails
//   all redundant     skips all their calls; if a crash state fails, keeps as few as possible
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

/// A run of the program in which some flushes are skipped or added.
struct Experiment {
  std::string name;            ///< used in file names and messages, such as "without-3"
  std::set<std::string> skip;  ///< words (Site::word()) of the sites to skip
  /// stacks of change sites; the tracer adds a flush after each of these sites
  std::set<std::string> flush;
  bool list_changes = false;  ///< list unflushed changes instead of checking crash states
  bool describe = false;      ///< also describe the loss, if there is one
};

struct ExperimentOutcome {
  enum class Verdict : std::uint8_t {
    kept,
    lost,    ///< a crash state fails, and fails again on a fresh guest
    equal,   ///< the requests and bytes equal those of the baseline, so no state was checked
    unclear  ///< no state was checked, or failures were not reproduced
  };
  Verdict verdict = Verdict::unclear;
  std::uint64_t states = 0;  ///< number of crash states that were checked
  /// Approximate number of all crash states, whether checked or not
  double space = 0;
  std::string loss;                   ///< the loss in one line
  std::vector<std::string> evidence;  ///< further lines about the loss
  Trace trace;
};

using Runner = std::function<Result<ExperimentOutcome>(const Experiment&)>;

struct SiteVerdict {
  enum class Need : std::uint8_t {
    needed,
    redundant,    ///< no state fails if its calls are skipped
    proven,       ///< skipping the site's calls does not change the requests to the disk
    together,     ///< redundant alone, but needed if all other redundant sites are dropped
    unclear,      ///< no run called the site, or no state was checked
    unskippable,  ///< its calls cannot be skipped; for example, a flush through io_uring
  };
  Site site;
  Need need = Need::unclear;
  std::uint64_t states = 0;  ///< number of crash states that were checked
  double space = 0;
  std::string loss;
  std::vector<std::string> evidence;
};

/// A change site after which a flush is missing. The flush must cover the file or directory that
/// the call at this site changed.
struct MissingFlush {
  ChangeSite site;
  std::string target;  ///< first file or directory that was changed
  std::vector<Frame> frames;
};

/// Returns the changes of a run that were unflushed when a line was printed. If there are several
/// changes after any of which a flush would suffice, the most plausible one is first.
std::vector<MissingFlush> unflushed_changes(const Trace& trace);

struct Audit {
  ExperimentOutcome baseline;
  std::vector<MissingFlush> missing;
  /// Files that the program changes through mappings, if no flush mends it. The tracer does not see
  /// these changes, so it cannot flush after them.
  std::set<std::string> mapped;
  /// true if the baseline lost data, but does not lose data after the missing flushes have been
  /// added
  bool mended = false;
  std::vector<SiteVerdict> sites;
  std::int64_t ns = 0;          ///< duration of the program, including the missing flushes
  std::int64_t ns_without = 0;  ///< duration without the droppable sites; 0 if no site is droppable
};

/// Returns true if the change is a mapping of a file, through which the program can change the file
/// at any later time.
bool is_mapping(const ChangeSite& site);

/// Returns true if a site with this verdict can be dropped, even together with all other such
/// sites.
bool is_droppable(SiteVerdict::Need need);

struct SearchOptions {
  /// maximum number of experiments in each search for a minimal set of sites
  std::size_t checks = 40;
  std::function<bool()> interrupted;  ///< may be empty
};

/// Fails if an experiment fails.
Result<Audit> audit_program(const Runner& run, const SearchOptions& options);

}  // namespace headcrash::audit
