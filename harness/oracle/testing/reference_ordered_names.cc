// Simulates ordered names, whose changes reach the disk one by one (reference_model.h).
//
//   create, mkdir, link   add the name
//   unlink, rmdir         remove the name, after the names in the directory
//   rename                add the new name, then remove the old one
//   exchange              add a third name for the target's object, write the target, write the
//                         source, remove the third name
//
// Changes of the same name, and the steps of one operation, keep their order. A directory
// may be on the disk before it has a name.
#include <algorithm>
#include <array>

#include "harness/oracle/testing/reference_model.h"

namespace headcrash::oracle {

std::vector<ReferenceModel::NameStep> ReferenceModel::name_steps(std::size_t reached) const {
  std::vector<NameStep> steps;
  for (const NameOperation& each : name_operations_) {
    if (each.operation > reached) break;
    const auto add = [&](const Change& change, bool after_last) {
      steps.push_back({each.operation, change, each.emptied, after_last});
    };
    if (each.exchange) {
      const auto& [one, other] = std::pair(each.changes[0], each.changes[1]);
      const Slot third{one.first.first, ".exchanged-" + std::to_string(*one.second)};
      add({third, one.second}, false);
      add(other, true);
      add(one, true);
      add({third, std::nullopt}, true);
    } else {
      // In `changes`, the last change of a rename adds the new name. On the disk, the new name is
      // written first, so reverse the order.
      for (std::size_t i = each.changes.size(); i-- > 0;)
        add(each.changes[i], i + 1 < each.changes.size());
    }
  }
  return steps;
}

bool ReferenceModel::covers_name(const Persistence& point, const Slot& slot) const {
  return point.everything || point.directory == slot.first ||
         std::find(point.slots.begin(), point.slots.end(), slot) != point.slots.end();
}

std::map<ReferenceModel::Slot, ReferenceModel::FileId> ReferenceModel::ordered_names(
    const Cut& cut, std::mt19937_64& random) const {
  const std::vector<NameStep> steps = name_steps(cut.reached);
  const unsigned percent = std::array<unsigned, 4>{0, 30, 70, 100}[random() % 4];
  std::vector<bool> kept(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Persistence& point : persistence_) {
      if (!cut.persisted || point.operation > *cut.persisted) break;
      if (steps[i].operation < point.operation && covers_name(point, steps[i].change.first))
        kept[i] = true;
    }
  }
  // If a directory has two names, fsck may remove either of them. So if the new name of a renamed
  // directory must survive, the change that removes its old name must survive as well.
  std::set<FileId> arrived;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const auto& file = steps[i].change.second;
    if (!file || files_.at(*file).type != FileType::directory) continue;
    if (kept[i]) arrived.insert(*file);
    const bool moved = i + 1 < steps.size() && steps[i + 1].after_last;
    if (moved && arrived.contains(*file)) kept[i + 1] = true;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) kept[i] = kept[i] || random() % 100 < percent;
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (!kept[i]) continue;
    if (steps[i].after_last) kept[i - 1] = true;
    for (std::size_t j = 0; j < i; ++j) {
      const Slot& earlier = steps[j].change.first;
      if (earlier == steps[i].change.first || earlier.first == steps[i].emptied) kept[j] = true;
    }
  }
  std::map<Slot, FileId> names;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!kept[i]) continue;
    const auto& [slot, file] = steps[i].change;
    names.erase(slot);
    if (file) names[slot] = *file;
  }
  keep_one_name(random, names);
  find_the_nameless(names);
  return names;
}

/// Simulates fsck: if a directory has two names, removes one of them at random. If one of the names
/// is the third name of an exchange, removes that name.
void ReferenceModel::keep_one_name(std::mt19937_64& random, std::map<Slot, FileId>& names) const {
  std::map<FileId, std::vector<Slot>> of_directory;
  for (const auto& [slot, file] : names) {
    if (files_.at(file).type == FileType::directory) of_directory[file].push_back(slot);
  }
  for (auto& [file, slots] : of_directory) {
    while (slots.size() > 1) {
      auto goes = std::find_if(slots.begin(), slots.end(), [](const Slot& slot) {
        return slot.second.starts_with(".exchanged-");
      });
      if (goes == slots.end())
        goes = slots.begin() + static_cast<std::ptrdiff_t>(random() % slots.size());
      names.erase(*goes);
      slots.erase(goes);
    }
  }
}

/// Simulates how fsck moves directories without a name to lost+found, with their contents. Also
/// breaks cycles.
void ReferenceModel::find_the_nameless(std::map<Slot, FileId>& names) const {
  std::set<FileId> reached;
  const auto reach = [&](const auto& self, FileId directory) -> void {
    if (!reached.insert(directory).second) return;
    for (auto at = names.lower_bound({directory, ""});
         at != names.end() && at->first.first == directory; ++at)
      if (files_.at(at->second).type == FileType::directory) self(self, at->second);
  };
  reach(reach, 0);
  std::set<FileId> lost, named;
  for (const auto& [slot, file] : names) {
    if (!reached.contains(slot.first)) lost.insert(slot.first);
  }
  for (const auto& [slot, file] : names) {
    if (!reached.contains(slot.first)) named.insert(file);
  }
  std::vector<FileId> found;
  for (const bool circles : {false, true}) {
    for (const FileId directory : lost) {
      if (reached.contains(directory) || (named.contains(directory) && !circles)) continue;
      std::erase_if(names, [&](const auto& name) { return name.second == directory; });
      found.push_back(directory);
      reach(reach, directory);
    }
  }
  if (found.empty()) return;
  names[{0, "lost+found"}] = kLostAndFound;
  for (const FileId directory : found)
    names[{kLostAndFound, "#" + std::to_string(directory)}] = directory;
}

}  // namespace headcrash::oracle
