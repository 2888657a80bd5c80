// The order of experiments (search.h).
#include "harness/audit/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "plugin/base/delta_debugging.h"

namespace headcrash::audit {
namespace {

using Need = SiteVerdict::Need;
using Verdict = ExperimentOutcome::Verdict;

bool passes(const ExperimentOutcome& outcome) {
  return outcome.verdict == Verdict::kept || outcome.verdict == Verdict::equal;
}

class Search {
 public:
  Search(const Runner& run, const SearchOptions& options) : run_(run), options_(options) {}

  Result<Audit> audit() {
    TRY(audit_.baseline, run_({.name = "baseline", .describe = true}));
    audit_.ns = audit_.baseline.trace.ns;
    if (audit_.baseline.verdict == Verdict::lost) {
      TRY(find_missing());
    }
    TRY(judge_sites());
    TRY(drop_together());
    return std::move(audit_);
  }

 private:
  Result<void> find_missing();
  Result<void> judge_sites();
  Result<Need> judge(const Site& site, SiteVerdict& verdict, std::size_t number);
  Result<void> drop_together();
  /// Searches for a small subset of `items` elements for which the experiment still passes.
  Result<base::Chosen> smallest(std::size_t items,
                                const std::function<Experiment(const base::Chosen&)>& experiment);
  bool stopped() const { return options_.interrupted && options_.interrupted(); }

  /// Returns the outcome of an earlier experiment with the same changes, or runs the experiment.
  Result<ExperimentOutcome> run_once(const Experiment& experiment);

