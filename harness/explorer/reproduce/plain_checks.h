#pragma once
// Converts the oracle's findings to lines of a shell script (look.sh) that standard tools can
// check: stat, readlink, dd, cksum.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/verdict.h"
#include "harness/workload/operation.h"

namespace headcrash::explorer {

/// The contents of the blocks that the workload writes: stamps (workload/stamp.h), or the version
/// number in every byte, as in workload.sh.
enum class Content : std::uint8_t { stamps, version_bytes };

/// For each finding, returns a call of a function in look.sh. If no standard tool can check the
/// finding, returns a call of look_yourself.
std::vector<std::string> plain_checks(const std::vector<oracle::Finding>& findings,
                                      std::span<const workload::Operation> operations,
                                      Content content);

/// Returns the checksum that the POSIX utility `cksum` prints first.
std::uint32_t posix_cksum(std::span<const std::byte> data);

}  // namespace headcrash::explorer
