#pragma once
// The parameters of a drive type, as plain data; plugin/profiles reads them from TOML. Sectors are
// 512 bytes. The name of a parameter ends with its unit.

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/core/simulation.h"
#include "plugin/model/core/tear.h"

namespace headcrash::model {

/// Contiguous cylinders that have the same number of sectors per track.
struct ZoneProfile {
  std::uint32_t first_cylinder = 0;
  /// Number of cylinders with data; 0 for all cylinders up to the next zone.
  std::uint32_t cylinders = 0;
  std::uint32_t track_sectors = 0;
  std::uint32_t track_skew_sectors = 0;  ///< skew between adjacent heads of a cylinder
  /// Skew from the last head of one cylinder to the first head of the next.
  std::uint32_t cylinder_skew_sectors = 0;
  /// Distance of the zone's first sector from the index mark.
  std::uint32_t start_offset_sectors = 0;
  std::uint32_t front_unused_sectors = 0;  ///< sectors without an LBN at the start of the zone
  /// spare tracks of each spare area; a slipped track uses one of them
  std::uint32_t spare_tracks = 0;
  /// Bad tracks, counted from the zone's first track. The data of each bad track and of all later
  /// tracks shifts by one track.
  std::vector<std::uint32_t> slipped_tracks;
  /// Number of spare sectors at the end of each spare area (see Sparing).
  std::uint32_t spare_sectors = 0;
  /// Bad sectors, as offsets from the first sector of the zone.
  std::vector<std::uint32_t> slipped_sectors;
};

/// The unit of the medium that has spare sectors at its end. The spare sectors make room for the
/// data that bad sectors displace.
enum class Sparing : std::uint8_t { zone, track, cylinder, cylinder_range };

/// The order in which the heads of a cylinder are used. With `serpentine`, it is ascending in one
/// cylinder and descending in the next, so that moving to the next cylinder needs no head switch.
enum class HeadOrder : std::uint8_t { rising, serpentine };

/// Seek time as a function of the distance d in cylinders. It is given in one of two forms:
/// measured points, with linear interpolation; or a curve, which consists of a table for short
/// distances, a square root (acceleration) and a line (coast).
struct SeekProfile {
  std::vector<std::uint32_t> distances;     ///< ascending, from 1; empty to use the curve below
  std::vector<TimeNs> times_ns;             ///< element i belongs to distances[i]
  std::vector<TimeNs> short_ns;             ///< element i is for the distance i + 1
  std::uint32_t linear_from_cylinders = 0;  ///< distance from which the linear part applies
  /// The square-root part is root_base + root_factor * sqrt(d).
  TimeNs root_base_ns = 0;
  TimeNs root_factor_ns = 0;
  TimeNs linear_base_ns = 0;  ///< the linear part is linear_base + linear_per_cylinder * d
  TimeNs linear_per_cylinder_ns = 0;
  TimeNs head_switch_ns = 0;  ///< time to switch to another head of the same cylinder
  /// Time added to a seek or head switch before a write. In data extracted from drives, it may be
  /// negative.
  TimeNs write_settle_ns = 0;
};

/// A cost that depends on the type of the previous command.
struct ByPrevious {
  TimeNs after_read_ns = 0;
  TimeNs after_write_ns = 0;
  bool operator==(const ByPrevious&) const = default;
};

/// Fixed costs of a command. The diagram in disk.cc shows the phases in which they occur.
struct OverheadProfile {
  ByPrevious read_miss_command;  ///< time from a read's arrival until the arm may move
  ByPrevious read_hit_command;   ///< time from a read's arrival until the buffer is searched
  /// Minimum time until the arm is ready for reading, even without a seek.
  TimeNs read_positioning_min_ns = 0;
  TimeNs read_data_preparation_ns = 0;
  TimeNs read_reselect_ns = 0;  ///< time to reconnect to the bus after a miss
  TimeNs read_completion_ns = 0;
  ByPrevious write_command;  ///< time from a write's arrival until the arm may move
  /// Like write_command, but for a write to the arm's current cylinder.
  ByPrevious write_near_command;
  /// Time from arrival until the bus may transfer the first sector of data.
  TimeNs write_data_start_ns = 0;
  /// Minimum time until the arm is ready for writing, even without a seek.
  TimeNs write_positioning_min_ns = 0;
  TimeNs write_reselect_ns = 0;
  TimeNs write_completion_ns = 0;
  TimeNs bus_read_sector_ns = 0;
  TimeNs bus_write_sector_ns = 0;
  /// Fraction of a request that must be in the buffer before the drive requests the bus.
  std::uint32_t read_watermark_permille = 0;
  /// Number of sectors at the end of a request that are held back until the drive has read the
  /// whole request.
  std::uint32_t read_tail_sectors = 0;
};

/// The condition that ends read-ahead, in addition to the limits in sectors.
enum class ReadAheadEnd : std::uint8_t { segment_full, track_end };

struct ReadBufferProfile {
  /// Size of a segment; 0 if data is in the buffer only while its request is being served.
  std::uint32_t segment_sectors = 0;
  /// Maximum read-ahead beyond the end of the request; 0 for no read-ahead.
  std::uint32_t read_ahead_sectors_max = 0;
  std::uint32_t segments = 1;  ///< number of segments that hold read data
  /// Number of segments that hold written data. Reads of this data are served from the buffer.
  std::uint32_t write_segments = 0;
  ReadAheadEnd read_ahead_end = ReadAheadEnd::segment_full;
  /// If true, the buffer keeps data that was sent to the host, and later reads can be served from
  /// it. If false, later reads can be served only from data that was read ahead.
  bool keeps_requested = true;
  bool writes_take_over = false;  ///< a write takes the whole buffer and discards read data
  /// If true, only a read that begins where the previous one ended is followed by read-ahead.
  bool after_sequential = false;
  /// If true, read-ahead begins when the head arrives at the track. It lasts one revolution, so
  /// that the sectors before the request are also buffered.
  bool whole_track = false;
  /// If true, a read joins the read-ahead if its first sector is just arriving under the head. If
  /// false, such a read is a miss: it stops the read-ahead and waits for a revolution.
  bool joins_at_head = false;
  /// If true, a hit resumes a read-ahead that another command has interrupted: the arm returns to
  /// the position where the read-ahead stopped.
  bool resumes_on_hit = true;
};

/// The drive's scheduling policy.
enum class QueuePolicy : std::uint8_t { fcfs, sstf, c_look, sptf, aged_sptf };

struct QueueProfile {
  /// Number of commands among which the drive chooses; further commands wait in arrival order.
  std::uint32_t depth = 1;
  QueuePolicy policy = QueuePolicy::fcfs;
  /// Used by aged_sptf: share of the waiting time that is subtracted from the positioning time.
  std::uint32_t aging_permille = 0;
};

/// The write cache. It is used only if the device is configured with write-cache=on.
struct WriteCacheProfile {
  std::uint32_t capacity_sectors = 0;
  /// Above this level, destaging starts at once, even if the host is busy.
  std::uint32_t high_water_sectors = 0;
  /// Maximum size of a media write that combines adjacent extents.
  std::uint32_t destage_sectors_max = 0;
  TimeNs idle_delay_ns = 0;  ///< time without a command after which destaging starts
  /// Factory setting; DiskOptions::write_cache determines whether the cache is used.
  bool on_by_default = false;
};

struct DiskProfile {
  std::string name;   ///< "hp-c2447"
  std::string title;  ///< full name of the drive, for reports
  std::uint32_t heads = 0;
  std::uint32_t cylinders = 0;
  /// The capacity printed on the drive, which must be consistent with the zones.
  std::uint64_t capacity_sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
  std::uint64_t tail_unused_sectors = 0;  ///< sectors without an LBN at the end of the last zone
  std::int64_t revolution_ps = 0;
  /// Time by which the platters fall behind for each sector that passes under a head.
  std::int64_t sector_lag_ps = 0;
  Sparing sparing = Sparing::zone;
  std::uint32_t sparing_cylinders = 1;  ///< for Sparing::cylinder_range
  HeadOrder head_order = HeadOrder::rising;
  bool zero_latency = false;  ///< the transfer of a track may begin at any of its sectors
  bool trim = false;  ///< if true, trimmed sectors read as zeroes; if false, a trim has no effect
  Tear tear = Tear::silent;  ///< may be overridden by DiskOptions
  std::vector<ZoneProfile> zones;
  SeekProfile seek;
  OverheadProfile overhead;
  ReadBufferProfile read_buffer;
  WriteCacheProfile write_cache;
  QueueProfile queue;
};

}  // namespace headcrash::model
