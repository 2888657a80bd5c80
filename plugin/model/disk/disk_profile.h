#pragma once
// The parameters of a drive type, as plain data; plugin/profiles reads them from TOML. Sectors have
// 512 bytes. A name ends with its unit.

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/core/simulation.h"
#include "plugin/model/core/tear.h"

namespace headcrash::model {

/// Cylinders with the same number of sectors per track.
struct ZoneProfile {
  std::uint32_t first_cylinder = 0;
  std::uint32_t cylinders = 0;      ///< cylinders with data; 0: all cylinders up to the next zone
  std::uint32_t track_sectors = 0;  ///< sectors on one track
  std::uint32_t track_skew_sectors = 0;  ///< skew from one head to the next in a cylinder
  /// Skew from the last head of a cylinder to the first of the next.
  std::uint32_t cylinder_skew_sectors = 0;
  /// Angle of the zone's first sector, from the index mark.
  std::uint32_t start_offset_sectors = 0;
  std::uint32_t front_unused_sectors = 0;  ///< at the start of the zone, without an LBN
  std::uint32_t spare_tracks = 0;          ///< tracks without an LBN unless a track is slipped
  /// Bad tracks, counted from the zone's first track. The data of each and of all later tracks
  /// moves on by one track.
  std::vector<std::uint32_t> slipped_tracks;
  std::uint32_t spare_sectors = 0;             ///< at the end of each spare area (Sparing)
  std::vector<std::uint32_t> slipped_sectors;  ///< bad sectors, counted from the zone's first
};

/// The unit of the medium that has spare sectors at its end. The spare sectors take the data
/// displaced by bad sectors.
enum class Sparing : std::uint8_t { zone, track, cylinder, cylinder_range };

/// The order of heads. Serpentine goes up in one cylinder and down in the next, so a change of
/// cylinder keeps the head.
enum class HeadOrder : std::uint8_t { rising, serpentine };

/// Seek time as a function of the distance d in cylinders. The function is either a linear
/// interpolation of measured points, or a table for short distances, followed by a square root
/// (acceleration) and a line (coast).
struct SeekProfile {
  std::vector<std::uint32_t> distances;     ///< ascending, from 1; empty: use the curve below
  std::vector<TimeNs> times_ns;             ///< [i] belongs to distances[i]
  std::vector<TimeNs> short_ns;             ///< [i] is distance i+1
  std::uint32_t linear_from_cylinders = 0;  ///< from this distance on: linear
  TimeNs root_base_ns = 0;                  ///< root_base + root_factor * sqrt(d)
  TimeNs root_factor_ns = 0;
  TimeNs linear_base_ns = 0;  ///< linear_base + linear_per_cylinder * d
  TimeNs linear_per_cylinder_ns = 0;
  TimeNs head_switch_ns = 0;  ///< time to switch to another head of the same cylinder
  /// Added to a seek or head switch before a write; extracted values may be negative.
  TimeNs write_settle_ns = 0;
};

/// A cost that depends on the type of the preceding command.
struct ByPrevious {
  TimeNs after_read_ns = 0;
  TimeNs after_write_ns = 0;
  bool operator==(const ByPrevious&) const = default;
};

/// Fixed costs of a command. disk.cc shows their order.
struct OverheadProfile {
  ByPrevious read_miss_command;  ///< from arrival until the arm may move
  ByPrevious read_hit_command;   ///< from arrival until the buffer is searched
  /// Earliest time at which the arm is ready for reading, even without a seek.
  TimeNs read_positioning_min_ns = 0;
  TimeNs read_data_preparation_ns = 0;
  TimeNs read_reselect_ns = 0;  ///< reconnecting to the bus after a miss
  TimeNs read_completion_ns = 0;
  ByPrevious write_command;       ///< from arrival until the arm may move
  ByPrevious write_near_command;  ///< the same, for a write to the arm's current cylinder
  /// From arrival until the first data sector may start on the bus.
  TimeNs write_data_start_ns = 0;
  /// Earliest time at which the arm is ready for writing, even without a seek.
  TimeNs write_positioning_min_ns = 0;
  TimeNs write_reselect_ns = 0;
  TimeNs write_completion_ns = 0;
  TimeNs bus_read_sector_ns = 0;
  TimeNs bus_write_sector_ns = 0;
  /// Share of a request in the buffer before the bus is requested.
  std::uint32_t read_watermark_permille = 0;
  /// The last N sectors are sent only when all of them have been read.
  std::uint32_t read_tail_sectors = 0;
};

/// Additional condition that ends read-ahead, besides the limits in sectors.
enum class ReadAheadEnd : std::uint8_t { segment_full, track_end };

struct ReadBufferProfile {
  /// Size of a segment; 0: data stays in the buffer only during its request.
  std::uint32_t segment_sectors = 0;
  std::uint32_t read_ahead_sectors_max = 0;  ///< beyond the end of the request; 0: no read-ahead
  std::uint32_t segments = 1;                ///< number of segments for data that was read
  std::uint32_t write_segments = 0;  ///< number of segments for written data that may be read again
  ReadAheadEnd read_ahead_end = ReadAheadEnd::segment_full;
  bool keeps_requested = true;    ///< sent data stays readable; false: only read-ahead data does
  bool writes_take_over = false;  ///< a write uses the whole buffer and discards read data
  /// Read-ahead only after a read that begins where the preceding one ended.
  bool after_sequential = false;
  /// Read-ahead begins when the head arrives at the track and lasts one revolution, so the sectors
  /// before the request are buffered, too.
  bool whole_track = false;
  /// A read joins the read-ahead if it begins with the sector that is arriving under the head. If
  /// false, such a read is a miss: it stops the read-ahead and waits for a revolution.
  bool joins_at_head = false;
  /// After a hit, the arm returns and resumes an interrupted read-ahead.
  bool resumes_on_hit = true;
};

/// The drive's scheduling policy.
enum class QueuePolicy : std::uint8_t { fcfs, sstf, c_look, sptf, aged_sptf };

struct QueueProfile {
  /// Number of commands that the drive schedules; further commands wait in arrival order.
  std::uint32_t depth = 1;
  QueuePolicy policy = QueuePolicy::fcfs;
  /// aged_sptf: share of the waiting time subtracted from the positioning time
  std::uint32_t aging_permille = 0;
};

/// The write cache, used only if the device is configured with write-cache=on.
struct WriteCacheProfile {
  std::uint32_t capacity_sectors = 0;
  /// Destage at once above this level, even if the host is busy.
  std::uint32_t high_water_sectors = 0;
  std::uint32_t destage_sectors_max = 0;  ///< limit for a media write that joins neighbours
  TimeNs idle_delay_ns = 0;               ///< destage after this time without a command
  bool on_by_default = false;             ///< factory setting; DiskOptions::write_cache decides
};

struct DiskProfile {
  std::string name;   ///< "hp-c2447"
  std::string title;  ///< full name of the drive, for reports
  std::uint32_t heads = 0;
  std::uint32_t cylinders = 0;
  std::uint64_t capacity_sectors = 0;  ///< as printed on the drive; must match the zones
  std::uint32_t physical_sector_sectors = 1;
  std::uint64_t tail_unused_sectors = 0;  ///< at the end of the last zone, without an LBN
  std::int64_t revolution_ps = 0;
  /// How far the platters fall behind with each sector under a head.
  std::int64_t sector_lag_ps = 0;
  Sparing sparing = Sparing::zone;
  std::uint32_t sparing_cylinders = 1;  ///< for Sparing::cylinder_range
  HeadOrder head_order = HeadOrder::rising;
  bool zero_latency = false;  ///< a transfer of a track may start at any of its sectors
  bool trim = false;  ///< trimmed sectors read as zeroes; if false, a trim completes without effect
  Tear tear = Tear::silent;  ///< unless DiskOptions override it
  std::vector<ZoneProfile> zones;
  SeekProfile seek;
  OverheadProfile overhead;
  ReadBufferProfile read_buffer;
  WriteCacheProfile write_cache;
  QueueProfile queue;
};

}  // namespace headcrash::model
