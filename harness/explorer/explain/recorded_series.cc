// Reads the events once and computes all series (recorded_series.h).
#include "harness/explorer/explain/recorded_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "harness/explorer/explain/range_map.h"
#include "plugin/record/recording.h"

namespace headcrash::explorer {
namespace {

using record::Event;
using report::TimelineSeries;

constexpr std::size_t kValuesMost = 1500;  // per series
constexpr std::int64_t kNarrowestNs = model::kMillisecondNs;
constexpr std::int64_t kStretches = 600;
// Maximum number of sectors that a rebuild skips because their contents are already correct.
constexpr std::uint64_t kRebuildGapSectors = 4096;
constexpr std::size_t kIncidentBytes = 512;

using Values = std::vector<std::pair<std::int64_t, double>>;

/// Reduces the number of values by keeping only the maximum of each group, so that peaks remain
/// visible.
Values fewer(Values values) {
  if (values.size() <= kValuesMost) return values;
  const std::size_t step = (values.size() + kValuesMost - 1) / kValuesMost;
  Values kept;
  for (std::size_t i = 0; i < values.size(); i += step) {
    const auto end =
        values.begin() + static_cast<std::ptrdiff_t>(std::min(i + step, values.size()));
    const auto greatest =
        std::max_element(values.begin() + static_cast<std::ptrdiff_t>(i), end,
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    kept.emplace_back(values[i].first, greatest->second);
  }
  return kept;
}

/// Reduces the number of points by keeping every n-th one.
Values some(Values values) {
  if (values.size() <= 2 * kValuesMost) return values;
  const std::size_t step = (values.size() + 2 * kValuesMost - 1) / (2 * kValuesMost);
  Values kept;
  for (std::size_t i = 0; i < values.size(); i += step) kept.push_back(values[i]);
  return kept;
}

/// A quantity that changes only at certain times and is constant in between.
class Level {
 public:
  void set(std::int64_t at_ns, double value) {
    if (!values_.empty() && values_.back().second == value) return;
    if (!values_.empty() && values_.back().first == at_ns) {
      values_.back().second = value;
    } else {
      values_.emplace_back(at_ns, value);
    }
  }
  const Values& values() const { return values_; }
  bool ever() const {
    return std::ranges::any_of(values_, [](const auto& each) { return each.second > 0; });
  }

 private:
  Values values_;
};

/// Tracks the sectors whose newest contents are only in a volatile cache: the writes have been
/// acknowledged, but have not reached the medium. For each sector, stores the number of the last
/// write to it.
class VolatileCache {
 public:
  void submitted(const Event& event) {
    forget(event, [](const Part&) { return true; });
    parts_.put(event.lba, event.sectors, {event.request, false});
    ranges_[event.request] = {event.lba, event.sectors};
  }
  void acknowledged(model::RequestId request) {
    const auto range = ranges_.find(request);
    if (range == ranges_.end()) return;
    parts_.each(range->second.first, range->second.second, [&](Part& part, std::uint64_t sectors) {
      if (part.request != request || part.acknowledged) return true;
      part.acknowledged = true;
      held_ += sectors;
      return true;
    });
    ranges_.erase(range);
  }
  void on_medium(const Event& event) {
    forget(event,
           [&](const Part& part) { return event.request == 0 || part.request == event.request; });
  }
  void clear() { *this = VolatileCache(); }
  std::uint64_t held_bytes() const { return held_ * model::kSectorBytes; }

 private:
  struct Part {
    model::RequestId request = 0;
    bool acknowledged = false;
  };
  template <typename Which>
  void forget(const Event& event, Which which) {
    parts_.each(event.lba, event.sectors, [&](const Part& part, std::uint64_t sectors) {
      if (!which(part)) return true;
      if (part.acknowledged) held_ -= sectors;
      return false;
    });
  }
  RangeMap<Part> parts_;
  std::unordered_map<model::RequestId, std::pair<std::uint64_t, std::uint32_t>> ranges_;
  std::uint64_t held_ = 0;
};

/// Tracks the contents of a battery-backed cache that have not yet been written to the device below
/// it.
class BatteryBackedCache {
 public:
  void took(const Event& event, std::uint64_t ordinal) {
    forget_before(event.lba, event.sectors, std::numeric_limits<std::uint64_t>::max());
    dirty_.put(event.lba, event.sectors, ordinal);
    held_ += event.sectors;
  }
  void below_submitted(const Event& event, std::uint64_t ordinal) {
    destages_[event.request] = {event.lba, event.sectors, ordinal};
  }
  void below_acknowledged(model::RequestId request) {
    const auto found = destages_.find(request);
    if (found == destages_.end()) return;
    const Destage& destage = found->second;
    forget_before(destage.lba, destage.sectors,
                  destage.ordinal);  // sectors rewritten since the destage began remain dirty
    destages_.erase(found);
  }
  std::uint64_t held_bytes() const { return held_ * model::kSectorBytes; }

 private:
  struct Destage {
    std::uint64_t lba = 0;
    std::uint32_t sectors = 0;
    std::uint64_t ordinal = 0;
  };
  void forget_before(std::uint64_t lba, std::uint64_t count, std::uint64_t ordinal) {
    dirty_.each(lba, count, [&](std::uint64_t brought, std::uint64_t sectors) {
      if (brought >= ordinal) return true;
      held_ -= sectors;
      return false;
    });
  }
  // Maps each range to the event number of the write that brought it into the cache.
  RangeMap<std::uint64_t> dirty_;
  std::unordered_map<model::RequestId, Destage> destages_;
  std::uint64_t held_ = 0;
};

/// Parses the number that follows `words` at the beginning of the text.
std::optional<std::uint32_t> number_after(std::string_view text, std::string_view words) {
  if (!text.starts_with(words)) return std::nullopt;
  std::uint32_t number = 0;
  const auto [end, problem] =
      std::from_chars(text.data() + words.size(), text.data() + text.size(), number);
  return problem == std::errc{} && end != text.data() + words.size() ? std::optional(number)
                                                                     : std::nullopt;
}

class Series {
 public:
  Series(const states::RunHistory& run, const FindGeometry& geometry)
      : run_(run), devices_(run.header().devices.size()) {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const record::RecordedDevice& device = run.header().devices[i];
      devices_[i].below = number_of(device.name + ".below");
      if (devices_[i].below) devices_[*devices_[i].below].above = i;
      if (device.medium && !devices_[i].below) devices_[i].geometry = geometry(device.profile);
    }
  }

  Result<RecordedSeries> make() {
    TRY(auto reader, record::RecordingReader::open(run_.path()));
    for (std::uint64_t ordinal = 0; ordinal < run_.events(); ++ordinal) {
      TRY(const auto event, reader.next(record::PayloadUse::skip));
      if (!event) break;
      if (ordinal == 0) first_ns_ = event->at;
      last_ns_ = event->at;
      TRY(take(reader, *event, ordinal));
    }
    return result();
  }

 private:
  struct Pending {
    model::Op op = model::Op::read;
    std::uint64_t lba = 0;
    std::uint32_t sectors = 0;
  };
  struct Device {
    // For a battery-backed cache, `below` is the index of the device under it. For that device,
    // `above` is the index of the cache.
    std::optional<std::size_t> below, above;
    std::unique_ptr<model::Geometry> geometry;
    std::unordered_map<model::RequestId, Pending> pending;
    Level inside;
    Values transfers;  // size of each request in bytes, in order of completion
    Values head;
    VolatileCache cache;
    Level held;
    BatteryBackedCache battery_backed;
    Level dirty;
    // For an array: index of the member that is being rebuilt.
    std::optional<std::size_t> rebuilding;
    std::uint64_t frontier = 0;  // for a member: first sector that is not rebuilt yet
    bool begun = false;
    Level rebuilt;
  };

  std::optional<std::size_t> number_of(const std::string& name) const {
    const auto& devices = run_.header().devices;
    const auto found = std::ranges::find(devices, name, &record::RecordedDevice::name);
    return found == devices.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - devices.begin()));
  }

