#pragma once
// Workloads by name, for campaigns and `headcrash list workloads`.
//
//   small-files, random, random-threads, replace-by-rename, ...   generated from the trial's seed
//   ace-seq1, ace-seq2                            trial N runs workload N, from 0, modulo the count
//   ace-seq3                                      drawn by the trial's seed
//   ace-seq1/17                                   always number 17
//   reuse, indirect, many-users, ...              families (families.h): drawn by the trial's seed
//   reuse/17                                      always number 17
//   NAME+aged                                     any of them on an aged file system (aged_image.h)
//   FILE.txt, any name with a '/'                 a list of operations in a file

#include <cstdint>
#include <string>
#include <vector>

#include "harness/workload/operation.h"
#include "plugin/base/result.h"

namespace headcrash::workload {

struct WorkloadRequest {
  std::string name = "small-files";
  std::uint64_t seed = 0;
  std::uint32_t rounds = 60;  ///< number of rounds, for workloads that have rounds
  std::uint64_t trial = 0;    ///< number of the trial within its campaign, from 0
  /// Size of filler files to write first, so that the disk is nearly full.
  std::uint64_t fill_bytes = 0;
};

/// Generates a workload. Fails if the name is unknown (the error suggests one), the number is too
/// large, or the list has no persistence point.
Result<std::vector<Operation>> make_workload(const WorkloadRequest& request);

/// If this trial resolves the name by drawing or counting, returns the numbered name, for example
/// "ace-seq2/17". Returns all other names unchanged.
std::string numbered_name(const WorkloadRequest& request);

struct WorkloadSummary {
  std::string name, title;
  std::uint64_t count = 0;  ///< number of workloads if they are numbered; otherwise 0
};
std::vector<WorkloadSummary> known_workloads();

/// Returns true if the name is a list's path. Such a name ends in ".txt", or contains a '/' without
/// being the name of a numbered workload.
bool is_list_file(const std::string& name);

}  // namespace headcrash::workload
