#pragma once
// Derives time series of the hardware from a recording: requests in flight, throughput, head
// positions and seek distances, cache contents, and the progress of a rebuild. Notes state which
// data the recording lacks.
//
// All values are computed from the events and the drives' geometries, without simulation. The head
// position is known at each event and interpolated in between.

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
  /// Sentences that explain where the values come from, and which data is missing.
  std::vector<std::string> notes;
};

/// Returns the geometry of a drive. `profile` is the name of the drive's profile in the recording.
/// Returns null if the profile is unknown or does not describe a hard disk.
using FindGeometry = std::function<std::unique_ptr<model::Geometry>(const std::string& profile)>;

/// Computes all series. Fails if the recording cannot be read.
Result<RecordedSeries> recorded_series(const states::RunHistory& run, const FindGeometry& geometry);

}  // namespace headcrash::explorer
