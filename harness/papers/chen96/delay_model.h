#pragma once
// How long to delay a write: the six equations and three rules of Chen, "Optimizing Delay in
// Delayed-Write File Systems", 1996, as functions. Pure arithmetic.
//
// Sizes are in megabytes of 10^6 bytes, rates in megabytes a second, times in seconds; a rate of
// zero or less has no meaning anywhere but for reads and for the workload.

#include <cstdint>
#include <optional>

namespace headcrash::experiment::chen96 {

/// Equation 1, and the bound that all sections of the paper come to: no optimal delay is longer
/// than it takes to write the whole cache.
double longest_delay_s(double cache_mb, double disk_mb_s);

/// Section 2.1: the smallest delay that cancels as many writes as an infinite one.
enum class Rule : std::uint8_t {
  disk_keeps_up = 1,  ///< rule 1: no delay is needed
  cache_thrashes,     ///< rule 2: no delay helps
  lifetime,           ///< rule 3: what is dead by then is never written
};
struct OptimalDelay {
  Rule rule = Rule::disk_keeps_up;
  double delay_s = 0;
};
/// Of a workload that writes at `write_mb_s` over a set of files of `file_set_mb`. At exactly the
/// disk's rate the disk keeps up; a set exactly as large as the cache fits.
OptimalDelay optimal_delay(double file_set_mb, double write_mb_s, double cache_mb,
                           double disk_mb_s);

/// Traffic of figure 2, each in MB/s.
struct Traffic {
  double write_cache = 0;  ///< into the file cache
  double read_cache = 0;   ///< out of it
  double read_disk = 0;    ///< of that, what the cache does not have
};
/// Equation 2: the cache's share for writes, by the rate that reads leave of the disk. None where
/// reads take all of the disk.
std::optional<double> delay_with_reads_s(const Traffic& traffic, double cache_mb, double disk_mb_s);
/// Equations 3 and 4: the most that can be written into the cache, if writes miss as reads do,
/// before the disk cannot keep up under any delay. None where nothing is read from the disk: there
/// is no bound then.
std::optional<double> most_writes_mb_s(const Traffic& traffic, double disk_mb_s);

/// Equation 5, in MB/s: writes of `size_mb`, each after one positioning.
double effective_throughput_mb_s(double size_mb, double positioning_s, double disk_mb_s);
/// Equation 6: of the disk's rate, 0 to 1.
double efficiency(double size_mb, double positioning_s, double disk_mb_s);
/// Equation 6 solved for the size; `share` below 1.
double size_for_efficiency_mb(double share, double positioning_s, double disk_mb_s);
/// Footnote 3: the delay that collects enough for the disk to keep up with the workload. None where
/// the workload is as fast as the disk or faster.
std::optional<double> least_delay_s(double write_mb_s, double positioning_s, double disk_mb_s);

/// Section 4: when to begin to write a burst that must be on the disk after `longest_s`; never
/// before now.
double burst_start_s(double burst_mb, double longest_s, double disk_mb_s);

}  // namespace headcrash::experiment::chen96
