#pragma once
// Workloads by name, as campaigns and `headcrash list workloads` know them.
//
//   small-files, random, random-threads, replace-by-rename, ...   made from the trial's seed
//   ace-seq1, ace-seq2                            a trial's number is its workload's, from 0 and around again
//   ace-seq3                                      a trial's seed draws it
//   ace-seq1/17                                   always number 17
//   reuse, indirect, many-users, ...              families (families.h): drawn by the trial's seed
//   reuse/17                                      always number 17
//   NAME+aged                                     any of them on a file system that has been lived in
//                                                 (aged_image.h)
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
  std::uint32_t rounds = 60;     ///< of those that have rounds
  std::uint64_t trial = 0;       ///< the trial's number in its campaign, from 0
  std::uint64_t fill_bytes = 0;  ///< taken by filler files first: a disk that is nearly full
};

/// Errors: an unknown name (with a suggestion), a number that is too large, a list without a
/// persistence point.
Result<std::vector<Operation>> make_workload(const WorkloadRequest& request);

/// "ace-seq2/17" for what `name` means in that trial; the name itself for those without numbers.
std::string numbered_name(const WorkloadRequest& request);

struct WorkloadSummary {
  std::string name, title;
  std::uint64_t count = 0;  ///< of those with numbers
};
std::vector<WorkloadSummary> known_workloads();

/// True for the path of a list: it ends in .txt, or has a '/' and is not a numbered workload.
bool is_list_file(const std::string& name);

}  // namespace headcrash::workload
