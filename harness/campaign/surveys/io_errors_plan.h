#pragma once
// The cells of the campaign `io-errors`, from its name:
//
//   io-errors                     every file system, every failure
//   io-errors/ext4                one file system
//   io-errors/ext4/journal        one failure under it: once and lasting, with a cut and with an
//                                 unmount
//   io-errors/all/flush           one failure under every file system
//
// A cell is one file system, one kind of request that fails, once or permanently, and one way to
// end the session. The questions are those of Rebello et al., "Can Applications Recover from fsync
// Failures?" (USENIX ATC 2020).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/campaign/campaign_file.h"
#include "harness/run/stored_run.h"

namespace headcrash::campaign {

inline constexpr std::string_view kIoErrorsName = "io-errors";

/// The disk request that fails.
enum class FailedRequest : std::uint8_t {
  none,            ///< control: no request fails
  data_overwrite,  ///< write to an existing block of a file
  data_append,     ///< write to a new block of a file
  metadata,        ///< write of the file's metadata to its final place
  metadata_copy,   ///< write of one of the two copies of the metadata
  journal,         ///< write of a block in the journal or log, or of a checkpoint
  flush,
};
std::string_view name(FailedRequest failed);

enum class SessionEnd : std::uint8_t { cut, unmount };
std::string_view name(SessionEnd end);

struct IoErrorCell {
  /// An adapter's name, optionally with a mount option: "ext4+data_err=abort".
  std::string filesystem;
  FailedRequest failed = FailedRequest::none;
  bool lasting = false;  ///< false for a single failure
  SessionEnd end = SessionEnd::cut;

  std::string key() const;      ///< "ext4/data-append/once/cut"
  std::string adapter() const;  ///< excludes the mount option
  std::string mount_option() const;
};

/// The parts in the name of an "io-errors" campaign.
struct IoErrorsCampaign {
  std::string filesystem, failed;  ///< empty for all
};
/// Returns nullopt for any other campaign.
std::optional<IoErrorsCampaign> parse_io_errors_campaign(std::string_view name);
/// Returns the entry for lists.
CampaignSummary io_errors_campaign_summary();

/// Returns the cells in order; a shard has every n-th one. Fails if no cell matches.
Result<std::vector<IoErrorCell>> io_error_cells(const IoErrorsCampaign& campaign,
                                                const run::Shard& shard = {});

}  // namespace headcrash::campaign
