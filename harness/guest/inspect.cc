// Executes an `inspect` request (inspect.h).
#include "harness/guest/inspect.h"

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/guest/dump.h"
#include "harness/guest/kernel.h"
#include "harness/guest/posix_vfs.h"
#include "harness/guest/use.h"
#include "plugin/base/processor_ticks.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::guest {
namespace {

using nlohmann::json;

// Maximum size of the entries in one event. A message is limited to 1 MiB.
constexpr std::size_t kBatchBytes = 48 << 10;

/// A tree, stored as hashes of the fields of each object. Inode numbers are not compared directly,
/// because a file system without inodes assigns new numbers at each mount. Instead, the tree
/// records which objects share an inode.
class SeenTree {
 public:
  void add(const json& entry) {
    Object object{.path = entry.value("path", ""), .fields = {}};
    for (const auto& [key, value] : entry.items()) {
      // may change at an unmount, which may free blocks beyond the end of a file
      if (key == "allocated") continue;
      std::size_t hash = std::hash<json>{}(value);
      if (key == "inode")
        hash = first_with_.try_emplace(value.get<std::uint64_t>(), objects_.size()).first->second;
      object.fields.emplace_back(key, hash);
    }
    objects_.push_back(std::move(object));
  }

  /// Describes the first object that differs, or returns an empty string if the trees are equal.
  std::string difference(const SeenTree& other) const {
    for (std::size_t i = 0; i < std::max(objects_.size(), other.objects_.size()); ++i) {
      if (i >= objects_.size()) return other.objects_[i].path + " is new";
      if (i >= other.objects_.size()) return objects_[i].path + " is gone";
      const Object& one = objects_[i];
      const Object& now = other.objects_[i];
      if (one.path != now.path)
        return one.path < now.path ? one.path + " is gone" : now.path + " is new";
      std::string changed;
      for (const auto& field : one.fields)
        if (std::ranges::find(now.fields, field) == now.fields.end()) changed += " " + field.first;
      for (const auto& field : now.fields)
        if (std::ranges::find(one.fields, field.first, &Field::first) == one.fields.end())
          changed += " " + field.first;
      if (!changed.empty()) return one.path + " has changed:" + changed;
    }
    return {};
  }

 private:
  using Field = std::pair<std::string, std::size_t>;
  struct Object {
    std::string path;
    std::vector<Field> fields;
  };
  std::vector<Object> objects_;
  /// Maps each inode to the index of the first object that has it.
  std::map<std::uint64_t, std::size_t> first_with_;
};

/// Collects entries into events of limited size.
class EntryBatches {
 public:
  explicit EntryBatches(std::function<void(json)> send) : send_(std::move(send)) {}

  void add(const json& entry, std::size_t bytes) {
    if (send_ == nullptr) return;
    if (bytes_ + bytes > kBatchBytes) flush();
    entries_.push_back(entry);
    bytes_ += bytes;
  }
  void flush() {
    if (entries_.empty()) return;
    send_({{"event", "entries"}, {"entries", std::exchange(entries_, json::array())}});
    bytes_ = 0;
  }

 private:
  std::function<void(json)> send_;
  json entries_ = json::array();
  std::size_t bytes_ = 0;
};

/// A stopwatch for the steps of a request. In virtual time it measures the host's time.
class StepWatch {
 public:
  /// `ticks_per_ms` is the frequency of the host's processor counter. If it is 0, laps are measured
  /// with the guest's clock.
  explicit StepWatch(double ticks_per_ms) : ticks_per_ms_(ticks_per_ms) {}

  /// Returns the time in ms since construction or the last lap().
  double lap() {
    const std::uint64_t start = std::exchange(ticks_, base::processor_ticks());
    const double real_ms = watch_.lap();
    return ticks_per_ms_ > 0 ? static_cast<double>(ticks_ - start) / ticks_per_ms_ : real_ms;
  }

