#pragma once
// The parameters of a drive type, as plain data; plugin/profiles reads them from TOML. Sectors are
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
  /// Skew from the last head of one cylinder to the first head of the next.
  std::uint32_t cylinder_skew_sectors = 0;
  /// Angle of the zone's first sector, from the index mark.
  std::uint32_t start_offset_sectors = 0;
  std::uint32_t front_unused_sectors = 0;  ///< sectors without an LBN at the start of the zone
  std::uint32_t spare_tracks = 0;          ///< tracks without an LBN unless a track is slipped
  /// Bad tracks, counted from the zone's first track. The data of each bad track and of all later
  /// tracks shifts by one track.
  std::vector<std::uint32_t> slipped_tracks;
  std::uint32_t spare_sectors = 0;             ///< at the end of each spare area (see Sparing)
  std::vector<std::uint32_t> slipped_sectors;  ///< bad sectors, counted from the zone's first
};

/// The unit of the medium that has spare sectors at its end. They take up the data displaced by bad
/// sectors.
enum class Sparing : std::uint8_t { zone, track, cylinder, cylinder_range };

/// The order of heads. Serpentine goes up in one cylinder and down in the next, so that moving to
/// the next cylinder needs no head switch.
enum class HeadOrder : std::uint8_t { rising, serpentine };

/// Seek time as a function of the distance d in cylinders. The function is either a linear
/// interpolation of measured points, or a table for short distances, followed by a square root
/// (acceleration) and a line (coast).
struct SeekProfile {
  std::vector<std::uint32_t> distances;     ///< ascending, from 1; empty to use the curve below
  std::vector<TimeNs> times_ns;             ///< [i] belongs to distances[i]
  std::vector<TimeNs> short_ns;             ///< [i] is for distance i+1
  std::uint32_t linear_from_cylinders = 0;  ///< the linear part applies from this distance on
  TimeNs root_base_ns = 0;                  ///< root_base + root_factor * sqrt(d)
  TimeNs root_factor_ns = 0;
  TimeNs linear_base_ns = 0;  ///< linear_base + linear_per_cylinder * d
  TimeNs linear_per_cylinder_ns = 0;
  TimeNs head_switch_ns = 0;  ///< time to switch to another head of the same cylinder
  /// Added to a seek or head switch before a write; values extracted from drives may be negative.
  TimeNs write_settle_ns = 0;
};

/// A cost that depends on the type of the previous command.
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
  ByPrevious write_near_command;  ///< likewise, for a write to the arm's current cylinder
  /// From arrival until the first data sector may start on the bus.
  TimeNs write_data_start_ns = 0;
  /// Earliest time at which the arm is ready for writing, even without a seek.
  TimeNs write_positioning_min_ns = 0;
  TimeNs write_reselect_ns = 0;
  TimeNs write_completion_ns = 0;
  TimeNs bus_read_sector_ns = 0;
  TimeNs bus_write_sector_ns = 0;
  /// Fraction of a request that must be in the buffer before the bus is requested.
  std::uint32_t read_watermark_permille = 0;
  /// The last N sectors are sent only once all of them have been read.
  std::uint32_t read_tail_sectors = 0;
};

/// An additional condition that ends read-ahead, besides the limits in sectors.
enum class ReadAheadEnd : std::uint8_t { segment_full, track_end };

struct ReadBufferProfile {
  /// Size of a segment; 0 if data stays in the buffer only during its request.
  std::uint32_t segment_sectors = 0;
  /// beyond the end of the request; 0 disables read-ahead
  std::uint32_t read_ahead_sectors_max = 0;
  std::uint32_t segments = 1;  ///< number of segments for read data
  /// number of segments for written data, which may then be read
  std::uint32_t write_segments = 0;
  ReadAheadEnd read_ahead_end = ReadAheadEnd::segment_full;
  bool keeps_requested = true;    ///< sent data stays readable; false: only read-ahead data does
  bool writes_take_over = false;  ///< a write uses the whole buffer and discards read data
  /// Read-ahead only after a read that begins where the previous one ended.
  bool after_sequential = false;
  /// Read-ahead begins when the head arrives at the track and lasts one revolution, so the sectors
  /// before the request are buffered as well.
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
  /// Number of commands among which the drive chooses; further commands wait in arrival order.
  std::uint32_t depth = 1;
  QueuePolicy policy = QueuePolicy::fcfs;
  /// for aged_sptf: fraction of the waiting time that is subtracted from the positioning time
  std::uint32_t aging_permille = 0;
};

/// The write cache, used only if the device is configured with write-cache=on.
struct WriteCacheProfile {
  std::uint32_t capacity_sectors = 0;
  /// Above this level, destaging starts at once, even if the host is busy.
  std::uint32_t high_water_sectors = 0;
  std::uint32_t destage_sectors_max = 0;  ///< maximum size of a media write that merges neighbours
  TimeNs idle_delay_ns = 0;               ///< destaging starts after this long without a command
  bool on_by_default = false;             ///< factory setting; DiskOptions::write_cache decides
};

struct DiskProfile {
  std::string name;   ///< "hp-c2447"
  std::string title;  ///< full name of the drive, for reports
  std::uint32_t heads = 0;
  std::uint32_t cylinders = 0;
  std::uint64_t capacity_sectors = 0;  ///< as printed on the drive; must match the zones
  std::uint32_t physical_sector_sectors = 1;
  std::uint64_t tail_unused_sectors = 0;  ///< sectors without an LBN at the end of the last zone
  std::int64_t revolution_ps = 0;
  /// How far the platters fall behind with each sector that passes under a head.
  std::int64_t sector_lag_ps = 0;
  Sparing sparing = Sparing::zone;
  std::uint32_t sparing_cylinders = 1;  ///< for Sparing::cylinder_range
  HeadOrder head_order = HeadOrder::rising;
  bool zero_latency = false;  ///< a track transfer may start at any of its sectors
  bool trim = false;  ///< trimmed sectors read as zeroes; if false, a trim completes without effect
  Tear tear = Tear::silent;  ///< DiskOptions may override it
  std::vector<ZoneProfile> zones;
  SeekProfile seek;
  OverheadProfile overhead;
  ReadBufferProfile read_buffer;
  WriteCacheProfile write_cache;
  QueueProfile queue;
};

}  // namespace headcrash::model
