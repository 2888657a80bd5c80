#pragma once
// What the campaign `unsynced-loss` will do, from its name:
//
//   unsynced-loss                 the default: ext4, XFS, btrfs and F2FS, short intervals, two cuts each, a control each
//   unsynced-loss/all             all file systems and settings, six cuts each
//   unsynced-loss/xfs             one file system, all settings
//   unsynced-loss/xfs/short       one setting
//
// A cell is a file system, the kernel's settings of writeback, and one cut; in the control
// everything is synced before the cut. Guests run in real time, so that the kernel's intervals are
// shrunk: Linux writes what is 30 s old, looks each 5 s, and ext4 commits each 5 s, btrfs each 30
// s; XFS writes its log after 30 s, F2FS a checkpoint each 60 s.

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
  std::int64_t expire_ms = 0;     ///< vm.dirty_expire_centisecs: the age at which data are written
  std::int64_t writeback_ms = 0;  ///< vm.dirty_writeback_centisecs: between two looks
  /// commit= of ext4 and btrfs, fs.xfs.xfssyncd_centisecs, cp_interval of F2FS; seconds.
  std::int64_t ext4_commit_s = 0, btrfs_commit_s = 0, xfs_log_s = 0, f2fs_checkpoint_s = 0;

  std::int64_t commit_ms(std::string_view type) const;  ///< the one of that type; 0: it has none
  std::string mount_option(std::string_view type) const;
  /// As a shell's commands in the guest; f2fs's when it is mounted.
  std::string shell_commands(std::string_view type) const;
  /// What is older has been written, and a commit has followed: expiry, a look, a commit. The
  /// disk's work comes on top.
  std::int64_t bound_ms(std::string_view type) const;
};
const std::vector<WritebackSetting>& writeback_settings();

struct UnsyncedCell {
  std::string
      filesystem;  ///< an adapter's name; behind a '+' a mount option more: "ext4+nodelalloc"
  const WritebackSetting* setting = nullptr;
  std::uint32_t cut = 0;  ///< number
  bool synced = false;    ///< the control: sync before the cut

  std::string key() const;  ///< "ext4+nodelalloc/short/cut-2", "xfs/short/synced"
};

/// Of the campaign's name with its parts, or nothing: it is another campaign.
struct UnsyncedCampaign {
  bool all = false;
  std::string filesystem, setting;  ///< empty: all
};
std::optional<UnsyncedCampaign> parse_unsynced_campaign(std::string_view name);
/// For lists.
CampaignSummary unsynced_campaign_summary();

/// In order; a shard has every n-th one. Error: nothing has that name.
Result<std::vector<UnsyncedCell>> unsynced_cells(const UnsyncedCampaign& campaign,
                                                 const run::Shard& shard = {});

}  // namespace headcrash::campaign