  Result<void> take(const record::RecordingReader& reader, const Event& event,
                    std::uint64_t ordinal) {
    using record::Kind;
    if (event.device >= devices_.size()) return {};
    switch (event.kind) {
      case Kind::submit:
        submitted(event, ordinal);
        return {};
      case Kind::ack:
        acknowledged(event);
        return {};
      case Kind::media:
        if (!event.moved) on_medium(event, ordinal);
        return {};
      case Kind::fault:
        return happened(reader, event);
      case Kind::power:
      case Kind::opened:
        if (event.kind == Kind::opened || event.detail == 0) power_went(event.at);
        return {};
      case Kind::mark:
        return {};
    }
    return {};
  }

  void submitted(const Event& event, std::uint64_t ordinal) {
    Device& device = devices_[event.device];
    device.pending[event.request] = {event.op, event.lba, event.sectors};
    device.inside.set(event.at, static_cast<double>(device.pending.size()));
    if (event.op != model::Op::write && event.op != model::Op::write_zeroes) return;
    device.cache.submitted(event);
    device.held.set(event.at, static_cast<double>(device.cache.held_bytes()));
    if (device.above) devices_[*device.above].battery_backed.below_submitted(event, ordinal);
  }

  void acknowledged(const Event& event) {
    Device& device = devices_[event.device];
    const auto found = device.pending.find(event.request);
    if (found == device.pending.end()) return;
    const Pending request = found->second;
    device.pending.erase(found);
    device.inside.set(event.at, static_cast<double>(device.pending.size()));
    if (event.detail != static_cast<std::uint32_t>(model::Status::ok)) return;
    if (request.op == model::Op::read || request.op == model::Op::write)
      device.transfers.emplace_back(event.at,
                                    static_cast<double>(request.sectors) * model::kSectorBytes);
    if (request.op == model::Op::read && request.sectors > 0)
      moved_to(device, event.at, request.lba + request.sectors - 1);
    if (request.op != model::Op::write && request.op != model::Op::write_zeroes) return;
    device.cache.acknowledged(event.request);
    device.held.set(event.at, static_cast<double>(device.cache.held_bytes()));
    if (!device.above) return;
    Device& above = devices_[*device.above];
    above.battery_backed.below_acknowledged(event.request);
    above.dirty.set(event.at, static_cast<double>(above.battery_backed.held_bytes()));
  }

