#pragma once
// What a kind of drive is: every number that the model of a disk needs, as plain data. plugin/profiles reads
// it from TOML. Sectors are of 512 bytes; units are the last word of a name.

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/simulation.h"

namespace headcrash::model {

/// Cylinders with the same number of sectors per track.
struct ZoneProfile {
  std::uint32_t first_cylinder = 0;
  std::uint32_t track_sectors = 0;          ///< sectors on one track
  std::uint32_t track_skew_sectors = 0;     ///< from one head to the next in a cylinder
  std::uint32_t cylinder_skew_sectors = 0;  ///< from the last head of a cylinder to the first of the next
  std::uint32_t start_offset_sectors = 0;  ///< angle of the zone's first sector, measured from the index mark
  std::uint32_t front_unused_sectors = 0;  ///< at the start of the zone, without an LBN
  std::uint32_t spare_tracks = 0;  ///< tracks of the zone that hold no LBN as long as nothing is slipped
  std::vector<std::uint32_t>
      slipped_tracks;  ///< bad tracks, counted from the zone's first; the data moves on by one
};

/// Seek time by distance d in cylinders: a table for short ones, then a square root (acceleration), then a
/// line (coast).
struct SeekProfile {
  std::vector<TimeNs> short_ns;             ///< [i] is distance i+1
  std::uint32_t linear_from_cylinders = 0;  ///< d from here on: linear
  TimeNs root_base_ns = 0;                  ///< root_base + root_factor * sqrt(d)
  TimeNs root_factor_ns = 0;
  TimeNs linear_base_ns = 0;  ///< linear_base + linear_per_cylinder * d
  TimeNs linear_per_cylinder_ns = 0;
  TimeNs head_switch_ns = 0;   ///< another head of the same cylinder
  TimeNs write_settle_ns = 0;  ///< added to a seek or head switch before writing
};

/// Fixed costs of a command. The order in which they come is drawn in disk.cc.
struct OverheadProfile {
  TimeNs read_miss_command_ns = 0;  ///< from arrival until the arm may move
  TimeNs read_hit_command_ns = 0;   ///< from arrival until the data is looked up in the buffer
  TimeNs read_data_preparation_ns = 0;
  TimeNs read_reselect_ns = 0;  ///< back on the bus after a miss
  TimeNs read_completion_ns = 0;
  TimeNs write_command_ns = 0;          ///< from arrival until the arm may move
  TimeNs write_data_start_ns = 0;       ///< from arrival until the first data sector can start on the bus
  TimeNs write_positioning_min_ns = 0;  ///< the arm is not ready for writing earlier, even without a seek
  TimeNs write_reselect_ns = 0;
  TimeNs write_completion_ns = 0;
  TimeNs bus_read_sector_ns = 0;
  TimeNs bus_write_sector_ns = 0;
  std::uint32_t read_watermark_permille =
      0;  ///< share of a request in the buffer before the bus is asked for
};

struct ReadBufferProfile {
  std::uint32_t segment_sectors = 0;         ///< size of a segment; 0: no buffer that outlives a request
  std::uint32_t read_ahead_sectors_max = 0;  ///< beyond the end of the request; 0: no read-ahead
};

/// Used only with write-cache=on.
struct WriteCacheProfile {
  std::uint32_t capacity_sectors = 0;
  std::uint32_t high_water_sectors = 0;   ///< destage at once from here on, even when the host is busy
  std::uint32_t destage_sectors_max = 0;  ///< longest mechanical write made by joining neighbours
  TimeNs idle_delay_ns = 0;               ///< destage after so long without a command
};

struct DiskProfile {
  std::string name;   ///< "hp-c2447"
  std::string title;  ///< for people
  std::uint32_t heads = 0;
  std::uint32_t cylinders = 0;
  std::uint64_t capacity_sectors = 0;  ///< as printed on the drive; must equal what the zones give
  std::uint32_t physical_sector_sectors = 1;
  std::int64_t revolution_ps = 0;
  bool trim = false;  ///< trimmed sectors read as zeroes; without it a trim is completed and does nothing
  std::vector<ZoneProfile> zones;
  SeekProfile seek;
  OverheadProfile overhead;
  ReadBufferProfile read_buffer;
  WriteCacheProfile write_cache;
};

}  // namespace headcrash::model
