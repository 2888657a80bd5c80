// Judges inode fields except the size (content.h). A field must have its last persistent value, or
// a value that was set later. fsync makes these fields and extended attributes persistent;
// fdatasync does not.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "harness/oracle/content.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::kStampBytes;

struct AttributeCovers {
  std::optional<std::size_t> any, posix;
};

AttributeCovers attribute_covers_known(const auto& covers, const Horizon& horizon) {
  AttributeCovers last;
  for (const auto& cover : covers) {
    if (!horizon.knows(cover.operation)) continue;
    last.any = cover.operation;
    if (cover.tier == CoverTier::posix) last.posix = cover.operation;
  }
  return last;
}

/// Returns the permitted values of a field; nullopt if every value is permitted.
template <typename Value>
std::optional<std::vector<Value>> permitted_values(
    const std::vector<std::pair<std::size_t, Value>>& states, std::optional<std::size_t> cover,
    const Horizon& horizon) {
  std::vector<Value> permitted;
  bool known = false;
  for (const auto& [operation, value] : states) {
    if (!horizon.may_have_run(operation)) break;
    if (cover && operation <= *cover) {
      permitted.clear();
      known = true;
    }
    permitted.push_back(value);
  }
  if (!known) return std::nullopt;
  return permitted;
}

template <typename Value>
bool may_be(const std::vector<std::pair<std::size_t, Value>>& states,
            std::optional<std::size_t> cover, const Horizon& horizon, const Value& shown) {
  const auto permitted = permitted_values(states, cover, horizon);
  return !permitted || std::find(permitted->begin(), permitted->end(), shown) != permitted->end();
}

/// Judges one field. `what` names the field in a finding.
template <typename Value>
void judge_value(const std::vector<std::pair<std::size_t, Value>>& states,
                 const AttributeCovers& covers, const Horizon& horizon, const Value& shown,
                 const std::string& path, auto&& in_words, std::vector<Finding>& findings) {
  if (may_be(states, covers.any, horizon, shown)) return;
  const Tier tier = may_be(states, covers.posix, horizon, shown) ? Tier::documented : Tier::posix;
  const Value expected = permitted_values(states, covers.any, horizon)->front();
  findings.push_back({Verdict::lost_synced_data, tier, path, in_words(expected), in_words(shown)});
}

using Times = std::vector<std::pair<std::size_t, std::optional<std::int64_t>>>;

/// Judges a time stamp, unless another operation may have changed it since it became persistent.
void judge_time(const Times& times, const AttributeCovers& covers, const Horizon& horizon,
                const std::optional<std::int64_t>& shown, const std::string& path,
                std::string_view what, std::vector<Finding>& findings) {
  const auto any = permitted_values(times, covers.any, horizon);
  const bool changed_since = any && std::find(any->begin(), any->end(), std::nullopt) != any->end();
  if (!shown || times.empty() || changed_since) return;
  judge_value(
      times, covers, horizon, shown, path,
      [&](const auto& time) { return fmt::format("{} at {}", what, time.value_or(0)); }, findings);
}

/// Judges the creation time. Its exact value is unknown, because no operation sets it and the host
/// does not know the guest's clock. Therefore only checks that the time is not earlier than
/// kEarliestSeconds (1980).
void judge_birth(const AttributeCovers& covers, const ObservedObject& observed,
                 std::vector<Finding>& findings) {
  if (!covers.any || !observed.born_seconds || *observed.born_seconds >= workload::kEarliestSeconds)
    return;
  findings.push_back({Verdict::lost_synced_data, covers.posix ? Tier::posix : Tier::documented,
                      observed.path, "a valid creation time",
                      fmt::format("a creation time of {} s since 1970", *observed.born_seconds)});
}

// Disjoint ranges of blocks. Maps the first block of a range to the end of the range.
using Intervals = std::map<std::uint64_t, std::uint64_t>;

void add(Intervals& set, std::uint64_t first, std::uint64_t end) {
  auto at = set.upper_bound(first);
  if (at != set.begin() && std::prev(at)->second >= first) --at;
  while (at != set.end() && at->first <= end) {
    first = std::min(first, at->first), end = std::max(end, at->second);
    at = set.erase(at);
  }
  if (first < end) set.emplace(first, end);
}

void remove(Intervals& set, std::uint64_t first, std::uint64_t end) {
  if (first >= end) return;
  auto at = set.upper_bound(first);
  if (at != set.begin()) --at;
  while (at != set.end() && at->first < end) {
    const auto [from, to] = *at;
    at = set.erase(at);
    if (to <= first) {
      set.emplace_hint(at, from, to);
      continue;
    }
    if (from < first) set.emplace(from, first);
    if (to > end) set.emplace(end, to);
  }
}

