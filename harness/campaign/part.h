#pragma once
// A part of a campaign: some of its file systems, fewer trials.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/campaign/campaign_file.h"

namespace headcrash::campaign {

struct Part {
  std::vector<std::string> filesystems;  ///< empty: all
  std::optional<std::int64_t> trials;    ///< at most so many of a cell
  std::vector<std::string> kernels;      ///< in place of the campaign's own; empty: those
  std::string guest;  ///< "qemu" or "virtual" in place of the campaign's own; empty: that
  bool whole() const { return filesystems.empty() && !trials; }
};

/// A name without its kernel means it under each. Leaves the rest out of the campaign, and notes so
/// in its text, so that a part is never resumed as the whole or as another part. Errors: a file
/// system that the campaign does not have, with the nearest that it has.
Result<void> keep_part(Campaign& campaign, const Part& part);

}  // namespace headcrash::campaign
