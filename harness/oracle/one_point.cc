// For each thread, tries all points that are possible (one_point.h).
#include "harness/oracle/one_point.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/oracle/content.h"
#include "harness/oracle/expectation.h"
#include "harness/workload/attribute_value.h"

namespace headcrash::oracle {
namespace {

/// Returns the newest of the states that the first `done` operations created; null if they created
/// none.
template <typename State>
const State* state_after(const std::vector<State>& states, std::size_t done, auto&& operation_of) {
  const auto later = std::find_if(states.begin(), states.end(),
                                  [&](const State& state) { return operation_of(state) >= done; });
  return later == states.begin() ? nullptr : &*std::prev(later);
}

template <typename Value>
const Value* value_after(const std::vector<std::pair<std::size_t, Value>>& states,
                         std::size_t done) {
  const auto* const state = state_after(states, done, [](const auto& each) { return each.first; });
  return state == nullptr ? nullptr : &state->second;
}

}  // namespace

/// Returns the thread whose operations change the name in this section; an arbitrary thread if
/// there are no such operations.
std::size_t OnePointJudge::owner(const SeenName& name, const Timeline::Section& section) const {
  std::optional<std::size_t> found;
  const auto see = [&](std::size_t operation) {
    if (operation >= section.first && operation < section.end)
      found = horizon_.thread_of(operation);
  };
  for (const Binding& binding : name.slot->bindings) see(binding.operation);
  if (found) return *found;
  // No operation in this section changes the name, so the name refers to one object throughout the
  // section.
  const auto* const bound = state_after(name.slot->bindings, section.first,
                                        [](const Binding& each) { return each.operation; });
  if (bound == nullptr || !bound->token) return 0;
  const ObjectHistory& object = history_.objects[history_.tokens[*bound->token].object];
  const auto see_all = [&](const auto& states) {
    for (const auto& state : states) see(state.first);
  };
  see_all(object.sizes);
  see_all(object.modes);
  see_all(object.owners);
  see_all(object.flags);
  see_all(object.projects);
  see_all(object.times);
  see_all(object.accesses);
  for (const auto& [attribute, states] : object.attributes) see_all(states);
  for (const BlockEvent& event : object.blocks) see(event.operation);
  return found.value_or(0);
}

bool OnePointJudge::has_metadata(const ObjectHistory& object, const ObservedObject& observed,
                                 std::size_t done) const {
  if (object.type == FileType::regular && !object.unclear) {
    const auto* const size = value_after(object.sizes, done);
    if (observed.size_bytes != (size == nullptr ? 0 : *size)) return false;
  }
  const auto* const mode = value_after(object.modes, done);
  if (mode != nullptr && observed.mode && *observed.mode != *mode) return false;
  const auto* const owner = value_after(object.owners, done);
  if (owner != nullptr && observed.user && observed.group &&
      *owner != std::pair(*observed.user, *observed.group))
    return false;
  const auto* const flags = value_after(object.flags, done);
  if (flags != nullptr && observed.flags && *observed.flags != *flags) return false;
  const auto* const project = value_after(object.projects, done);
  if (project != nullptr && observed.project && *observed.project != *project) return false;
  const auto* const time = value_after(object.times, done);
  if (promises_.keeps_times && time != nullptr && *time && observed.modified_seconds &&
      **time != *observed.modified_seconds)
    return false;
  const auto* const access = value_after(object.accesses, done);
  if (promises_.keeps_times && access != nullptr && *access && observed.accessed_seconds &&
      **access != *observed.accessed_seconds)
    return false;
  return std::ranges::all_of(object.attributes, [&](const auto& attribute) {
    const auto* const value = value_after(attribute.second, done);
    const auto shown = observed.attributes.find(attribute.first);
    if (shown == observed.attributes.end())
      return value == nullptr || !*value || observed.attributes_cut;
    return value != nullptr && *value &&
           workload::reported_attribute_value(**value) == shown->second;
  });
}

bool OnePointJudge::has_contents(const ObjectHistory& object, const ObservedObject& observed,
                                 std::size_t done) const {
  if (promises_.one_point != adapters::OnePoint::all || object.type != FileType::regular ||
      object.unclear)
    return true;
  ObjectHistory synced = object;
  synced.data_covers = {{.operation = done - 1}};
  return judge_content(synced, observed, {.horizon = history_.timeline.after(done)}).empty();
}

bool OnePointJudge::fits(const SeenName& name, std::size_t done) const {
  const auto* const bound =
      state_after(name.slot->bindings, done, [](const Binding& each) { return each.operation; });
  const bool is_there = bound != nullptr && bound->token;
  if (!is_there || name.observed == nullptr) return !is_there && name.observed == nullptr;
  if (std::ranges::find(name.tokens, *bound->token) == name.tokens.end()) return false;
  const ObjectHistory& object = history_.objects[history_.tokens[*bound->token].object];
  return has_metadata(object, *name.observed, done) && has_contents(object, *name.observed, done);
}

bool OnePointJudge::explains(const Timeline::Section& section, std::size_t thread,
                             const std::vector<const SeenName*>& names) {
  const std::size_t least = std::max(section.first, horizon_.done_at_least(thread));
  const std::size_t most = std::min(section.end, horizon_.done_at_most(thread));
  for (std::size_t done = least; done <= most; ++done) {
    if (done > least && horizon_.thread_of(done - 1) != thread) continue;
    if (history_.timeline.splits_transaction(done, thread)) continue;
    std::size_t fitting = 0;
    while (fitting < names.size() && fits(*names[fitting], done)) ++fitting;
    if (fitting == names.size()) return true;
    if (!nearest_ || nearest_->explained <= fitting) nearest_ = {fitting, done, names[fitting]};
  }
  return false;
}

std::optional<Finding> OnePointJudge::judge(std::span<const SeenName> names) {
  for (const Timeline::Section& section : history_.timeline.sections()) {
    bool possible = true;
    for (std::size_t thread = 0; thread < horizon_.threads(); ++thread)
      possible = possible && horizon_.done_at_least(thread) <= section.end &&
                 horizon_.done_at_most(thread) >= section.first;
    if (!possible) continue;
    std::vector<std::vector<const SeenName*>> by_owner(horizon_.threads());
    for (const SeenName& name : names)
      by_owner[horizon_.threads() == 1 ? 0 : owner(name, section)].push_back(&name);
    bool explained = true;
    for (std::size_t thread = 0; thread < by_owner.size() && explained; ++thread)
      explained = explains(section, thread, by_owner[thread]);
    if (explained) return std::nullopt;
  }
  if (!nearest_) return std::nullopt;  // the list is empty
  const SeenName& name = *nearest_->name;
  return Finding{
      Verdict::wrong_data, Tier::documented, name.path,
      fmt::format("the tree at a single point of the workload; {} other names match the tree after "
                  "{} operations",
                  nearest_->explained, nearest_->done),
      name.observed == nullptr ? words({.kind = Expectation::Kind::no_name})
                               : "the state of this name at another point"};
}

}  // namespace headcrash::oracle
