// Groups the flush calls of a trace (sites.h).
#include "harness/audit/sites.h"

#include <fmt/format.h>

#include <algorithm>

namespace headcrash::audit {
namespace {

void add(Site& site, const FlushCounts& counts) {
  if (site.calls == 0 || counts.first < site.first) {
    site.first = counts.first;
    site.example = counts.example;
  }
  site.calls += counts.calls;
  site.skipped += counts.skipped;
  site.ns += counts.ns;
  site.can_skip = site.can_skip && counts.can_skip;
}

}  // namespace

std::vector<Site> sites_of(const Trace& trace) {
  std::map<std::string, std::size_t> targets;
  for (const auto& [each, counts] : trace.flushes) ++targets[each.stack];
  std::map<std::string, Site> sites;
  for (const auto& [each, counts] : trace.flushes) {
    const bool separate = targets[each.stack] <= kTargetsMost;
    Site site{.kind = each.kind,
              .stack = each.stack,
              .target = separate ? each.target : std::string(kAnyTarget)};
    if (const auto frames = trace.stacks.find(each.stack); frames != trace.stacks.end())
      site.frames = frames->second;
    const std::string word = site.word();
    add(sites.try_emplace(word, std::move(site)).first->second, counts);
  }
  std::vector<Site> list;
  for (auto& [word, site] : sites) list.push_back(std::move(site));
  std::ranges::sort(list, {}, &Site::first);
  return list;
}

SiteCounts counts_of(const Trace& trace, const Site& site) {
  SiteCounts sum;
  for (const auto& [each, counts] : trace.flushes) {
    if (each.stack != site.stack || (site.target != kAnyTarget && site.target != each.target))
      continue;
    sum.calls += counts.calls;
    sum.skipped += counts.skipped;
  }
  return sum;
}

std::optional<double> cost_ms(const Site& site) {
  const std::uint64_t executed = site.calls - site.skipped;
  if (executed == 0 || site.kind.starts_with("O_")) return std::nullopt;
  return static_cast<double>(site.ns) / 1e6 / static_cast<double>(executed);
}

std::string call_text(const Site& site) {
  std::string name = site.target == kAnyTarget ? site.example + ", ..." : site.example;
  return fmt::format("{}({})", site.kind, name);
}

}  // namespace headcrash::audit
