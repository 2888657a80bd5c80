#pragma once
// Time series of the hardware from a recording: requests in flight, throughput, head positions and
// seek distances, cache contents, and rebuild progress. It also states what the recording lacks.
//
// Nothing is simulated again: all values follow from the events and the drives' geometries. Between
// two events, a head is between two known positions.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/model/disk/geometry.h"
#include "plugin/states/run_history.h"
#include "results/report/crash/crash_page.h"

namespace headcrash::explorer {

struct RecordedSeries {
  std::vector<report::TimelineSeries> series;
  std::vector<std::string> notes;  ///< sentences on the origin of the values, and on missing data
};

/// Returns the geometry of a drive's profile by its name in the recording; null if unknown or not a
/// disk.
using FindGeometry = std::function<std::unique_ptr<model::Geometry>(const std::string& profile)>;

/// Computes the series. Fails if the recording cannot be read.
Result<RecordedSeries> recorded_series(const states::RunHistory& run, const FindGeometry& geometry);

}  // namespace headcrash::explorer
