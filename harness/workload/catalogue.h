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
  std::uint32_t rounds = 60;     ///< for workloads with rounds
  std::uint64_t trial = 0;       ///< number of the trial in its campaign, from 0
  std::uint64_t fill_bytes = 0;  ///< written to filler files first, to nearly fill the disk
};

/// Generates a workload. Fails on an unknown name (the error suggests one), a number that is too
/// large, or a list without a persistence point.
Result<std::vector<Operation>> make_workload(const WorkloadRequest& request);

/// Returns the numbered name that `name` denotes in this trial, such as "ace-seq2/17". Returns
/// other names unchanged.
std::string numbered_name(const WorkloadRequest& request);

struct WorkloadSummary {
  std::string name, title;
  std::uint64_t count = 0;  ///< number of workloads, if numbered
};
std::vector<WorkloadSummary> known_workloads();

/// Returns true for the path of a list: a name that ends in .txt, or that has a '/' and is not a
/// numbered workload.
bool is_list_file(const std::string& name);

}  // namespace headcrash::workload
