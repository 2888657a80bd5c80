#pragma once
// What a recording tells of its hardware over time: requests inside, bytes a second, where heads
// were and how far they went, what caches held, how far a rebuild was; and what it does not tell.
//
// Nothing is run again: all of it follows from the events and the drives' geometries. Between two
// events a head is somewhere between two places.

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
  std::vector<std::string> notes;  ///< sentences: how it is known, and what is not in the recording
};

/// Of a drive's profile, by its name in the recording; null: it is not a disk, or not known.
using FindGeometry = std::function<std::unique_ptr<model::Geometry>(const std::string& profile)>;

/// Errors: a recording that cannot be read.
Result<RecordedSeries> recorded_series(const states::RunHistory& run, const FindGeometry& geometry);

}  // namespace headcrash::explorer
