#pragma once
// Measures one cell of `io-errors`: a fresh file system on an emulated drive with a write cache, a
// few operations with a fault, a cut or an unmount, and the result in a fresh guest.
//
//   setup      create a, b with data; everything is on the disk
//   work       open a %a, write %a, fsync %a, fsync %a, close %a, fsync a           <- the request
//                                                                                   fails here
//   after      sync, syncfs, fsync a                                                <- or here
//   read       the file through the page cache
//   more work  write a elsewhere, fsync a; write b, fsync b; create c, write c, fsync c
//   read       after dropping clean pages
//   end        power cut or unmount; the disk then works again
//   recovery   replay, check, repair if damaged, mount, read
//
// The disk is restored before recovery: the survey measures the content of the disk, not recovery
// on a bad disk.

#include "harness/campaign/surveys/io_errors_plan.h"
#include "harness/campaign/surveys/survey.h"
#include "harness/campaign/surveys/survey_cell.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// Fails if the device or guest cannot be started, or if interrupted.
Result<db::TrialRecord> measure_io_errors(const IoErrorCell& cell,
                                          const adapters::LinuxAdapter& filesystem,
                                          const SurveyContext& context);

}  // namespace headcrash::campaign
