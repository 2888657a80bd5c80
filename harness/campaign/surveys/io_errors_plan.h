#pragma once
// What the campaign `io-errors` will do, from its name:
//
//   io-errors                     every file system, every failure
//   io-errors/ext4                one file system
//   io-errors/ext4/journal        one failure under it: once and lasting, with a cut and with an unmount
//   io-errors/all/flush           one failure under every file system
//
// A cell is one file system, one kind of request that fails, once or for good, and how the session
// ends. The questions are those of Rebello et al., "Can Applications Recover from fsync Failures?"
// (USENIX ATC 2020).

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

/// Which request of the disk fails.
enum class FailedRequest : std::uint8_t {
  none,            ///< control: nothing fails
  data_overwrite,  ///< the write of a file's block that was there before
  data_append,     ///< ... that is new
  metadata,        ///< the write of the file's metadata to their own place
  metadata_copy,   ///< ... of one of two copies
  journal,         ///< a block of the journal or log, or of a checkpoint
  flush,
};
std::string_view name(FailedRequest failed);

enum class SessionEnd : std::uint8_t { cut, unmount };
std::string_view name(SessionEnd end);

struct IoErrorCell {
  std::string
      filesystem;  ///< an adapter's name; behind a '+' a mount option more: "ext4+data_err=abort"
  FailedRequest failed = FailedRequest::none;
  bool lasting = false;  ///< false: once
  SessionEnd end = SessionEnd::cut;

  std::string key() const;      ///< "ext4/data-append/once/cut"
  std::string adapter() const;  ///< without the mount option
  std::string mount_option() const;
};

/// Of the campaign's name with its parts, or nothing: it is another campaign.
struct IoErrorsCampaign {
  std::string filesystem, failed;  ///< empty: all
};
std::optional<IoErrorsCampaign> parse_io_errors_campaign(std::string_view name);
/// For lists.
CampaignSummary io_errors_campaign_summary();

/// In order; a shard has every n-th one. Error: nothing has that name.
Result<std::vector<IoErrorCell>> io_error_cells(const IoErrorsCampaign& campaign,
                                                const run::Shard& shard = {});

}  // namespace headcrash::campaign
