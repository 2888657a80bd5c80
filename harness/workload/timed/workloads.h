#pragma once
// The single workloads, one function each; catalogue.cc puts them into a list.

#include "harness/workload/timed/timed_workload.h"

namespace headcrash::timed {

TimedWorkload lfs_small_file();

}  // namespace headcrash::timed