/// Returns the number of blocks that are certainly still allocated by fallocate: they were
/// allocated at the persistence point, and no later operation can have freed them.
std::uint64_t blocks_kept(const ObjectHistory& object, std::size_t cover, const Horizon& horizon) {
  struct Change {
    std::size_t operation;
    bool made;
    std::uint64_t first, end;
  };
  std::vector<Change> changes;
  for (const AllocationEvent& room : object.allocations)
    if (room.stays && room.operation <= cover)
      changes.push_back({room.operation, true, room.first, room.end});
  const auto gives_back = [&](std::size_t operation, std::uint64_t first, std::uint64_t end) {
    if (horizon.may_have_run(operation)) changes.push_back({operation, false, first, end});
  };
  for (const BlockEvent& event : object.blocks)
    if (event.kind == BlockEvent::Kind::zero) gives_back(event.operation, event.first, event.end);
  // A change of the size may free blocks beyond the end, even if the file grows.
  for (const auto& [operation, block] : object.truncations) gives_back(operation, block, kEndless);
  for (const MoveEvent& move : object.moves) gives_back(move.operation, move.first, kEndless);
  // Within one operation, blocks are freed before blocks are allocated.
  std::ranges::stable_sort(changes, {},
                           [](const Change& each) { return std::pair(each.operation, each.made); });
  Intervals kept;
  for (const Change& change : changes) {
    if (change.made) add(kept, change.first, change.end);
    if (!change.made) remove(kept, change.first, change.end);
  }
  std::uint64_t blocks = 0;
  for (const auto& [first, end] : kept) blocks += end - first;
  return blocks;
}

void judge_allocation(const ObjectHistory& object, const ObservedObject& observed,
                      const Horizon& horizon, std::vector<Finding>& findings) {
  AttributeCovers covers;
  for (const DataCover& cover : object.data_covers) {
    if (!horizon.knows(cover.operation) || cover.end != kEndless) continue;
    covers.any = cover.operation;
    if (cover.tier == CoverTier::posix) covers.posix = cover.operation;
  }
  if (!covers.any || object.unclear) return;
  const std::uint64_t kept = blocks_kept(object, *covers.any, horizon) * kStampBytes;
  if (*observed.allocated_bytes >= kept) return;
  const bool by_posix =
      covers.posix &&
      *observed.allocated_bytes < blocks_kept(object, *covers.posix, horizon) * kStampBytes;
  findings.push_back({Verdict::lost_synced_data, by_posix ? Tier::posix : Tier::documented,
                      observed.path, fmt::format("at least {} bytes allocated", kept),
                      fmt::format("{} bytes", *observed.allocated_bytes)});
}

}  // namespace

std::vector<Finding> judge_inode(const ObjectHistory& object, const ObservedObject& observed,
                                 const Horizon& horizon, const adapters::Promises& promises) {
  std::vector<Finding> findings;
  const AttributeCovers covers = attribute_covers_known(object.attribute_covers, horizon);
  if (observed.mode && !object.modes.empty()) {
    judge_value(
        object.modes, covers, horizon, *observed.mode, observed.path,
        [](std::uint32_t mode) { return fmt::format("mode {:o}", mode); }, findings);
  }
  if (observed.user && observed.group && !object.owners.empty()) {
    judge_value(
        object.owners, covers, horizon, std::pair(*observed.user, *observed.group), observed.path,
        [](const auto& owner) { return fmt::format("owner {}:{}", owner.first, owner.second); },
        findings);
  }
  if (observed.flags && !object.flags.empty()) {
    judge_value(
        object.flags, covers, horizon, *observed.flags, observed.path,
        [](std::uint32_t flags) { return "flags " + workload::format_flags(flags); }, findings);
  }
  if (observed.project && !object.projects.empty()) {
    judge_value(
        object.projects, covers, horizon, *observed.project, observed.path,
        [](std::uint32_t project) { return fmt::format("project {}", project); }, findings);
  }
  if (promises.keeps_times) {
    judge_time(object.times, covers, horizon, observed.modified_seconds, observed.path, "modified",
               findings);
    judge_time(object.accesses, covers, horizon, observed.accessed_seconds, observed.path,
               "accessed", findings);
    judge_birth(covers, observed, findings);
  }
  if (promises.keeps_allocation && observed.allocated_bytes) {
    const bool any = std::any_of(object.allocations.begin(), object.allocations.end(),
                                 [](const AllocationEvent& room) { return room.stays; });
    if (any) judge_allocation(object, observed, horizon, findings);
  }
  return findings;
}

}  // namespace headcrash::oracle
