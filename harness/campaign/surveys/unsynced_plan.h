#pragma once
// The cells of the campaign `unsynced-loss`, from its name:
//
//   unsynced-loss                 default: ext4, XFS, btrfs and F2FS, short intervals, two cuts and
//                                 a control each
//   unsynced-loss/all             all file systems and settings, six cuts each
//   unsynced-loss/xfs             one file system, all settings
//   unsynced-loss/xfs/short       one setting
//
// A cell is a file system, a set of writeback settings of the kernel, and one cut; the control
// syncs before the cut. Guests run in real time, so the kernel's intervals are shortened. By
// default Linux writes data after 30 s and checks every 5 s; ext4 commits every 5 s, btrfs every 30
// s; XFS writes its log after 30 s, and F2FS a checkpoint every 60 s.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/campaign/campaign_file.h"
#include "harness/run/stored_run.h"

namespace headcrash::campaign {

inline constexpr std::string_view kUnsyncedName = "unsynced-loss";

struct WritebackSetting {
  std::string_view name, title;
  std::int64_t expire_ms = 0;     ///< vm.dirty_expire_centisecs: the age at which data is written
  std::int64_t writeback_ms = 0;  ///< vm.dirty_writeback_centisecs: interval of the checks
  /// commit= of ext4 and btrfs, fs.xfs.xfssyncd_centisecs, cp_interval of F2FS; in seconds.
  std::int64_t ext4_commit_s = 0, btrfs_commit_s = 0, xfs_log_s = 0, f2fs_checkpoint_s = 0;

  std::int64_t commit_ms(std::string_view type) const;  ///< interval of that type; 0 if it has none
  std::string mount_option(std::string_view type) const;
  /// Returns shell commands for the guest; f2fs's must run after the mount.
  std::string shell_commands(std::string_view type) const;
  /// Returns the age by which data has been written and committed: expiry plus a check interval
  /// plus a commit interval. The time for disk writes is not included.
  std::int64_t bound_ms(std::string_view type) const;
};
const std::vector<WritebackSetting>& writeback_settings();

struct UnsyncedCell {
  std::string filesystem;  ///< an adapter's name, optionally with a mount option: "ext4+nodelalloc"
  const WritebackSetting* setting = nullptr;
  std::uint32_t cut = 0;  ///< number of the cut
  bool synced = false;    ///< control: syncs before the cut

  std::string key() const;  ///< "ext4+nodelalloc/short/cut-2", "xfs/short/synced"
};

/// Parses a campaign's name including its parts; nullopt for any other campaign.
struct UnsyncedCampaign {
  bool all = false;
  std::string filesystem, setting;  ///< empty for all
};
std::optional<UnsyncedCampaign> parse_unsynced_campaign(std::string_view name);
/// Returns the entry for lists.
CampaignSummary unsynced_campaign_summary();

/// Returns the cells in order; a shard has every n-th one. Fails if no cell matches.
Result<std::vector<UnsyncedCell>> unsynced_cells(const UnsyncedCampaign& campaign,
                                                 const run::Shard& shard = {});

}  // namespace headcrash::campaign
