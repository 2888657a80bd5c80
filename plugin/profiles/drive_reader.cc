// Reads and validates a drive's profile (hp-c2447.toml explains the keys).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "plugin/model/disk/geometry.h"
#include "plugin/profiles/profile.h"
#include "plugin/profiles/profile_reader.h"

namespace headcrash::profiles {
namespace {

using model::DiskProfile;
using model::ZoneProfile;

constexpr std::uint32_t kSectorsMax = 1U << 30;

using model::HeadOrder;
using model::QueuePolicy;
using model::ReadAheadEnd;
using model::Sparing;

constexpr std::array<Choice<Sparing>, 4> kSparings = {
    {{"zone", Sparing::zone},
     {"track", Sparing::track},
     {"cylinder", Sparing::cylinder},
     {"cylinder-range", Sparing::cylinder_range}}};
constexpr std::array<Choice<HeadOrder>, 2> kHeadOrders = {
    {{"rising", HeadOrder::rising}, {"serpentine", HeadOrder::serpentine}}};
constexpr std::array<Choice<ReadAheadEnd>, 2> kReadAheadEnds = {
    {{"segment-full", ReadAheadEnd::segment_full}, {"track-end", ReadAheadEnd::track_end}}};
constexpr std::array<Choice<QueuePolicy>, 5> kQueuePolicies = {
    {{"fcfs", QueuePolicy::fcfs},
     {"sstf", QueuePolicy::sstf},
     {"c-look", QueuePolicy::c_look},
     {"sptf", QueuePolicy::sptf},
     {"aged-sptf", QueuePolicy::aged_sptf}}};

class DriveReader {
 public:
  explicit DriveReader(const base::StrictTable& root) : root_(root) {
    errors_.place = root.subject("");
  }

  Result<Drive> read() {
    ProfileTable top(root_, errors_);
    if (top.has("kind")) top.text("kind");  // marks the key as used; the value has been checked
    p_.name = top.text("name");
    p_.title = top.text("title");
    read_geometry(top);
    read_rotation(top);
    read_seek(top);
    read_command(top);
    read_buffers(top);
    read_zones(top);
    top.finish();
    if (!errors_.first) check();
    if (errors_.first) return tl::unexpected<Error>(*errors_.first);
    return Drive{p_, nominal_rpm_, origins_};
  }

 private:
  ProfileTable open(ProfileTable& top, const char* name) {
    ProfileTable table = top.open(name);
    read_origin(table);
    return table;
  }
  void read_origin(ProfileTable& table) {
    if (auto origin = table.origin()) origins_.push_back(*std::move(origin));
  }

  void read_geometry(ProfileTable& top) {
    ProfileTable t = open(top, "geometry");
    p_.heads = t.integer32("heads", 1, 256);
    p_.cylinders = t.integer32("cylinders", 1, 1'000'000);
    p_.capacity_sectors = t.integer("capacity-sectors", 1, std::uint64_t{1} << 40);
    p_.physical_sector_sectors = t.integer32("physical-sector-sectors", 1, 128);
    if (t.has("tail-unused-sectors"))
      p_.tail_unused_sectors = t.integer("tail-unused-sectors", 0, std::uint64_t{1} << 40);
    if (t.has("head-order")) p_.head_order = t.one_of<HeadOrder>("head-order", kHeadOrders);
    if (t.has("sparing")) p_.sparing = t.one_of<Sparing>("sparing", kSparings);
    if (p_.sparing == Sparing::cylinder_range)
      p_.sparing_cylinders = t.integer32("sparing-cylinders", 1, 1'000'000);
    t.finish();
  }

