#pragma once
// Workloads by name, for campaigns and `headcrash list workloads`.
//
//   small-files, random, random-threads, replace-by-rename, ...   generated from the trial's seed
//   ace-seq1, ace-seq2                        trial N (from 0) runs workload N modulo the count
//   ace-seq3                                  the trial's seed determines the number
//   ace-seq1/17                               always number 17
//   reuse, indirect, many-users, ...          families (families.h): the trial's seed determines
//                                             the number
//   reuse/17                                  always number 17
//   NAME+aged                                 any of these workloads on an aged file system
//                                             (aged_image.h)
//   FILE.txt, any other name with a '/'       a list of operations in a file

#include <cstdint>
#include <string>
#include <vector>

#include "harness/workload/operation.h"
#include "plugin/base/result.h"

namespace headcrash::workload {

struct WorkloadRequest {
  std::string name = "small-files";
  std::uint64_t seed = 0;
  std::uint32_t rounds = 60;  ///< number of rounds, if the workload has rounds
  std::uint64_t trial = 0;    ///< number of the trial in its campaign, starting at 0
  /// Total size of files that are written first, so that the disk is nearly full.
  std::uint64_t fill_bytes = 0;
};

/// Generates a workload. Fails if the name is unknown (the error suggests a similar one), if the
/// number is too large, or if the list has no persistence point.
Result<std::vector<Operation>> make_workload(const WorkloadRequest& request);

/// If the name has no workload number, but the workloads are numbered, the trial selects the
/// number. In this case, returns the name with that number, for example "ace-seq2/17". Returns any
/// other name unchanged.
std::string numbered_name(const WorkloadRequest& request);

struct WorkloadSummary {
  std::string name, title;
  std::uint64_t count = 0;  ///< number of workloads, if they are numbered; otherwise 0
};
std::vector<WorkloadSummary> known_workloads();

/// Returns true if the name is the path of a list. Such a name ends in ".txt", or contains a '/'
/// and is not the name of a numbered workload.
bool is_list_file(const std::string& name);

}  // namespace headcrash::workload
