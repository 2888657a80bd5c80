#pragma once
// Measures one cell of `io-errors`: a fresh file system on an emulated drive with a write cache, a
// few operations with a fault among them, a cut or an unmount, and what a fresh guest finds.
//
//   setup      create a, b with data; everything is on the disk
//   work       open a %a, write %a, fsync %a, fsync %a, close %a, fsync a           <- the request fails here
//   after      sync, syncfs, fsync a                                                <- or here
//   look       the file through the page cache
//   more work  write a elsewhere, fsync a; write b, fsync b; create c, write c, fsync c
//   look       with the clean pages dropped
//   end        the power goes, or unmount; the disk works again
//   recovery   replay, check, repair if it found something, mount, look
//
// The disk is mended before recovery: what is asked is what it holds, and not how one recovers on a
// bad disk.

#include "harness/campaign/surveys/io_errors_plan.h"
#include "harness/campaign/surveys/survey.h"
#include "harness/campaign/surveys/survey_cell.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// Errors: nothing could be started, or it was interrupted.
Result<db::TrialRecord> measure_io_errors(const IoErrorCell& cell,
                                          const adapters::LinuxAdapter& filesystem,
                                          const SurveyContext& context);

}  // namespace headcrash::campaign
