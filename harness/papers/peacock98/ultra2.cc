// Configures the machine and its file systems (ultra2.h).
#include "harness/papers/peacock98/ultra2.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "fs-adapters/ufs/under_test.h"
#include "harness/papers/peacock98/laddis_load.h"
#include "plugin/base/invariant.h"
#include "plugin/base/names.h"

namespace headcrash::experiment::peacock98 {
namespace {

constexpr std::uint32_t kOutstanding = 256;

std::string profile_of(const ServerChoice& choice) {
  std::string profile = choice.raid == Raid::raid0 ? "netra-raid0" : "netra-raid5";
  if (choice.presto == Presto::none) return profile;
  profile += "-presto";
  if (choice.presto == Presto::upper) return profile + "-upper";
  return choice.tuning == Tuning::vxld ? profile + "-beside-log" : profile;
}

bool marks_busy(Tuning tuning) {
  return tuning == Tuning::fast_fsck || tuning == Tuning::bmap_fast_fsck;
}

const char* scheme_of(Tuning tuning) {
  static constexpr auto kNames =
      base::names<Tuning>({"conventional-bsd", "netra-bmap", "netra-fast", "netra", "journal-data",
                           "journal-external-data"});
  return kNames[tuning].data();
}

Result<ufs::SchemeVariant> variant_of(const ServerChoice& choice) {
  std::string scheme = choice.scheme.empty() ? scheme_of(choice.tuning) : choice.scheme;
  if (choice.busy_map) scheme = "netra-map";
  auto variant = ufs::find_scheme_variant(scheme);
  if (!variant) return fail(name(choice.tuning), Cell::kNotBuilt);
  variant->block_copy = true;
  if (choice.hot_spot) variant->mount.allocation.placement = ufs::Placement::hot_spot;
  if (!marks_busy(choice.tuning)) return variant;
  variant->mount.needs.bmap_cache = choice.tuning == Tuning::bmap_fast_fsck;
  variant->mount.options.netra.flush_interval_ns = choice.flush_interval_s * model::kSecondNs;
  variant->mount.options.netra.flush_share_percent = choice.flush_percent;
  variant->mount.options.netra.marks_together = !choice.marks_alone;
  if (!choice.flushes_by_age)
    variant->syncer = os::SyncerOptions{.policy = os::SyncerOptions::Policy::none};
  return variant;
}

/// Returns the choice whose image `choice` uses. Images do not depend on Presto. UFS and soft
/// updates share images, because they use the same format and allocation.
ServerChoice maker_of(ServerChoice choice) {
  choice.presto = Presto::none;
  if (choice.scheme == "soft-updates") choice.scheme.clear();
  return choice;
}

using Image = std::shared_ptr<const MachineImage>;

/// Creates an image with the file set for the rate `set`. Extends the image `grown_from`, which has
/// the set for the rate `there`. If there is no such image, `grown_from` is null and `there` is 0.
Result<Image> make(const ServerChoice& choice, double set, Image grown_from, double there) {
  TRY(auto maker, machine_of(maker_of(choice)));
  maker.image = std::move(grown_from);
  if (set > 0)
    maker.populate_with_zeroes = [files = FileSet::of(set),
                                  before = there > 0 ? FileSet::of(there).files_of_process : 0](
                                     Vfs& vfs, const std::function<void()>& forget_data) {
      return files.make(vfs, forget_data, before);
    };
  return ModelledMachine::image_of(maker);
}

}  // namespace

const char* name(Tuning tuning) {
  constexpr const char* kNames[] = {"UFS",  "bmap",     "fast fsck", "bmap + fast fsck",
                                    "VxFS", "VxFS/VxLD"};
  return kNames[static_cast<std::size_t>(tuning)];
}

ServerChoice in_reading(ServerChoice choice, Reading reading) {
  choice.hot_spot = reading == Reading::hot_spot &&
                    (choice.tuning == Tuning::ufs || choice.tuning == Tuning::bmap);
  return choice;
}

ServerChoice with_flusher(ServerChoice choice, const FlusherSetting& setting) {
  choice.flush_interval_s = setting.interval_s;
  choice.flush_percent = setting.percent;
  return choice;
}

std::string name(const ServerChoice& choice) {
  std::string text = choice.raid == Raid::raid0 ? "RAID-0" : "RAID-5";
  if (choice.presto != Presto::none)
    text += choice.presto == Presto::both ? ", Presto" : ", Presto Upper only";
  text += fmt::format("; {}", choice.scheme.empty() ? name(choice.tuning) : choice.scheme);
  if (choice.size_bytes) text += fmt::format("; {} GB", *choice.size_bytes / kGib);
  if (choice.flush_interval_s != 30 || choice.flush_percent != 10)
    text += fmt::format("; flusher {} s/{} %", choice.flush_interval_s, choice.flush_percent);
  if (choice.flushes_by_age) text += "; fsflush on";
  if (choice.busy_map) text += "; map of busy groups";
  if (choice.hot_spot) text += "; hot spot";
  if (choice.marks_alone) text += "; each mark alone";
  if (choice.nfsds) text += fmt::format("; {} nfsds", *choice.nfsds);
  if (choice.group_size != "16M") text += fmt::format("; groups of {}", choice.group_size);
  if (choice.drives_in_order) text += "; requests served in order of arrival";
  if (choice.check_sectors != kClusterSectors)
    text += fmt::format("; checks of {} KiB", choice.check_sectors / 2);
  if (choice.append_percent != timed::laddis_load::kAppendPercent)
    text += fmt::format("; {} % of writes append", choice.append_percent);
  if (choice.log_size != "0") text += fmt::format("; log of {}", choice.log_size);
  if (choice.processor != 1) text += fmt::format("; processor x{:g}", choice.processor);
  return text;
}

os::TimeNs request_cpu_ns(const ServerChoice& choice) {
  return static_cast<os::TimeNs>(static_cast<double>(kRequestCpuNs) / choice.processor);
}

Result<ModelledMachineOptions> machine_of(const ServerChoice& choice) {
  TRY(auto variant, variant_of(choice));
  ModelledMachineOptions machine;
  machine.profile = profile_of(choice);
  machine.size_bytes = choice.size_bytes;
  if (choice.tuning == Tuning::vxld)
    machine.more_disks = {
        {.profile = choice.presto == Presto::none ? "sun-4.2g" : "netra-log-presto"}};
  machine.system = ufs::system_of(std::move(variant));
  machine.mkfs = {{"block-size", "8192"},
                  {"fragment-size", "1024"},
                  {"bytes-per-inode", "2048"},
                  {"group-size", choice.group_size}};
  if (marks_busy(choice.tuning)) {
    machine.mkfs["fast-check"] = "1";
    machine.mkfs["lazy-inodes"] = "1";
    if (choice.busy_map) machine.mkfs["busy-map"] = "1";
  }
  if (choice.tuning == Tuning::bmap || choice.tuning == Tuning::bmap_fast_fsck)
    machine.mkfs["bmap-cache"] = "1";
  if (choice.tuning == Tuning::vxfs) {
    machine.mkfs["group-size"] = "0";
    machine.mkfs["journal-size"] = choice.log_size;
  }
  machine.outstanding = kOutstanding;
  machine.drive_queue = {
      .depth = kOutstanding,
      .policy = choice.drives_in_order ? model::QueuePolicy::fcfs : model::QueuePolicy::c_look};
  machine.concatenated_sectors = kClusterSectors;
  machine.check_sectors = choice.check_sectors;
  machine.cache_bytes = kFileMemoryBytes;
  machine.image_cache_bytes = kImageCacheBytes;
  machine.copies_bytes = 0;
  machine.costs = scaled_costs(kI486At33Mhz, 1 / (kUltra2FasterThanI486 * choice.processor));
  return machine;
}

std::string image_of(const ServerChoice& choice) {
  const ServerChoice maker = maker_of(choice);
  return fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(maker.raid),
                     static_cast<int>(maker.tuning), maker.scheme, maker.busy_map, maker.hot_spot,
                     maker.group_size, maker.size_bytes.value_or(0), maker.log_size);
}

