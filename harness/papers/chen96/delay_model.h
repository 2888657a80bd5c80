#pragma once
// The optimal delay of a write: the six equations and three rules of Chen, "Optimizing Delay in
// Delayed-Write File Systems", 1996, as pure functions.
//
// Sizes are in megabytes of 10^6 bytes, rates in megabytes per second, times in seconds. Rates must
// be positive, except those of reads and of the workload.

#include <cstdint>
#include <optional>

namespace headcrash::experiment::chen96 {

/// Equation 1, which is also the bound of all sections of the paper: no optimal delay exceeds the
/// time to write the whole cache.
double longest_delay_s(double cache_mb, double disk_mb_s);

/// Section 2.1: the smallest delay that cancels as many writes as an infinite one.
enum class Rule : std::uint8_t {
  disk_keeps_up = 1,  ///< rule 1: no delay is needed
  cache_thrashes,     ///< rule 2: no delay helps
  lifetime,           ///< rule 3: data that dies within the delay is never written
};
struct OptimalDelay {
  Rule rule = Rule::disk_keeps_up;
  double delay_s = 0;
};
/// Returns the delay for a workload that writes at `write_mb_s` to files of `file_set_mb` in total.
/// At exactly the disk's rate the disk keeps up; a set exactly as large as the cache fits.
OptimalDelay optimal_delay(double file_set_mb, double write_mb_s, double cache_mb,
                           double disk_mb_s);

/// Traffic of figure 2, in MB/s.
struct Traffic {
  double write_cache = 0;  ///< into the file cache
  double read_cache = 0;   ///< out of the file cache
  double read_disk = 0;    ///< cache misses of these reads
};
/// Equation 2: the cache's share for writes, divided by the disk rate that reads leave. Returns
/// nullopt if reads use the whole disk.
std::optional<double> delay_with_reads_s(const Traffic& traffic, double cache_mb, double disk_mb_s);
/// Equations 3 and 4: the maximum rate of writes to the cache, if writes miss like reads, before
/// the disk cannot keep up with any delay. Returns nullopt without reads from the disk, because
/// there is no bound then.
std::optional<double> most_writes_mb_s(const Traffic& traffic, double disk_mb_s);

/// Equation 5, in MB/s: writes of `size_mb`, each after one positioning.
double effective_throughput_mb_s(double size_mb, double positioning_s, double disk_mb_s);
/// Equation 6: share of the disk's rate, 0 to 1.
double efficiency(double size_mb, double positioning_s, double disk_mb_s);
/// Equation 6 solved for the size; `share` is below 1.
double size_for_efficiency_mb(double share, double positioning_s, double disk_mb_s);
/// Footnote 3: the smallest delay with which the disk keeps up with the workload. Returns nullopt
/// if the workload is at least as fast as the disk.
std::optional<double> least_delay_s(double write_mb_s, double positioning_s, double disk_mb_s);

/// Section 4: the time at which to start writing a burst that must be on the disk after
/// `longest_s`; never negative.
double burst_start_s(double burst_mb, double longest_s, double disk_mb_s);

}  // namespace headcrash::experiment::chen96
