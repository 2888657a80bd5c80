#pragma once
// Determines the cells of the campaign `io-errors` from its name. A cell consists of a file system,
// a kind of request that fails, the duration of the failure (once or permanent), and a way to end
// the session (a power cut or an unmount). The name selects file systems and kinds of requests:
//
//   io-errors                     all file systems and all kinds of requests
//   io-errors/ext4                one file system
//   io-errors/ext4/journal        one kind of request on one file system
//   io-errors/all/flush           one kind of request on all file systems
//
// The campaign answers the questions of Rebello et al., "Can Applications Recover from fsync
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

/// The kind of disk request that fails.
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
  /// Name of an adapter, optionally with a mount option: "ext4+data_err=abort".
  std::string filesystem;
  FailedRequest failed = FailedRequest::none;
  /// true if all requests fail from then on; false if only one request fails
  bool lasting = false;
  SessionEnd end = SessionEnd::cut;

  std::string key() const;      ///< "ext4/data-append/once/cut"
  std::string adapter() const;  ///< name of the adapter without the mount option
  std::string mount_option() const;
};

/// The parts of the name of an "io-errors" campaign.
struct IoErrorsCampaign {
  std::string filesystem, failed;  ///< empty for all file systems or all kinds of failure
};
/// Parses a campaign's name. Returns nullopt if it is not an "io-errors" campaign.
std::optional<IoErrorsCampaign> parse_io_errors_campaign(std::string_view name);
/// Returns a description of the campaign for lists of campaigns.
CampaignSummary io_errors_campaign_summary();

/// Returns the cells of the campaign, in order. A shard has every n-th cell. Fails if no cell
/// matches the name.
Result<std::vector<IoErrorCell>> io_error_cells(const IoErrorsCampaign& campaign,
                                                const run::Shard& shard = {});

}  // namespace headcrash::campaign
