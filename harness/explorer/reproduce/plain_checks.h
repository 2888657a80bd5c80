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

/// The content of the written blocks: stamps (workload/stamp.h), or the version number in each
/// byte, as in workload.sh.
enum class Content : std::uint8_t { stamps, version_bytes };

/// Returns one call of a function of look.sh for each finding, or look_yourself if no standard tool
/// can check it.
std::vector<std::string> plain_checks(const std::vector<oracle::Finding>& findings,
                                      std::span<const workload::Operation> operations,
                                      Content content);

/// Returns the first number that the POSIX utility `cksum` prints.
std::uint32_t posix_cksum(std::span<const std::byte> data);

/// Quotes a text for a POSIX shell, in single quotes.
std::string quoted(const std::string& text);

}  // namespace headcrash::explorer
