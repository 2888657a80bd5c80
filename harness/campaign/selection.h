#pragma once
// Selects a part of a campaign: some of its file systems, or fewer trials.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/campaign/campaign_file.h"

namespace headcrash::campaign {

struct Selection {
  std::vector<std::string> filesystems;  ///< empty to select all file systems
  std::optional<std::int64_t> trials;    ///< maximum number of trials in each cell
  /// Kernels to use instead of the campaign's; empty to keep the campaign's.
  std::vector<std::string> kernels;
  /// Kind of guest to use instead of the campaign's: "qemu" or "virtual"; empty to keep the
  /// campaign's.
  std::string guest;
  bool whole() const { return filesystems.empty() && !trials; }
};

/// Reduces a campaign to the selected part. A name without a kernel selects the file system under
/// every kernel. Records the selection in the campaign's text, so that a part is never resumed as
/// the whole campaign or as another part. Fails if the campaign lacks a selected file system, with
/// a hint that suggests the most similar name.
Result<void> keep_selection(Campaign& campaign, const Selection& selection);

}  // namespace headcrash::campaign