  const Runner& run_;
  const SearchOptions& options_;
  std::map<std::pair<std::set<std::string>, std::set<std::string>>, ExperimentOutcome> known_;
  Audit audit_;
  /// Stacks of change sites. The baseline does not fail if the tracer adds a flush after each of
  /// these sites.
  std::set<std::string> flush_;
};

Result<ExperimentOutcome> Search::run_once(const Experiment& experiment) {
  const std::pair changes{experiment.skip, experiment.flush};
  const auto found = known_.find(changes);
  if (found != known_.end()) return found->second;
  TRY(auto outcome, run_(experiment));
  return known_.emplace(changes, std::move(outcome)).first->second;
}

Result<base::Chosen> Search::smallest(
    std::size_t items, const std::function<Experiment(const base::Chosen&)>& experiment) {
  std::optional<Error> error;
  const auto still_passes = [&](const base::Chosen& chosen) {
    if (error) return false;
    const auto outcome = run_once(experiment(chosen));
    if (!outcome) error = outcome.error();
    return outcome && passes(*outcome);
  };
  base::DeltaDebugging search(
      {.usable = {}, .still_fails = still_passes},
      {.checks = options_.checks, .out_of_time = [&] { return stopped(); }});
  base::Chosen chosen = search.run(items);
  if (error) return tl::unexpected(*error);
  return chosen;
}

/// Returns the rank of a change among the candidates for a missing flush: new names before data,
/// and data before removed names. If one flush suffices after any of several candidates, the search
/// selects the candidate that ranks first.
int rank(const ChangeSite& site) {
  if (!site.names) return 1;
  return site.call == "unlink" || site.call == "rmdir" ? 2 : 0;
}

/// Searches for change sites after which a flush is missing.
Result<void> Search::find_missing() {
  TRY(const auto listed, run_({.name = "changes", .list_changes = true}));
  const std::vector<MissingFlush> candidates = unflushed_changes(listed.trace);
  if (candidates.empty()) return {};
  std::size_t number = 0;
  const auto flushing = [&](const base::Chosen& chosen) {
    Experiment experiment{.name = fmt::format("flush-{}", ++number)};
    for (const std::size_t i : chosen) experiment.flush.insert(candidates[i].site.stack);
    return experiment;
  };
  base::Chosen all(candidates.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  TRY(const auto mended, run_once(flushing(all)));
  if (!passes(mended)) {
    for (const MissingFlush& each : candidates)
      if (is_mapping(each.site)) audit_.mapped.insert(each.target);
    return {};
  }
  TRY(const auto chosen, smallest(candidates.size(), flushing));
  audit_.mended = true;
  for (const std::size_t i : chosen) {
    flush_.insert(candidates[i].site.stack);
    audit_.missing.push_back(candidates[i]);
  }
  TRY(const auto complete, run_once(flushing(chosen)));
  audit_.ns = complete.trace.ns;
  return {};
}

Result<Need> Search::judge(const Site& site, SiteVerdict& verdict, std::size_t number) {
  if (!site.can_skip) return Need::unskippable;
  if (audit_.baseline.verdict == Verdict::lost && !audit_.mended) return Need::unclear;
  TRY(auto outcome, run_once({.name = fmt::format("without-{}", number),
                              .skip = {site.word()},
                              .flush = flush_,
                              .describe = true}));
  verdict.states = outcome.states;
  verdict.space = outcome.space;
  verdict.loss = std::move(outcome.loss);
  verdict.evidence = std::move(outcome.evidence);
  if (counts_of(outcome.trace, site).skipped == 0) return Need::unclear;
  switch (outcome.verdict) {
    case Verdict::lost:
      return Need::needed;
    case Verdict::kept:
      return Need::redundant;
    case Verdict::equal:
      return Need::proven;
    case Verdict::unclear:
      break;
  }
  return Need::unclear;
}

Result<void> Search::judge_sites() {
  for (const Site& site : sites_of(audit_.baseline.trace)) {
    if (stopped()) return {};
    SiteVerdict verdict{.site = site};
    TRY(verdict.need, judge(site, verdict, audit_.sites.size() + 1));
    audit_.sites.push_back(std::move(verdict));
  }
  return {};
}

/// Skips the calls of all redundant sites at once. If data is then lost, determines which of these
/// sites must be kept.
Result<void> Search::drop_together() {
  std::vector<SiteVerdict*> redundant;
  for (SiteVerdict& each : audit_.sites)
    if (is_droppable(each.need)) redundant.push_back(&each);
  if (redundant.empty() || stopped()) return {};
  std::size_t number = 0;
  // Drops all redundant sites except those whose indices are in `kept`.
  const auto dropping = [&](const base::Chosen& kept) {
    Experiment experiment{.name = fmt::format("together-{}", ++number), .flush = flush_};
    for (const SiteVerdict* each : redundant) experiment.skip.insert(each->site.word());
    for (const std::size_t i : kept) experiment.skip.erase(redundant[i]->site.word());
    return experiment;
  };
  TRY(auto outcome, run_once(dropping({})));
  if (!passes(outcome)) {
    TRY(const auto kept, smallest(redundant.size(), dropping));
    for (const std::size_t i : kept) {
      redundant[i]->need = Need::together;
      redundant[i]->loss = outcome.loss;
      redundant[i]->evidence = outcome.evidence;
    }
    if (kept.size() == redundant.size()) return {};
    TRY(outcome, run_once(dropping(kept)));
  }
  audit_.ns_without = outcome.trace.ns;
  return {};
}

}  // namespace

bool is_mapping(const ChangeSite& site) {
  return site.call == "mmap";
}

bool is_droppable(SiteVerdict::Need need) {
  return need == Need::redundant || need == Need::proven;
}

std::vector<MissingFlush> unflushed_changes(const Trace& trace) {
  std::vector<MissingFlush> changes;
  for (const auto& [site, change] : trace.unflushed) {
    MissingFlush missing{.site = site, .target = change.target, .frames = {}};
    if (const auto frames = trace.stacks.find(site.stack); frames != trace.stacks.end())
      missing.frames = frames->second;
    changes.push_back(std::move(missing));
  }
  std::ranges::sort(changes, {},
                    [](const auto& each) { return std::pair(rank(each.site), each.site); });
  return changes;
}

Result<Audit> audit_program(const Runner& run, const SearchOptions& options) {
  return Search(run, options).audit();
}

}  // namespace headcrash::audit