  void read_rotation(ProfileTable& top) {
    ProfileTable t = open(top, "rotation");
    nominal_rpm_ = static_cast<double>(t.integer("nominal-rpm", 60, 100'000));
    p_.revolution_ps =
        static_cast<std::int64_t>(t.integer("period-ps", 100'000'000, 1'000'000'000'000));
    if (t.has("sector-lag-ps"))
      p_.sector_lag_ps = static_cast<std::int64_t>(t.integer("sector-lag-ps", 0, 1'000'000));
    t.finish();
    const double period_rpm = 60e12 / static_cast<double>(p_.revolution_ps);
    if (std::abs(period_rpm / nominal_rpm_ - 1) > 0.02) {
      errors_.add(
          "rotation.period-ps",
          fmt::format("corresponds to {:.0f} rpm, which is far from nominal-rpm", period_rpm),
          "one revolution takes 60e12 / rpm picoseconds");
    }
  }

  void read_seek(ProfileTable& top) {
    ProfileTable t = open(top, "seek");
    if (t.has("distances")) {
      p_.seek.distances = t.integers("distances", 1'000'000);
      p_.seek.times_ns = t.milliseconds_list("times-ms");
    } else {
      p_.seek.short_ns = t.milliseconds_list("short-ms");
      p_.seek.root_base_ns = t.milliseconds("root-base-ms");
      p_.seek.root_factor_ns = t.milliseconds("root-factor-ms");
      p_.seek.linear_from_cylinders = t.integer32("linear-from-cylinders", 1, 1'000'000);
      p_.seek.linear_base_ns = t.milliseconds("linear-base-ms");
      p_.seek.linear_per_cylinder_ns = t.milliseconds("linear-per-cylinder-ms");
    }
    p_.seek.head_switch_ns = t.milliseconds("head-switch-ms");
    p_.seek.write_settle_ns = t.signed_milliseconds("write-settle-ms");
    t.finish();
  }

  void read_command(ProfileTable& top) {
    model::OverheadProfile& o = p_.overhead;
    ProfileTable t = open(top, "command");
    o.read_miss_command = t.by_previous("read-miss-command-ms");
    o.read_hit_command = t.by_previous("read-hit-command-ms");
    o.read_data_preparation_ns = t.milliseconds("read-data-preparation-ms");
    o.read_reselect_ns = t.milliseconds("read-reselect-ms");
    o.read_completion_ns = t.milliseconds("read-completion-ms");
    o.read_watermark_permille = t.integer32("read-watermark-permille", 0, 1000);
    o.write_command = t.by_previous("write-command-ms");
    o.write_near_command =
        t.has("write-near-command-ms") ? t.by_previous("write-near-command-ms") : o.write_command;
    if (t.has("read-tail-sectors"))
      o.read_tail_sectors = t.integer32("read-tail-sectors", 0, 100'000);
    if (t.has("read-positioning-min-ms"))
      o.read_positioning_min_ns = t.milliseconds("read-positioning-min-ms");
    o.write_positioning_min_ns = t.milliseconds("write-positioning-min-ms");
    o.write_reselect_ns = t.milliseconds("write-reselect-ms");
    o.write_completion_ns = t.milliseconds("write-completion-ms");
    t.finish();
    ProfileTable bus = open(top, "bus");
    o.bus_read_sector_ns = bus.milliseconds("read-sector-ms");
    o.bus_write_sector_ns = bus.milliseconds("write-sector-ms");
    bus.finish();
    ProfileTable start = open(top, "bus-start");
    o.write_data_start_ns = start.milliseconds("write-data-start-ms");
    start.finish();
  }

  void read_buffers(ProfileTable& top) {
    ProfileTable read = open(top, "read-buffer");
    p_.read_buffer.segment_sectors = read.integer32("segment-sectors", 0, kSectorsMax);
    p_.read_buffer.read_ahead_sectors_max =
        read.integer32("read-ahead-sectors-max", 0, kSectorsMax);
    p_.read_buffer.segments = read.integer32("segments", 1, 1024);
    p_.read_buffer.write_segments = read.integer32("write-segments", 0, 1024);
    if (read.has("read-ahead-end"))
      p_.read_buffer.read_ahead_end = read.one_of<ReadAheadEnd>("read-ahead-end", kReadAheadEnds);
    if (read.has("keeps-requested"))
      p_.read_buffer.keeps_requested = read.boolean("keeps-requested");
    if (read.has("writes-take-over"))
      p_.read_buffer.writes_take_over = read.boolean("writes-take-over");
    if (read.has("after-sequential"))
      p_.read_buffer.after_sequential = read.boolean("after-sequential");
    if (read.has("whole-track")) p_.read_buffer.whole_track = read.boolean("whole-track");
    if (read.has("joins-at-head")) p_.read_buffer.joins_at_head = read.boolean("joins-at-head");
    if (read.has("resumes-on-hit")) p_.read_buffer.resumes_on_hit = read.boolean("resumes-on-hit");
    read.finish();
    ProfileTable write = open(top, "write-cache");
    p_.write_cache.capacity_sectors = write.integer32("capacity-sectors", 0, kSectorsMax);
    p_.write_cache.high_water_sectors = write.integer32("high-water-sectors", 0, kSectorsMax);
    p_.write_cache.destage_sectors_max = write.integer32("destage-sectors-max", 0, kSectorsMax);
    p_.write_cache.idle_delay_ns = write.milliseconds("idle-delay-ms");
    if (write.has("on-by-default")) p_.write_cache.on_by_default = write.boolean("on-by-default");
    write.finish();
    read_queue(top);
    ProfileTable features = open(top, "features");
    p_.trim = features.boolean("trim");
    if (features.has("zero-latency")) p_.zero_latency = features.boolean("zero-latency");
    if (features.has("tear")) p_.tear = features.tear("tear");
    features.finish();
  }

  void read_queue(ProfileTable& top) {
    if (!top.has("queue")) return;
    ProfileTable t = open(top, "queue");
    p_.queue.depth = t.integer32("depth", 1, 4096);
    p_.queue.policy = t.one_of<QueuePolicy>("policy", kQueuePolicies);
    if (p_.queue.policy == QueuePolicy::aged_sptf)
      p_.queue.aging_permille = t.integer32("aging-permille", 1, 100'000);
    t.finish();
  }

  void read_zones(ProfileTable& top) {
    for (ProfileTable& t : top.open_list("zone")) {
      if (p_.zones.empty() || t.has("origin")) read_origin(t);
      ZoneProfile zone;
      zone.first_cylinder = t.integer32("first-cylinder", 0, 1'000'000);
      if (t.has("cylinders")) zone.cylinders = t.integer32("cylinders", 1, 1'000'000);
      zone.track_sectors = t.integer32("track-sectors", 1, 100'000);
      zone.track_skew_sectors = t.integer32("track-skew-sectors", 0, 100'000);
      zone.cylinder_skew_sectors = t.integer32("cylinder-skew-sectors", 0, 100'000);
      zone.start_offset_sectors = t.integer32("start-offset-sectors", 0, 100'000);
      zone.front_unused_sectors = t.integer32("front-unused-sectors", 0, kSectorsMax);
      if (t.has("spare-sectors")) {
        zone.spare_sectors = t.integer32("spare-sectors", 0, kSectorsMax);
        zone.slipped_sectors = t.integers("slipped-sectors", kSectorsMax);
      } else {
        zone.spare_tracks = t.integer32("spare-tracks", 0, kSectorsMax);
        zone.slipped_tracks = t.integers("slipped-tracks", kSectorsMax);
      }
      t.finish();
      p_.zones.push_back(zone);
    }
  }

  /// Returns the number of physical sectors that share a spare area in a zone with `tracks` tracks.
  std::uint64_t stretch_sectors(const ZoneProfile& zone, std::uint64_t tracks) const {
    std::uint64_t stretch_tracks = tracks;
    if (p_.sparing == Sparing::track) stretch_tracks = 1;
    if (p_.sparing == Sparing::cylinder) stretch_tracks = p_.heads;
    if (p_.sparing == Sparing::cylinder_range)
      stretch_tracks =
          std::min<std::uint64_t>(tracks, std::uint64_t{p_.heads} * p_.sparing_cylinders);
    return stretch_tracks * zone.track_sectors;
  }

  void check_slips(const ZoneProfile& zone, const std::string& name, std::uint64_t tracks) {
    const std::uint64_t stretch = stretch_sectors(zone, tracks);
    const bool by_track = zone.slipped_sectors.empty();
    const auto& slips = by_track ? zone.slipped_tracks : zone.slipped_sectors;
    const char* key = by_track ? "slipped-tracks" : "slipped-sectors";
    const std::uint64_t unit = by_track ? zone.track_sectors : 1;
    const std::uint64_t spares =
        std::uint64_t{zone.spare_tracks} * zone.track_sectors + zone.spare_sectors;
    std::uint64_t worst = 0, same = 0;
    for (std::size_t k = 0; k < slips.size(); ++k) {
      const bool with_last = k > 0 && slips[k] * unit / stretch == slips[k - 1] * unit / stretch;
      same = with_last ? same + unit : unit;
      worst = std::max(worst, same);
    }
    if (std::adjacent_find(slips.begin(), slips.end(), std::greater_equal<>()) != slips.end() ||
        (!slips.empty() && slips.back() * unit >= tracks * zone.track_sectors)) {
      errors_.add(name + key,
                  fmt::format("must be ascending and below the zone's {} tracks", tracks),
                  "count from the zone's first track");
    } else if (worst > spares) {
      errors_.add(name + key, "exceed the number of spares", "raise the number of spares");
    }
  }

  void check_zone(std::size_t i) {
    const ZoneProfile& zone = p_.zones[i];
    const std::string name = fmt::format("zone[{}].", i);
    const std::uint32_t end =
        i + 1 < p_.zones.size() ? p_.zones[i + 1].first_cylinder : p_.cylinders;
    if ((i == 0 && zone.first_cylinder != 0) || end <= zone.first_cylinder) {
      errors_.add(name + "first-cylinder",
                  "zones must begin at cylinder 0, ascend, and stay below geometry.cylinders",
                  "put the zones in order");
      return;
    }
    if (zone.cylinders > end - zone.first_cylinder) {
      errors_.add(name + "cylinders", "overlap the next zone",
                  "correct it, or omit it for all cylinders");
      return;
    }
    const std::uint32_t cylinders = zone.cylinders > 0 ? zone.cylinders : end - zone.first_cylinder;
    const std::uint64_t tracks = std::uint64_t{cylinders} * p_.heads;
    const std::uint64_t all = tracks * zone.track_sectors;
    const std::uint64_t stretch = stretch_sectors(zone, tracks);
    const std::uint64_t stretches = (all + stretch - 1) / stretch;
    const std::uint64_t last_stretch = all - (stretches - 1) * stretch;
    const std::uint64_t spares =
        std::uint64_t{zone.spare_tracks} * zone.track_sectors + zone.spare_sectors;
    if (all >= std::uint64_t{1} << 32) {
      errors_.add(name + "track-sectors", "makes a zone larger than 2^32 sectors",
                  "split the zone");
    } else if (last_stretch <= spares || all - stretches * spares <= zone.front_unused_sectors) {
      errors_.add(name + "spare-tracks",
                  fmt::format("leaves no room for data in a zone of {} tracks", tracks),
                  "use fewer spares or unused sectors");
    } else if (zone.track_skew_sectors >= zone.track_sectors ||
               zone.cylinder_skew_sectors >= zone.track_sectors ||
               zone.start_offset_sectors >= zone.track_sectors) {
      errors_.add(name + "track-skew-sectors",
                  "skews and the start offset must be below track-sectors", "correct it");
    } else {
      check_slips(zone, name, tracks);
    }
  }

  void check_seek() {
    const model::SeekProfile& seek = p_.seek;
    if (seek.short_ns.size() >= p_.cylinders) {
      errors_.add("seek.short-ms", "has too many distances", "use at most cylinders - 1");
    }
    const auto& at = seek.distances;
    if (at.size() != seek.times_ns.size()) {
      errors_.add("seek.times-ms", "must have one time for each distance",
                  "complete the shorter list");
    } else if (!at.empty() &&
               (at.front() != 1 ||
                std::adjacent_find(at.begin(), at.end(), std::greater_equal<>()) != at.end())) {
      errors_.add("seek.distances", "must be ascending and begin with 1", "put them in order");
    }
  }

  void check() {
    for (std::size_t i = 0; i < p_.zones.size(); ++i) check_zone(i);
    check_seek();
    const model::WriteCacheProfile& cache = p_.write_cache;
    if (cache.capacity_sectors > 0 &&
        (cache.high_water_sectors == 0 || cache.destage_sectors_max == 0 ||
         cache.high_water_sectors > cache.capacity_sectors)) {
      errors_.add("write-cache.high-water-sectors", "must be above 0 and at most capacity-sectors",
                  "correct it, or set capacity-sectors = 0 for a drive without a write cache");
    }
    if (errors_.first) return;
    const std::uint64_t unused = p_.tail_unused_sectors;
    p_.tail_unused_sectors = 0;
    const std::uint64_t in_zones = model::Geometry(p_).sectors();
    p_.tail_unused_sectors = unused;
    const std::uint64_t sectors = in_zones > unused ? in_zones - unused : 0;
    if (sectors != p_.capacity_sectors) {
      errors_.add("geometry.capacity-sectors",
                  fmt::format("the zones hold {} sectors, not {}", sectors, p_.capacity_sectors),
                  "correct the zones or the capacity");
    }
    if (p_.capacity_sectors % p_.physical_sector_sectors != 0) {
      errors_.add("geometry.physical-sector-sectors", "does not divide the capacity", "correct it");
    }
  }

  const base::StrictTable& root_;
  ReadErrors errors_;
  DiskProfile p_;
  double nominal_rpm_ = 0;
  std::vector<Origin> origins_;
};

}  // namespace

Result<Drive> read_drive(const base::StrictTable& root) {
  return DriveReader(root).read();
}

}  // namespace headcrash::profiles
