#pragma once
// The oracle's findings as lines of a shell script (look.sh) that plain tools can check: stat,
// readlink, dd, cksum.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/verdict.h"
#include "harness/workload/operation.h"

namespace headcrash::explorer {

/// What the operations have written: stamps (workload/stamp.h), or as workload.sh does, the number
/// of the version in each byte.
enum class Content : std::uint8_t { stamps, version_bytes };

/// One call of a function of look.sh for each finding; look_yourself where no plain tool can tell.
std::vector<std::string> plain_checks(const std::vector<oracle::Finding>& findings,
                                      std::span<const workload::Operation> operations,
                                      Content content);

/// What the POSIX utility `cksum` prints first.
std::uint32_t posix_cksum(std::span<const std::byte> data);

/// For a POSIX shell, in single quotes.
std::string quoted(const std::string& text);

}  // namespace headcrash::explorer
