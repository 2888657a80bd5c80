// Finds mount periods and compares trees (durable_tree.h).
#include "harness/fstests/durable_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace headcrash::fstests {
namespace {

using oracle::ObservedObject;

constexpr std::int64_t kSecondUs = 1'000'000;
/// On btrfs, the inode number of each subvolume's root.
constexpr std::uint64_t kSubvolumeRoot = 256;
/// Inode numbers from the agent contain the number of the subvolume in the bits above these.
constexpr std::uint64_t kInodes = 1ULL << 48U;
/// Prefixes of the names of quota files. The kernel writes quota files without changing their
/// times.
constexpr std::array<std::string_view, 2> kQuotaFiles{"aquota.", "quota."};

std::uint64_t parse_time(std::string_view text) {
  std::uint64_t time = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), time);
  return end.ec == std::errc{} && end.ptr == text.data() + text.size() ? time : 0;
}

/// Returns the path of an object's folder; empty for an object in the root.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// Returns true if the object's last change was before `time_us`. If the time of the change is a
/// whole second, the file system may have rounded it down, so the change may have been up to a
/// second later.
bool changed_before(const ObservedObject& object, std::uint64_t time_us) {
  if (!object.changed_us) return false;
  const std::int64_t latest =
      *object.changed_us + (*object.changed_us % kSecondUs == 0 ? kSecondUs : 0);
  return latest < static_cast<std::int64_t>(time_us);
}

/// Names the properties in which an object of a crash state differs from the durable object.
std::string differences(const ObservedObject& durable, const ObservedObject& found,
                        DurableTree::End kind) {
  std::string names;
  const auto compare = [&](const char* name, const auto& one, const auto& other) {
    if (one != other) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  };
  compare("error", durable.error, found.error);
  compare("type", durable.type, found.type);
  compare("mode", durable.mode, found.mode);
  compare("user", durable.user, found.user);
  compare("group", durable.group, found.group);
  if (kind == DurableTree::End::older) return names;
  compare("flags", durable.flags, found.flags);
  compare("project", durable.project, found.project);
  compare("target", durable.link_target, found.link_target);
  if (!durable.attributes_cut && !found.attributes_cut)
    compare("attributes", durable.attributes, found.attributes);
  if (durable.type != FileType::regular) return names;
  compare("links", durable.links, found.links);
  compare("size", durable.size_bytes, found.size_bytes);
  compare("modification time", durable.modified_seconds, found.modified_seconds);
  compare("content", durable.runs, found.runs);
  return names;
}

oracle::Finding lost(const ObservedObject& object, std::uint64_t before_us, std::string found) {
  return {.kind = oracle::Verdict::lost_synced_data,
          .tier = oracle::Tier::documented,
          .path = object.path,
          .expected = fmt::format("unchanged since {} us before the last sync or mount",
                                  before_us - static_cast<std::uint64_t>(*object.changed_us)),
          .found = std::move(found)};
}

}  // namespace

std::vector<MountPeriod> mount_periods(const states::RunHistory& run) {
  std::vector<MountPeriod> periods;
  std::optional<MountPeriod> open;
  bool newest_mount_opened = false;
  for (const states::RecordedMark& mark : run.marks()) {
    if (mark.text.starts_with(kMountingMark)) {
      newest_mount_opened = !open;
      if (open) continue;
      const bool durable = run.unflushed_at(0, mark.event).empty();
      const std::string_view words = std::string_view(mark.text).substr(kMountingMark.size());
      const std::size_t space = std::min(words.find(' '), words.size());
      open = MountPeriod{
          .from = mark.event,
          .durable_before_us = durable ? parse_time(words.substr(0, space)) : 0,
          .mount_options = std::string(words.substr(std::min(space + 1, words.size())))};
    } else if (mark.text == kNotMountedMark && newest_mount_opened) {
      open.reset();
    } else if (mark.text == kDropsWritesMark && open) {
      open->drops_writes = true;
    } else if (mark.text == kUnmountedMark && open) {
      open->to = mark.event;
      periods.push_back(*std::exchange(open, std::nullopt));
    }
  }
  if (open) {
    open->to = run.events();
    periods.push_back(*open);
  }
  return periods;
}

DurableTree::DurableTree(std::vector<ObservedObject> end, const std::string& type, End kind)
    : end_(std::move(end)), kind_(kind) {
  if (type != "btrfs") return;
  for (const ObservedObject& object : end_)
    if (object.type == FileType::directory && object.inode % kInodes == kSubvolumeRoot)
      subvolumes_.push_back(object.path);
}

bool DurableTree::is_judged(const ObservedObject& object, std::uint64_t before_us) const {
  if (!changed_before(object, before_us) || object.path.starts_with("lost+found")) return false;
  const std::string name = object.path.substr(object.path.rfind('/') + 1);
  if (std::ranges::any_of(kQuotaFiles, [&](auto quota) { return name.starts_with(quota); }))
    return false;
  // A snapshot's objects keep the change times of their originals, so they may seem older than the
  // snapshot.
  return std::ranges::none_of(subvolumes_, [&](const std::string& each) {
    return object.path == each || object.path.starts_with(each + "/");
  });
}

/// Returns true if a directory above the object was not durable at `before_us`, because it changed
/// later or no longer exists. It may have been renamed, so the object may still have its old path.
bool DurableTree::folder_changed_since(const std::string& path, std::uint64_t before_us) const {
  for (std::string folder = folder_of(path); !folder.empty(); folder = folder_of(folder)) {
    const auto found = std::ranges::find(end_, folder, &ObservedObject::path);
    if (found == end_.end() || !changed_before(*found, before_us)) return true;
  }
  return false;
}

std::vector<oracle::Finding> DurableTree::judge(std::uint64_t durable_before_us,
                                                const std::vector<ObservedObject>& tree) const {
  std::map<std::string_view, const ObservedObject*> by_path;
  std::multimap<std::uint64_t, const ObservedObject*> by_inode;
  for (const ObservedObject& object : tree) {
    by_path[object.path] = &object;
    by_inode.emplace(object.inode, &object);
  }
  // Returns true if this state may have a change of the object that the test later undid with its
  // own power cut.
  const auto undone = [&](const std::string& path) {
    const auto object = by_path.find(path);
    return kind_ == End::older &&
           (object == by_path.end() || !changed_before(*object->second, durable_before_us));
  };
  std::vector<oracle::Finding> findings;
  for (const ObservedObject& object : end_) {
    if (!is_judged(object, durable_before_us)) continue;
    const ObservedObject* found = nullptr;
    if (const auto same = by_path.find(object.path); same != by_path.end()) found = same->second;
    const bool same_inode = found != nullptr && found->inode == object.inode;
    if (!same_inode && folder_changed_since(object.path, durable_before_us))
      if (const auto same = by_inode.find(object.inode); same != by_inode.end())
        found = same->second;
    if (found == nullptr) {
      // the test may have removed the object, and then undone the removal with its own power cut
      if (undone(folder_of(object.path))) continue;
      findings.push_back(lost(object, durable_before_us, "missing"));
      continue;
    }
    const std::string differs = differences(object, *found, kind_);
    if (!differs.empty() && !undone(found->path))
      findings.push_back(lost(object, durable_before_us, "different: " + differs));
  }
  return findings;
}

std::size_t DurableTree::durable_objects(std::uint64_t durable_before_us) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      end_, [&](const ObservedObject& object) { return is_judged(object, durable_before_us); }));
}

}  // namespace headcrash::fstests
