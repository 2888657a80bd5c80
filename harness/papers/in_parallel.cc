// Schedules runs on threads (in_parallel.h).
#include "harness/papers/in_parallel.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace headcrash::experiment {
namespace {

struct Group {
  std::string name;
  std::vector<std::size_t> members = {};
  std::size_t begun = 0;
  bool first_is_done = false;

  bool left() const { return begun < members.size(); }
};

std::vector<Group> grouped(const std::vector<std::string>& names) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto group = std::ranges::find(groups, names[i], &Group::name);
    if (group == groups.end()) group = groups.insert(group, {.name = names[i]});
    group->members.push_back(i);
  }
  return groups;
}

/// Returns the group from which a thread takes its next run after a run of group `mine`. Returns
/// null if no run can start now.
Group* next(std::vector<Group>& groups, Group* mine) {
  if (mine != nullptr && mine->left()) return mine;
  auto group = std::ranges::find(groups, std::size_t{0}, &Group::begun);
  if (group == groups.end())
    group =
        std::ranges::find_if(groups, [](const Group& g) { return g.left() && g.first_is_done; });
  return group == groups.end() ? nullptr : &*group;
}

}  // namespace

bool in_parallel(const Interrupted& interrupted, const std::vector<std::string>& names,
                 const std::function<void(std::size_t)>& run) {
  std::vector<Group> groups = grouped(names);
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  const auto work = [&] {
    std::unique_lock lock(mutex);
    Group* mine = nullptr;
    while (!stopped && std::ranges::any_of(groups, &Group::left)) {
      Group* const group = next(groups, mine);
      if (group == nullptr) {
        changed.wait(lock);
        continue;
      }
      mine = group;
      const std::size_t one = group->members[group->begun++];
      lock.unlock();
      const bool stops = interrupted && interrupted();
      if (!stops) run(one);
      lock.lock();
      group->first_is_done = true;
      stopped = stopped || stops;
      changed.notify_all();
    }
  };
  std::thread other;
  if (names.size() > 1 && std::thread::hardware_concurrency() > 1) other = std::thread(work);
  work();
  if (other.joinable()) other.join();
  return !stopped;
}

bool in_parallel(const Interrupted& interrupted, std::size_t count,
                 const std::function<void(std::size_t)>& run) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return in_parallel(interrupted, names, run);
}

}  // namespace headcrash::experiment
