#pragma once
// The optimal write delay according to Chen, "Optimizing Delay in Delayed-Write File Systems",
// 1996: six equations and three rules as pure functions.
//
// Sizes are in megabytes of 10^6 bytes, rates in megabytes per second, and times in seconds. Rates
// must be positive, except those of reads and of the workload, which may be 0.

#include <cstdint>
#include <optional>

namespace headcrash::experiment::chen96 {

/// Equation 1: the time that the disk needs to write the whole cache. No optimal delay in the paper
/// exceeds this time.
double longest_delay_s(double cache_mb, double disk_mb_s);

/// The rules in section 2.1 for the optimal delay, which is the smallest delay that cancels as many
/// writes as an infinite delay.
enum class Rule : std::uint8_t {
  disk_keeps_up = 1,  ///< rule 1: no delay is needed
  cache_thrashes,     ///< rule 2: no delay helps
  /// Rule 3: data that is deleted or overwritten within the delay is never written.
  lifetime,
};
struct OptimalDelay {
  Rule rule = Rule::disk_keeps_up;
  double delay_s = 0;
};
/// Returns the optimal delay for a workload that writes `write_mb_s` to files with a total size of
/// `file_set_mb`. Rule 1 also applies if the workload writes exactly as fast as the disk. A file
/// set that is exactly as large as the cache fits into the cache.
OptimalDelay optimal_delay(double file_set_mb, double write_mb_s, double cache_mb,
                           double disk_mb_s);

/// The data rates in figure 2, in MB/s.
struct Traffic {
  double write_cache = 0;  ///< rate of writes into the file cache
  double read_cache = 0;   ///< rate of reads from the file cache
  double read_disk = 0;    ///< rate of reads from the disk, caused by cache misses
};
/// Equation 2: the part of the cache that is available for writes, divided by the disk rate that
/// remains after reads. Returns nullopt if reads need the whole disk rate.
std::optional<double> delay_with_reads_s(const Traffic& traffic, double cache_mb, double disk_mb_s);
/// Equations 3 and 4: the highest rate of writes to the cache that the disk can sustain, if writes
/// miss as often as reads. Above this rate, no delay helps. Returns nullopt if no reads go to the
/// disk, because the rate is then unlimited.
std::optional<double> most_writes_mb_s(const Traffic& traffic, double disk_mb_s);

/// Equation 5: the throughput of writes, in MB/s. Each write is `size_mb` megabytes long and
/// requires one positioning operation.
double effective_throughput_mb_s(double size_mb, double positioning_s, double disk_mb_s);
/// Equation 6: the throughput of equation 5 as a fraction of the disk's rate, between 0 and 1.
double efficiency(double size_mb, double positioning_s, double disk_mb_s);
/// Returns the write size for which equation 6 yields `share`. REQUIRES: share < 1.
double size_for_efficiency_mb(double share, double positioning_s, double disk_mb_s);
/// Footnote 3: the smallest delay for which the disk can sustain the workload. Returns nullopt if
/// the workload writes at least as fast as the disk.
std::optional<double> least_delay_s(double write_mb_s, double positioning_s, double disk_mb_s);

/// Section 4: the maximum time between the beginning of a burst and its first write to the disk, if
/// the whole burst must be on the disk within `longest_s`. Never negative.
double burst_start_s(double burst_mb, double longest_s, double disk_mb_s);

}  // namespace headcrash::experiment::chen96
