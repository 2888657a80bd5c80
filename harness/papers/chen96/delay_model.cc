// Implements the calculations of delay_model.h.
#include "harness/papers/chen96/delay_model.h"

#include <algorithm>

namespace headcrash::experiment::chen96 {

double longest_delay_s(double cache_mb, double disk_mb_s) {
  return cache_mb / disk_mb_s;
}

OptimalDelay optimal_delay(double file_set_mb, double write_mb_s, double cache_mb,
                           double disk_mb_s) {
  if (write_mb_s <= disk_mb_s) return {Rule::disk_keeps_up, 0};
  if (file_set_mb > cache_mb) return {Rule::cache_thrashes, 0};
  return {Rule::lifetime, file_set_mb / write_mb_s};
}

std::optional<double> delay_with_reads_s(const Traffic& traffic, double cache_mb,
                                         double disk_mb_s) {
  const double all = traffic.write_cache + traffic.read_cache, left = disk_mb_s - traffic.read_disk;
  if (left <= 0) return std::nullopt;
  return all > 0 ? cache_mb * (traffic.write_cache / all) / left : 0;
}

std::optional<double> most_writes_mb_s(const Traffic& traffic, double disk_mb_s) {
  if (traffic.read_disk <= 0) return std::nullopt;
  return traffic.read_cache / traffic.read_disk * std::max(0.0, disk_mb_s - traffic.read_disk);
}

double effective_throughput_mb_s(double size_mb, double positioning_s, double disk_mb_s) {
  return size_mb / (positioning_s + size_mb / disk_mb_s);
}

double efficiency(double size_mb, double positioning_s, double disk_mb_s) {
  return effective_throughput_mb_s(size_mb, positioning_s, disk_mb_s) / disk_mb_s;
}

double size_for_efficiency_mb(double share, double positioning_s, double disk_mb_s) {
  return share / (1 - share) * positioning_s * disk_mb_s;
}

std::optional<double> least_delay_s(double write_mb_s, double positioning_s, double disk_mb_s) {
  if (write_mb_s >= disk_mb_s) return std::nullopt;
  return positioning_s / (1 - write_mb_s / disk_mb_s);
}

double burst_start_s(double burst_mb, double longest_s, double disk_mb_s) {
  return std::max(0.0, longest_s - burst_mb / disk_mb_s);
}

}  // namespace headcrash::experiment::chen96