  void on_medium(const Event& event, std::uint64_t ordinal) {
    Device& device = devices_[event.device];
    if (event.sectors == 0) return;
    media_ = true;
    moved_to(device, event.at, event.lba + event.sectors - 1);
    device.cache.on_medium(event);
    device.held.set(event.at, static_cast<double>(device.cache.held_bytes()));
    if (device.below) {
      device.battery_backed.took(event, ordinal);
      device.dirty.set(event.at, static_cast<double>(device.battery_backed.held_bytes()));
    }
    rebuild_reached(event);
  }

  static void moved_to(Device& device, std::int64_t at, std::uint64_t lba) {
    if (device.geometry == nullptr || lba >= device.geometry->sectors()) return;
    device.head.emplace_back(at, device.geometry->locate(lba).cylinder);
  }

  void power_went(std::int64_t at) {
    for (Device& device : devices_) {
      device.pending.clear();
      device.inside.set(at, 0);
      device.cache.clear();
      device.held.set(at, 0);
    }
  }

  /// Processes an incident event. The event's text states which member of an array is being rebuilt
  /// (plugin/model/array/array_background.cc).
  Result<void> happened(const record::RecordingReader& reader, const Event& event) {
    std::string text(std::min<std::size_t>(event.payload_bytes, kIncidentBytes), '\0');
    if (text.empty()) return {};
    TRY(reader.read_at(event.bytes_at, std::as_writable_bytes(std::span(text))));
    const auto member = number_after(text, "rebuild of member ");
    if (!member) return {};
    const std::string& array = run_.header().devices[event.device].name;
    const auto index = number_of(fmt::format("{}.{}", array, *member));
    if (!index) return {};
    Device& of = devices_[*index];
    if (text.ends_with(" ended") || text.ends_with(" given up")) {
      devices_[event.device].rebuilding.reset();
      return {};
    }
    devices_[event.device].rebuilding = *index;
    of.begun = false;
    if (of.rebuilt.values().empty()) of.rebuilt.set(event.at, 0);
    return {};
  }

  /// Updates the progress of a rebuild. A rebuild writes its member from start to end. Writes that
  /// do not continue this sequence are therefore not counted.
  void rebuild_reached(const Event& event) {
    const bool rebuilt = std::ranges::any_of(
        devices_, [&](const Device& each) { return each.rebuilding == event.device; });
    if (!rebuilt) return;
    Device& member = devices_[event.device];
    if (!member.begun || (event.lba <= member.frontier + kRebuildGapSectors &&
                          event.lba + event.sectors > member.frontier)) {
      member.begun = true;
      member.frontier = event.lba + event.sectors;
      member.rebuilt.set(event.at, static_cast<double>(member.frontier * model::kSectorBytes));
    }
  }

