#pragma once
// What a kind of drive is: every number that the model of a disk needs, as plain data.
// plugin/profiles reads it from TOML. Sectors are of 512 bytes; units are the last word of a name.

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/core/simulation.h"
#include "plugin/model/core/tear.h"

namespace headcrash::model {

/// Cylinders with the same number of sectors per track.
struct ZoneProfile {
  std::uint32_t first_cylinder = 0;
  std::uint32_t cylinders = 0;           ///< with data; 0: all up to the next zone
  std::uint32_t track_sectors = 0;       ///< sectors on one track
  std::uint32_t track_skew_sectors = 0;  ///< from one head to the next in a cylinder
  std::uint32_t cylinder_skew_sectors =
      0;  ///< from the last head of a cylinder to the first of the next
  std::uint32_t start_offset_sectors =
      0;  ///< angle of the zone's first sector, measured from the index mark
  std::uint32_t front_unused_sectors = 0;  ///< at the start of the zone, without an LBN
  std::uint32_t spare_tracks =
      0;  ///< tracks of the zone that hold no LBN as long as nothing is slipped
  std::vector<std::uint32_t>
      slipped_tracks;  ///< bad tracks, counted from the zone's first; the data moves on by one
  std::uint32_t spare_sectors = 0;  ///< at the end of each spare area's stretch (Sparing)
  std::vector<std::uint32_t> slipped_sectors;  ///< bad sectors, counted from the zone's first
};

/// The stretch of the medium that has spare sectors at its end, which take up what its bad sectors
/// push on.
enum class Sparing : std::uint8_t { zone, track, cylinder, cylinder_range };

/// In which order the heads are used. Serpentine: up in one cylinder and down in the next, so that
/// a change of the cylinder keeps the head.
enum class HeadOrder : std::uint8_t { rising, serpentine };

/// Seek time by distance d in cylinders: either measured points with lines between them, or a table
/// for short distances, then a square root (acceleration), then a line (coast).
struct SeekProfile {
  std::vector<std::uint32_t> distances;     ///< rising, from 1; empty: the curve below
  std::vector<TimeNs> times_ns;             ///< [i] belongs to distances[i]
  std::vector<TimeNs> short_ns;             ///< [i] is distance i+1
  std::uint32_t linear_from_cylinders = 0;  ///< d from here on: linear
  TimeNs root_base_ns = 0;                  ///< root_base + root_factor * sqrt(d)
  TimeNs root_factor_ns = 0;
  TimeNs linear_base_ns = 0;  ///< linear_base + linear_per_cylinder * d
  TimeNs linear_per_cylinder_ns = 0;
  TimeNs head_switch_ns = 0;  ///< another head of the same cylinder
  TimeNs write_settle_ns =
      0;  ///< added to a seek or head switch before writing; extracted ones can be < 0
};

/// A cost that depends on what the command before was.
struct ByPrevious {
  TimeNs after_read_ns = 0;
  TimeNs after_write_ns = 0;
  bool operator==(const ByPrevious&) const = default;
};

/// Fixed costs of a command. The order in which they come is drawn in disk.cc.
struct OverheadProfile {
  ByPrevious read_miss_command;  ///< from arrival until the arm may move
  ByPrevious read_hit_command;   ///< from arrival until the data is looked up in the buffer
  TimeNs read_positioning_min_ns =
      0;  ///< the arm is not ready for reading earlier, even without a seek
  TimeNs read_data_preparation_ns = 0;
  TimeNs read_reselect_ns = 0;  ///< back on the bus after a miss
  TimeNs read_completion_ns = 0;
  ByPrevious write_command;       ///< from arrival until the arm may move
  ByPrevious write_near_command;  ///< the same, of a write into the cylinder where the arm is
  TimeNs write_data_start_ns =
      0;  ///< from arrival until the first data sector can start on the bus
  TimeNs write_positioning_min_ns =
      0;  ///< the arm is not ready for writing earlier, even without a seek
  TimeNs write_reselect_ns = 0;
  TimeNs write_completion_ns = 0;
  TimeNs bus_read_sector_ns = 0;
  TimeNs bus_write_sector_ns = 0;
  std::uint32_t read_watermark_permille =
      0;  ///< share of a request in the buffer before the bus is asked for
  std::uint32_t read_tail_sectors =
      0;  ///< the last N are sent only when all of them have been read
};

/// How far the head continues reading behind a request, besides the bounds in sectors.
enum class ReadAheadEnd : std::uint8_t { segment_full, track_end };

struct ReadBufferProfile {
  std::uint32_t segment_sectors = 0;  ///< size of a segment; 0: no buffer that outlives a request
  std::uint32_t read_ahead_sectors_max = 0;  ///< beyond the end of the request; 0: no read-ahead
  std::uint32_t segments = 1;                ///< for data that was read
  std::uint32_t write_segments = 0;          ///< for data that was written and may be read again
  ReadAheadEnd read_ahead_end = ReadAheadEnd::segment_full;
  bool keeps_requested =
      true;  ///< what has been sent can be read again; false: only what was read ahead
  bool writes_take_over = false;  ///< a write uses the whole buffer: what was read is lost
  bool after_sequential =
      false;  ///< read-ahead only behind a read that begins where the one before it ended
  /// Reading ahead begins when the head arrives and lasts a revolution: the request's track before
  /// its first sector is kept too.
  bool whole_track = false;
  /// A read that begins with the sector that is just coming under the head goes on with it. False:
  /// it is a miss, which cuts the read-ahead and waits for a revolution.
  bool joins_at_head = false;
  bool resumes_on_hit =
      true;  ///< a hit sends the arm back to continue reading where it was cut off
};

/// How the drive chooses among the commands that it holds.
enum class QueuePolicy : std::uint8_t { fcfs, sstf, c_look, sptf, aged_sptf };

struct QueueProfile {
  std::uint32_t depth =
      1;  ///< commands that the drive looks at together; the host's others wait in order
  QueuePolicy policy = QueuePolicy::fcfs;
  std::uint32_t aging_permille = 0;  ///< aged_sptf: of the time waited, off the positioning time
};

/// Used only with write-cache=on.
struct WriteCacheProfile {
  std::uint32_t capacity_sectors = 0;
  std::uint32_t high_water_sectors =
      0;  ///< destage at once from here on, even when the host is busy
  std::uint32_t destage_sectors_max = 0;  ///< longest mechanical write made by joining neighbours
  TimeNs idle_delay_ns = 0;               ///< destage after so long without a command
  bool on_by_default = false;  ///< as the drive is delivered; DiskOptions::write_cache decides
};

struct DiskProfile {
  std::string name;   ///< "hp-c2447"
  std::string title;  ///< for people
  std::uint32_t heads = 0;
  std::uint32_t cylinders = 0;
  std::uint64_t capacity_sectors = 0;  ///< as printed on the drive; must equal what the zones give
  std::uint32_t physical_sector_sectors = 1;
  std::uint64_t tail_unused_sectors = 0;  ///< at the end of the last zone, without an LBN
  std::int64_t revolution_ps = 0;
  std::int64_t sector_lag_ps =
      0;  ///< the platters fall back by so much with every sector under a head
  Sparing sparing = Sparing::zone;
  std::uint32_t sparing_cylinders = 1;  ///< Sparing::cylinder_range
  HeadOrder head_order = HeadOrder::rising;
  bool zero_latency = false;  ///< a track is read or written from wherever the head comes down
  bool trim =
      false;  ///< trimmed sectors read as zeroes; without it a trim is completed and does nothing
  Tear tear = Tear::silent;  ///< unless DiskOptions say otherwise
  std::vector<ZoneProfile> zones;
  SeekProfile seek;
  OverheadProfile overhead;
  ReadBufferProfile read_buffer;
  WriteCacheProfile write_cache;
  QueueProfile queue;
};

}  // namespace headcrash::model
