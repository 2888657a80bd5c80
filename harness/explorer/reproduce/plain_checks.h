#pragma once
// Converts the oracle's findings to lines of a shell script (look.sh). The script checks the
// findings with standard tools: stat, readlink, dd and cksum.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/verdict.h"
#include "harness/workload/operation.h"

namespace headcrash::explorer {

/// The kind of data in the blocks that the workload writes: stamps (workload/stamp.h), or, as in
/// workload.sh, the version number in every byte.
enum class Content : std::uint8_t { stamps, version_bytes };

/// For each finding, returns a call to a function in look.sh, or to look_yourself if no standard
/// tool can check the finding.
std::vector<std::string> plain_checks(const std::vector<oracle::Finding>& findings,
                                      std::span<const workload::Operation> operations,
                                      Content content);

/// Returns the first number that the POSIX utility `cksum` prints.
std::uint32_t posix_cksum(std::span<const std::byte> data);

}  // namespace headcrash::explorer