Result<ModelledMachineOptions> Images::with_set(const ServerChoice& choice, double operations_per_s,
                                                bool exactly) {
  auto machine = machine_of(choice);
  if (!machine) return machine;
  double set = operations_per_s;
  if (!exactly && set > 0) {
    const auto* const next =
        std::ranges::find_if(kSets, [&](double each) { return each >= operations_per_s; });
    if (next != std::end(kSets)) set = *next;
  }
  TRY(auto image, get(choice, set));
  machine->image = std::move(image);
  return machine;
}

Result<Images::Image> Images::get(const ServerChoice& choice, double set) {
  const std::string key = fmt::format("{} {}", image_of(choice), set);
  if (auto known = find(key)) return known;
  const auto* const next = std::ranges::lower_bound(kSets, set);
  const double there = next == std::begin(kSets) ? 0 : *std::prev(next);
  auto before = there > 0 ? get(choice, there) : Result<Image>();
  auto made = before ? make(choice, set, *std::move(before), there) : std::move(before);
  if (made)
    keep(key, *made);
  else
    give_up(key);
  return made;
}

Images::Image Images::find(const std::string& key) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto known = std::ranges::find(kept_, key, &Kept::key);
    if (known == kept_.end()) {
      kept_.push_front({.key = key});
      return nullptr;
    }
    if (known->image) {
      std::rotate(kept_.begin(), known, known + 1);
      return kept_.front().image;
    }
    made_.wait(lock);
  }
}

void Images::keep(const std::string& key, Image image) {
  const std::lock_guard lock(mutex_);
  std::ranges::find(kept_, key, &Kept::key)->image = std::move(image);
  for (auto last = kept_.end(); bytes_kept() > kKeptBytes && last != kept_.begin();) {
    --last;
    if (last->image && last->key != key) last = kept_.erase(last);
  }
  made_.notify_all();
}

std::uint64_t Images::bytes_kept() const {
  std::set<const MachineImage*> counted;
  std::uint64_t bytes = 0;
  for (const Kept& each : kept_)
    for (const MachineImage* image = each.image.get();
         image != nullptr && counted.insert(image).second; image = image->grown_from.get())
      bytes += image->bytes;
  return bytes;
}

void Images::give_up(const std::string& key) {
  const std::lock_guard lock(mutex_);
  kept_.erase(std::ranges::find(kept_, key, &Kept::key));
  made_.notify_all();
}

}  // namespace headcrash::experiment::peacock98