  /// Returns the throughput in intervals of equal length.
  Values rates(const Values& transfers, std::int64_t width_ns) const {
    std::map<std::int64_t, double> bytes;
    for (const auto& [at, amount] : transfers) bytes[(at - first_ns_) / width_ns] += amount;
    Values values;
    std::int64_t expected = 0;
    for (const auto& [index, amount] : bytes) {
      if (index != expected) values.emplace_back(first_ns_ + expected * width_ns, 0);
      values.emplace_back(first_ns_ + index * width_ns,
                          amount * 1e9 / static_cast<double>(width_ns));
      expected = index + 1;
    }
    values.emplace_back(first_ns_ + expected * width_ns, 0);
    return values;
  }

  RecordedSeries result() {
    using Unit = TimelineSeries::Unit;
    using Shape = TimelineSeries::Shape;
    RecordedSeries all;
    const auto& headers = run_.header().devices;
    const std::int64_t width_ns = std::max(kNarrowestNs, (last_ns_ - first_ns_) / kStretches);
    bool any_head = false, any_battery = false, any_rebuild = false;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      Device& device = devices_[i];
      const auto add = [&](const char* label, Unit unit, Shape shape, Values values) {
        all.series.push_back({.device = i,
                              .label = label,
                              .unit = unit,
                              .shape = shape,
                              .values = std::move(values)});
      };
      if (device.inside.ever())
        add("queue", Unit::requests, Shape::steps, fewer(device.inside.values()));
      if (!device.transfers.empty())
        add("throughput", Unit::bytes_per_second, Shape::steps, rates(device.transfers, width_ns));
      if (device.head.size() > 1) {
        any_head = true;
        Values seeks;
        for (std::size_t k = 1; k < device.head.size(); ++k)
          seeks.emplace_back(device.head[k].first,
                             std::abs(device.head[k].second - device.head[k - 1].second));
        add("head", Unit::cylinders, Shape::line, some(device.head));
        add("seeks", Unit::cylinders, Shape::spikes, fewer(std::move(seeks)));
      }
      if (media_ && headers[i].medium && device.held.ever())
        add("volatile cache", Unit::bytes, Shape::steps, fewer(device.held.values()));
      if (device.dirty.ever()) {
        any_battery = true;
        add("NVRAM, dirty", Unit::bytes, Shape::steps, fewer(device.dirty.values()));
      }
      if (!device.rebuilt.values().empty()) {
        any_rebuild = true;
        add("rebuilt", Unit::bytes, Shape::steps, fewer(device.rebuilt.values()));
      }
    }
    explain(all, width_ns, any_head, any_battery, any_rebuild);
    return all;
  }

  void explain(RecordedSeries& all, std::int64_t width_ns, bool any_head, bool any_battery,
               bool any_rebuild) const {
    const auto& headers = run_.header().devices;
    all.notes.push_back(fmt::format("Throughput is a mean over intervals of {:.4g} ms.",
                                    static_cast<double>(width_ns) / 1e6));
    if (any_head) {
      all.notes.emplace_back(
          "Head positions are shown when a write reaches the medium and when a read completes "
          "(possibly from a cache). Movements in between are not recorded. "
          "Cylinder numbers follow the drive's profile.");
    } else if (!media_) {
      all.notes.emplace_back(
          "This recording has no media writes, and therefore no head positions, seeks or cache "
          "contents.");
    } else {
      all.notes.emplace_back(
          "No device of this recording is a disk with a known geometry, so no heads are shown.");
    }
    const bool batteries =
        std::ranges::any_of(devices_, [](const Device& each) { return each.below.has_value(); });
    if (batteries && !any_battery)
      all.notes.emplace_back("The battery-backed cache never contained dirty data.");
    bool array = false;
    for (std::size_t i = 0; i < headers.size(); ++i)
      array = array || (!headers[i].medium && !devices_[i].below);
    if (array && !any_rebuild) all.notes.emplace_back("No member was rebuilt.");
    if (any_rebuild)
      all.notes.emplace_back(
          "The progress of a rebuild is estimated from the member's consecutive writes, because "
          "the array's progress is not recorded.");
  }

  const states::RunHistory& run_;
  std::vector<Device> devices_;
  std::int64_t first_ns_ = 0, last_ns_ = 0;
  bool media_ = false;
};

}  // namespace

Result<RecordedSeries> recorded_series(const states::RunHistory& run,
                                       const FindGeometry& geometry) {
  return Series(run, geometry).make();
}

}  // namespace headcrash::explorer
