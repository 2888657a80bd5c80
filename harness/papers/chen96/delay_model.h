#pragma once
// The optimal write delay: the six equations and three rules of Chen, "Optimizing Delay in
// Delayed-Write File Systems", 1996, as pure functions.
//
// Sizes are in megabytes of 10^6 bytes, rates in megabytes per second, times in seconds. Rates must
// be positive, except those of reads and of the workload.

#include <cstdint>
#include <optional>

namespace headcrash::experiment::chen96 {

/// Equation 1: the time to write the whole cache. No optimal delay in the paper exceeds it.
double longest_delay_s(double cache_mb, double disk_mb_s);

/// Section 2.1: the rule that gives the smallest delay that cancels as many writes as an infinite
/// delay would.
enum class Rule : std::uint8_t {
  disk_keeps_up = 1,  ///< rule 1: no delay is needed
  cache_thrashes,     ///< rule 2: no delay helps
  lifetime,           ///< rule 3: data that dies within the delay is never written
};
struct OptimalDelay {
  Rule rule = Rule::disk_keeps_up;
  double delay_s = 0;
};
/// Returns the delay for a workload that writes `write_mb_s` to files with a total size of
/// `file_set_mb`. A workload that writes exactly as fast as the disk falls under rule 1. A file set
/// exactly as large as the cache fits.
OptimalDelay optimal_delay(double file_set_mb, double write_mb_s, double cache_mb,
                           double disk_mb_s);

/// Traffic of figure 2, in MB/s.
struct Traffic {
  double write_cache = 0;  ///< into the file cache
  double read_cache = 0;   ///< out of the file cache
  double read_disk = 0;    ///< part of `read_cache` that misses the cache
};
/// Equation 2: the part of the cache that is available for writes, divided by the disk rate that
/// reads leave. Returns nullopt if reads use the whole disk rate.
std::optional<double> delay_with_reads_s(const Traffic& traffic, double cache_mb, double disk_mb_s);
/// Equations 3 and 4: the highest rate of writes to the cache with which the disk can keep up, if
/// writes miss as often as reads. No delay helps above this rate. Returns nullopt if no read goes
/// to the disk, because then there is no limit.
std::optional<double> most_writes_mb_s(const Traffic& traffic, double disk_mb_s);

/// Equation 5: the throughput, in MB/s, of writes of `size_mb` that each need one positioning
/// operation.
double effective_throughput_mb_s(double size_mb, double positioning_s, double disk_mb_s);
/// Equation 6: the same throughput as a fraction of the disk's rate, from 0 to 1.
double efficiency(double size_mb, double positioning_s, double disk_mb_s);
/// Returns the write size at which equation 6 yields `share`, which must be below 1.
double size_for_efficiency_mb(double share, double positioning_s, double disk_mb_s);
/// Footnote 3: the smallest delay with which the disk keeps up with the workload. Returns nullopt
/// if the workload writes at least as fast as the disk.
std::optional<double> least_delay_s(double write_mb_s, double positioning_s, double disk_mb_s);

/// Section 4: the time at which the disk must start writing a burst, so that the whole burst is on
/// the disk within `longest_s`. Never negative.
double burst_start_s(double burst_mb, double longest_s, double disk_mb_s);

}  // namespace headcrash::experiment::chen96
