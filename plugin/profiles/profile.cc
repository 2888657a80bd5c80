// Reading a drive's profile (the keys are explained in hp-c2447.toml) and checking that such a drive can
// exist.
#include "plugin/profiles/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "plugin/model/geometry.h"
#include "plugin/profiles/profile_reader.h"
#include "plugin/profiles/toml_table.h"

namespace headcrash::profiles {
namespace {

using model::DiskProfile;
using model::ZoneProfile;

constexpr std::uint32_t kSectorsMax = 1U << 30;

class ProfileReader {
 public:
  ProfileReader(const toml::table& root, std::string_view file) : root_(root) { errors_.file = file; }

  Result<Drive> read() {
    TomlTable top(&root_, "", errors_);
    if (top.offers("kind")) top.text("kind");  // whoever chose this reader has looked at it
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
  TomlTable open(TomlTable& top, const char* name) {
    TomlTable table(top.table(name), name, errors_);
    read_origin(table);
    return table;
  }
  void read_origin(TomlTable& table) {
    if (auto origin = table.origin()) origins_.push_back(*std::move(origin));
  }

  void read_geometry(TomlTable& top) {
    TomlTable t = open(top, "geometry");
    p_.heads = t.integer32("heads", 1, 256);
    p_.cylinders = t.integer32("cylinders", 1, 1'000'000);
    p_.capacity_sectors = t.integer("capacity-sectors", 1, std::uint64_t{1} << 40);
    p_.physical_sector_sectors = t.integer32("physical-sector-sectors", 1, 128);
    t.finish();
  }

  void read_rotation(TomlTable& top) {
    TomlTable t = open(top, "rotation");
    nominal_rpm_ = static_cast<double>(t.integer("nominal-rpm", 60, 100'000));
    p_.revolution_ps = static_cast<std::int64_t>(t.integer("period-ps", 100'000'000, 1'000'000'000'000));
    t.finish();
    const double period_rpm = 60e12 / static_cast<double>(p_.revolution_ps);
    if (std::abs(period_rpm / nominal_rpm_ - 1) > 0.02) {
      errors_.add("rotation.period-ps", fmt::format("is {:.0f} rpm, far from nominal-rpm", period_rpm),
                  "one revolution lasts 60e12 / rpm picoseconds");
    }
  }

  void read_seek(TomlTable& top) {
    TomlTable t = open(top, "seek");
    p_.seek.short_ns = t.milliseconds_list("short-ms");
    p_.seek.root_base_ns = t.milliseconds("root-base-ms");
    p_.seek.root_factor_ns = t.milliseconds("root-factor-ms");
    p_.seek.linear_from_cylinders = t.integer32("linear-from-cylinders", 1, 1'000'000);
    p_.seek.linear_base_ns = t.milliseconds("linear-base-ms");
    p_.seek.linear_per_cylinder_ns = t.milliseconds("linear-per-cylinder-ms");
    p_.seek.head_switch_ns = t.milliseconds("head-switch-ms");
    p_.seek.write_settle_ns = t.milliseconds("write-settle-ms");
    t.finish();
  }

  void read_command(TomlTable& top) {
    model::OverheadProfile& o = p_.overhead;
    TomlTable t = open(top, "command");
    o.read_miss_command_ns = t.milliseconds("read-miss-command-ms");
    o.read_hit_command_ns = t.milliseconds("read-hit-command-ms");
    o.read_data_preparation_ns = t.milliseconds("read-data-preparation-ms");
    o.read_reselect_ns = t.milliseconds("read-reselect-ms");
    o.read_completion_ns = t.milliseconds("read-completion-ms");
    o.read_watermark_permille = t.integer32("read-watermark-permille", 0, 1000);
    o.write_command_ns = t.milliseconds("write-command-ms");
    o.write_positioning_min_ns = t.milliseconds("write-positioning-min-ms");
    o.write_reselect_ns = t.milliseconds("write-reselect-ms");
    o.write_completion_ns = t.milliseconds("write-completion-ms");
    t.finish();
    TomlTable bus = open(top, "bus");
    o.bus_read_sector_ns = bus.milliseconds("read-sector-ms");
    o.bus_write_sector_ns = bus.milliseconds("write-sector-ms");
    bus.finish();
    TomlTable start = open(top, "bus-start");
    o.write_data_start_ns = start.milliseconds("write-data-start-ms");
    start.finish();
  }

  void read_buffers(TomlTable& top) {
    TomlTable read = open(top, "read-buffer");
    p_.read_buffer.segment_sectors = read.integer32("segment-sectors", 0, kSectorsMax);
    p_.read_buffer.read_ahead_sectors_max = read.integer32("read-ahead-sectors-max", 0, kSectorsMax);
    read.finish();
    TomlTable write = open(top, "write-cache");
    p_.write_cache.capacity_sectors = write.integer32("capacity-sectors", 0, kSectorsMax);
    p_.write_cache.high_water_sectors = write.integer32("high-water-sectors", 0, kSectorsMax);
    p_.write_cache.destage_sectors_max = write.integer32("destage-sectors-max", 0, kSectorsMax);
    p_.write_cache.idle_delay_ns = write.milliseconds("idle-delay-ms");
    write.finish();
    TomlTable features = open(top, "features");
    p_.trim = features.boolean("trim");
    features.finish();
  }

  void read_zones(TomlTable& top) {
    const auto list = top.tables("zone");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string name = fmt::format("zone[{}]", i);
      TomlTable t(list[i], name, errors_);
      if (i == 0 || t.has("origin")) read_origin(t);
      ZoneProfile zone;
      zone.first_cylinder = t.integer32("first-cylinder", 0, 1'000'000);
      zone.track_sectors = t.integer32("track-sectors", 1, 100'000);
      zone.track_skew_sectors = t.integer32("track-skew-sectors", 0, 100'000);
      zone.cylinder_skew_sectors = t.integer32("cylinder-skew-sectors", 0, 100'000);
      zone.start_offset_sectors = t.integer32("start-offset-sectors", 0, 100'000);
      zone.front_unused_sectors = t.integer32("front-unused-sectors", 0, kSectorsMax);
      zone.spare_tracks = t.integer32("spare-tracks", 0, kSectorsMax);
      zone.slipped_tracks = t.integers("slipped-tracks", kSectorsMax);
      t.finish();
      p_.zones.push_back(zone);
    }
  }

  void check_zone(std::size_t i) {
    const ZoneProfile& zone = p_.zones[i];
    const std::string name = fmt::format("zone[{}].", i);
    const std::uint32_t end = i + 1 < p_.zones.size() ? p_.zones[i + 1].first_cylinder : p_.cylinders;
    if ((i == 0 && zone.first_cylinder != 0) || end <= zone.first_cylinder) {
      errors_.add(name + "first-cylinder",
                  "zones must begin at cylinder 0, rise, and lie below geometry.cylinders",
                  "put the zones in order");
      return;
    }
    const std::uint64_t tracks = std::uint64_t{end - zone.first_cylinder} * p_.heads;
    const auto& slips = zone.slipped_tracks;
    if (tracks <= zone.spare_tracks ||
        (tracks - zone.spare_tracks) * zone.track_sectors <= zone.front_unused_sectors) {
      errors_.add(name + "spare-tracks", fmt::format("leaves no data in a zone of {} tracks", tracks),
                  "give fewer spares or unused sectors");
    } else if (slips.size() > zone.spare_tracks) {
      errors_.add(name + "slipped-tracks", "are more than the spare tracks", "raise spare-tracks");
    } else if (std::adjacent_find(slips.begin(), slips.end(), std::greater_equal<>()) != slips.end() ||
               (!slips.empty() && slips.back() >= tracks)) {
      errors_.add(name + "slipped-tracks",
                  fmt::format("must rise and stay below the zone's {} tracks", tracks),
                  "count tracks from the zone's first");
    } else if (zone.track_skew_sectors >= zone.track_sectors ||
               zone.cylinder_skew_sectors >= zone.track_sectors ||
               zone.start_offset_sectors >= zone.track_sectors) {
      errors_.add(name + "track-skew-sectors", "skews and the start offset must be below track-sectors",
                  "correct it");
    }
  }

  void check() {
    for (std::size_t i = 0; i < p_.zones.size(); ++i) check_zone(i);
    if (p_.seek.short_ns.size() >= p_.cylinders) {
      errors_.add("seek.short-ms", "has more distances than there are", "give at most cylinders - 1");
    }
    const model::WriteCacheProfile& cache = p_.write_cache;
    if (cache.capacity_sectors > 0 && (cache.high_water_sectors == 0 || cache.destage_sectors_max == 0 ||
                                       cache.high_water_sectors > cache.capacity_sectors)) {
      errors_.add("write-cache.high-water-sectors", "the marks must be above 0 and at most capacity-sectors",
                  "correct it, or set capacity-sectors = 0 for a drive without a write cache");
    }
    if (errors_.first) return;
    const std::uint64_t sectors = model::Geometry(p_).sectors();
    if (sectors != p_.capacity_sectors) {
      errors_.add("geometry.capacity-sectors",
                  fmt::format("the zones hold {} sectors, not {}", sectors, p_.capacity_sectors),
                  "correct the zones or the capacity");
    }
    if (p_.capacity_sectors % p_.physical_sector_sectors != 0) {
      errors_.add("geometry.physical-sector-sectors", "does not divide the capacity", "correct it");
    }
  }

  const toml::table& root_;
  ReadErrors errors_;
  DiskProfile p_;
  double nominal_rpm_ = 0;
  std::vector<Origin> origins_;
};

}  // namespace

Result<Drive> read_drive(const toml::table& root, std::string_view file) {
  return ProfileReader(root, file).read();
}

Result<DiskProfile> parse_profile(std::string_view text, std::string_view file) {
  return parse_toml(text, file).and_then([file](const toml::table& root) -> Result<DiskProfile> {
    return read_drive(root, file).map([](Drive drive) { return std::move(drive.profile); });
  });
}

}  // namespace headcrash::profiles
