#pragma once
// Determines the cells of the campaign `unsynced-loss` from its name:
//
//   unsynced-loss                 default: ext4, XFS, btrfs and F2FS with short intervals; two cuts
//                                 and a control for each
//   unsynced-loss/all             all file systems and settings, with six cuts for each
//   unsynced-loss/xfs             one file system, all settings
//   unsynced-loss/xfs/short       one setting
//
// A cell consists of a file system, a set of the kernel's writeback settings, and one cut. A
// control syncs before the cut. Guests run in real time, so the settings shorten the kernel's
// intervals. The default intervals are long: Linux writes data back after 30 s, and checks for such
// data every 5 s. ext4 commits every 5 s, and btrfs every 30 s. XFS writes its log after 30 s. F2FS
// writes a checkpoint every 60 s.

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
  std::int64_t expire_ms = 0;  ///< vm.dirty_expire_centisecs: data of this age is written back
  /// vm.dirty_writeback_centisecs: interval at which the kernel checks for data of the age
  /// expire_ms.
  std::int64_t writeback_ms = 0;
  /// Commit intervals in seconds. They are set with the mount option commit= for ext4 and btrfs,
  /// with fs.xfs.xfssyncd_centisecs for XFS, and with cp_interval for F2FS.
  std::int64_t ext4_commit_s = 0, btrfs_commit_s = 0, xfs_log_s = 0, f2fs_checkpoint_s = 0;

  /// Commit interval of a file system type; 0 if it has none.
  std::int64_t commit_ms(std::string_view type) const;
  std::string mount_option(std::string_view type) const;
  /// Returns shell commands that apply the settings in the guest. For f2fs, they must run after the
  /// mount.
  std::string shell_commands(std::string_view type) const;
  /// Returns the age by which a change should have been written and committed: the expiry time plus
  /// one check interval plus one commit interval. The time that the disk needs for the writes is
  /// not included.
  std::int64_t bound_ms(std::string_view type) const;
};
const std::vector<WritebackSetting>& writeback_settings();

struct UnsyncedCell {
  /// Name of an adapter, optionally with a mount option: "ext4+nodelalloc".
  std::string filesystem;
  const WritebackSetting* setting = nullptr;
  /// number that distinguishes this cut from others with the same file system and setting
  std::uint32_t cut = 0;
  bool synced = false;  ///< a control, which syncs before the cut

  std::string key() const;  ///< "ext4+nodelalloc/short/cut-2", "xfs/short/synced"
};

/// The result of parsing the name of an unsynced-loss campaign. parse_unsynced_campaign() returns
/// nullopt for any other name.
struct UnsyncedCampaign {
  bool all = false;
  std::string filesystem, setting;  ///< empty for all file systems or all settings
};
std::optional<UnsyncedCampaign> parse_unsynced_campaign(std::string_view name);
/// Returns a description of the campaign for lists of campaigns.
CampaignSummary unsynced_campaign_summary();

/// Returns the cells of the campaign, in order. A shard has every n-th cell. Fails if no cell
/// matches the name.
Result<std::vector<UnsyncedCell>> unsynced_cells(const UnsyncedCampaign& campaign,
                                                 const run::Shard& shard = {});

}  // namespace headcrash::campaign
