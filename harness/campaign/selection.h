#pragma once
// A part of a campaign: some of its file systems, or fewer trials.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/campaign/campaign_file.h"

namespace headcrash::campaign {

struct Selection {
  std::vector<std::string> filesystems;  ///< empty for all
  std::optional<std::int64_t> trials;    ///< maximum per cell
  std::vector<std::string> kernels;      ///< replace the campaign's; empty to keep them
  std::string guest;  ///< "qemu" or "virtual" replaces the campaign's; empty to keep it
  bool whole() const { return filesystems.empty() && !trials; }
};

/// Reduces a campaign to a part. A name without a kernel selects the file system under every
/// kernel. Notes the part in the campaign's text, so that it is never resumed as the whole or as
/// another part. Fails for a file system that the campaign lacks, and suggests the nearest.
Result<void> keep_selection(Campaign& campaign, const Selection& selection);

}  // namespace headcrash::campaign
