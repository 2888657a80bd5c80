#pragma once
// Where the requests of one trial went, and what the device did with them, as strips over one axis
// of time: block numbers, throughput, queue depth, distance from request to request. The workload
// and the recovery after the cut are apart, each with a scale of its own.

#include <string>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

/// The picture twice, for wide and for narrow paper (the style sheet shows one), as a figure
/// without a caption. `filesystem` gives writes their colour.
std::string io_picture(const IoPanel& panel);

/// The marks of the picture.
std::string io_legend();

/// Sampled requests and what they stand for.
struct IoSample {
  std::size_t requests = 0;  ///< sampled ones
  double scale = 1;          ///< requests that each stands for
  bool known =
      /// whether the device's own count is there, without which nothing can be said of rates
      false;
  bool whole() const { return known && scale < 1.05; }
};
IoSample sample_of(const IoPanel& panel);

/// Mean requests in the device in each of `bins` equal stretches of [from_ms, to_ms], by their
/// response times.
std::vector<double> queue_depth(const IoPanel& panel, double from_ms, double to_ms,
                                std::size_t bins);
/// Bytes a second asked for, likewise.
std::vector<double> throughput(const IoPanel& panel, double from_ms, double to_ms,
                               std::size_t bins);
/// Mean distance in sectors from the end of a request to the beginning of the next, likewise; 0
/// where there is none.
std::vector<double> distances(const IoPanel& panel, double from_ms, double to_ms, std::size_t bins);

}  // namespace headcrash::report
