#pragma once
// Draws one trial's requests and the activity of the device as strips on a common time axis. The
// strips show block numbers, throughput, queue depth and distances between requests. The workload
// and the recovery after the cut are shown separately, each with its own time scale.

#include <string>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// Returns the picture as a figure without a caption. It contains a version for wide paper and one
/// for narrow paper; the style sheet shows only one of them. `filesystem` determines the colour of
/// writes.
std::string io_picture(const IoPanel& panel);

std::string io_legend();

/// The sampled requests, and how many requests each one represents.
struct IoSample {
  std::size_t requests = 0;  ///< number of sampled requests
  double scale = 1;          ///< number of requests that each sample represents
  /// True if the device counted its requests. Otherwise, `scale` is unknown, and no rates can be
  /// computed.
  bool known = false;
  bool whole() const { return known && scale < 1.05; }
};
IoSample sample_of(const IoPanel& panel);

/// Returns the mean number of requests in the device for each of `bins` equal intervals of
/// [from_ms, to_ms], computed from the requests' response times.
std::vector<double> queue_depth(const IoPanel& panel, double from_ms, double to_ms,
                                std::size_t bins);
/// Returns the number of bytes requested per second in each of `bins` equal intervals.
std::vector<double> throughput(const IoPanel& panel, double from_ms, double to_ms,
                               std::size_t bins);
/// Returns the mean distance, in sectors, from the end of a request to the start of the next one,
/// in each of `bins` equal intervals. A distance counts in the interval of the later request. The
/// mean of an interval without distances is 0.
std::vector<double> distances(const IoPanel& panel, double from_ms, double to_ms, std::size_t bins);

}  // namespace headcrash::report