 private:
  double ticks_per_ms_;
  std::uint64_t ticks_ = base::processor_ticks();
  base::Stopwatch watch_;
};

struct InspectRequest {
  std::string source, target, type, options;
  double ticks_per_ms = 0;  ///< for StepWatch
  bool twice = false;       ///< mount a second time, and compare with the first tree
};

tl::unexpected<InspectRefusal> refuse_inspection(std::string what, Errno error) {
  return tl::unexpected(InspectRefusal{std::move(what), error});
}

/// Verifies that the disk and the disk for marks are those that the host has loaded.
tl::expected<void, InspectRefusal> is_meant(const json& request, const std::string& source) {
  const auto bytes = drop_cached_pages(source);
  if (!bytes) return refuse_inspection(source, bytes.error());
  if (request.contains("bytes") && request["bytes"].get<std::uint64_t>() != *bytes)
    return refuse_inspection(source + " does not have the expected size", {.value = ESTALE});
  if (request.contains("flush") && request["flush"].get<std::string>() != write_cache_of(source))
    return refuse_inspection(
        source + " has its write cache set to \"" + write_cache_of(source) + "\"",
        {.value = ESTALE});
  if (!request.contains("nonce")) return {};
  const std::string mark = request.at("mark").get<std::string>();
  const auto nonce = read_nonce(mark);
  if (!nonce) return refuse_inspection(mark, nonce.error());
  if (*nonce != request["nonce"].get<std::string>())
    return refuse_inspection(mark + " does not have the expected nonce", {.value = ESTALE});
  return {};
}

/// Returns true for errors that corrupted data on a disk causes. Linux returns EUCLEAN for
/// corrupted metadata and EBADMSG for a wrong checksum.
bool is_damage(Errno error) {
  return error.value == EUCLEAN || error.value == EBADMSG || error.value == EIO;
}

/// Mounts, dumps, optionally uses, and unmounts the file system. Adds the times of these steps to
/// `answer`, or the error if the mount was refused.
tl::expected<SeenTree, InspectRefusal> inspect_once(const InspectRequest& asked, bool use,
                                                    EntryBatches batches, json& answer) {
  StepWatch clock(asked.ticks_per_ms);
  SeenTree seen;
  const auto mounted = mount_file_system(asked.source, asked.target, asked.type, asked.options);
  answer["mount_ms"] = clock.lap();
  answer["mounted"] = mounted.has_value();
  if (!mounted && mounted.error().value == ENODEV && !kernel_knows(asked.type))
    return tl::unexpected(InspectRefusal{
        .what = kUnknownType + asked.type, .error = mounted.error(), .unknown_type = true});
  if (!mounted) {
    answer["error"] = std::error_code(mounted.error().value, std::generic_category()).message();
    answer["errno"] = mounted.error().value;
    return seen;
  }
  UsabilityTest usability;
  VfsResult<std::uint64_t> entries = tl::unexpected(Errno{});
  {
    PosixVfs vfs(asked.target);
    entries = dump_tree(vfs, [&](const json& entry) {
      const std::string text = entry.dump(-1, ' ', false, json::error_handler_t::replace);
      batches.add(entry, text.size());
      if (asked.twice) seen.add(entry);
      if (use) usability.add(entry);
    });
  }
  batches.flush();
  answer["dump_ms"] = clock.lap();
  if (use && entries) {
    PosixVfs vfs(asked.target);
    answer["unusable"] = usability.use_and_empty(vfs);
    answer["use_ms"] = clock.lap();
  }
  const auto unmounted = unmount_file_system(asked.target);
  answer["unmount_ms"] = clock.lap();
  if (!entries && !is_damage(entries.error()))
    return refuse_inspection("the tree of " + asked.source, entries.error());
  if (!unmounted) return refuse_inspection("unmount " + asked.source, unmounted.error());
  if (entries) {
    answer["entries"] = *entries;
    return seen;
  }
  answer["mounted"] = false;
  answer["error"] = "mounted, but the root directory cannot be read: " +
                    std::error_code(entries.error().value, std::generic_category()).message();
  answer["errno"] = entries.error().value;
  return seen;
}

}  // namespace

tl::expected<json, InspectRefusal> inspect(const json& request,
                                           const std::function<void(json)>& send) {
  const InspectRequest asked{.source = request.at("source").get<std::string>(),
                             .target = request.at("target").get<std::string>(),
                             .type = request.at("type").get<std::string>(),
                             .options = request.value("options", ""),
                             .ticks_per_ms = request.value("ticks_per_ms", 0.0),
                             .twice = request.value("again", false)};
  StepWatch watch(asked.ticks_per_ms);
  if (request.value("quick", false)) {
    shorten_way(asked.source);
  } else {
    restore_ways();
  }
  if (const auto meant = is_meant(request, asked.source); !meant)
    return tl::unexpected(meant.error());
  json answer{{"verify_ms", watch.lap()}};
  const bool use = request.value("use", false);
  TRY(const auto first, inspect_once(asked, use && !asked.twice, EntryBatches(send), answer));
  if (asked.twice && answer["mounted"].get<bool>()) {
    json second;
    TRY(const auto seen, inspect_once(asked, use, EntryBatches(nullptr), second));
    second["difference"] = first.difference(seen);
    answer["again"] = std::move(second);
  }
  return answer;
}

}  // namespace headcrash::guest
