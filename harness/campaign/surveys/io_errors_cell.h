#pragma once
// Measures one cell of `io-errors`. On a fresh file system on an emulated drive with a write cache,
// runs a few operations during which a fault occurs. Then cuts the power or unmounts, and examines
// the result in a fresh guest.
//
//   setup      create a, b with data; everything is on the disk
//   work       open a %a, write %a, fsync %a, fsync %a, close %a, fsync a      <- fault: early
//   after      sync, syncfs, fsync a                                           <- fault: late
//   read       the file through the page cache
//   more work  write a elsewhere, fsync a; write b, fsync b; create c, write c, fsync c
//   read       after clean pages have been dropped
//   end        power cut or unmount; from then on, the disk works again
//   recovery   replay, check, repair if damaged, mount, read
//
// The disk works again before the recovery, because the survey measures the contents of the disk
// and not the recovery from a bad disk.

#include "harness/campaign/surveys/io_errors_plan.h"
#include "harness/campaign/surveys/survey.h"
#include "harness/campaign/surveys/survey_cell.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// Measures the cell. Fails if the device or guest cannot be started, or if interrupted.
Result<db::TrialRecord> measure_io_errors(const IoErrorCell& cell,
                                          const adapters::LinuxAdapter& filesystem,
                                          const SurveyContext& context);

}  // namespace headcrash::campaign
