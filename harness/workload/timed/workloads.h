#pragma once
// Functions that construct the timed workloads. catalogue.cc lists them.

#include "harness/workload/timed/timed_workload.h"

namespace headcrash::timed {

TimedWorkload n_user_copy();
TimedWorkload n_user_remove();
TimedWorkload create_1k();
TimedWorkload remove_1k();
TimedWorkload create_remove_1k();
TimedWorkload andrew();
TimedWorkload andrew_modified();
TimedWorkload sdet();
TimedWorkload lfs_small_file();
TimedWorkload lfs_large_file();
TimedWorkload empty_files();
TimedWorkload chen_r2();
TimedWorkload chen_r3();
TimedWorkload chen_burst();
TimedWorkload chen_fsync();
TimedWorkload dbench();
TimedWorkload postmark();
TimedWorkload laddis();
TimedWorkload recovery();
TimedWorkload boot_after_cut();
TimedWorkload source_tree();
TimedWorkload mail_spool();
TimedWorkload ageing();

}  // namespace headcrash::timed
