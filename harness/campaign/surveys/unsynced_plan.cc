// Lists the cells and parses the names of campaigns (unsynced_plan.h).
#include "harness/campaign/surveys/unsynced_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headcrash::campaign {
namespace {

constexpr std::uint32_t kCutsOfAll = 6, kCutsOfDefault = 2;
constexpr std::int64_t kMsPerS = 1000, kMsPerCentisecond = 10;

constexpr std::array<std::string_view, 6> kFilesystems{"ext4", "ext4+nodelalloc", "ext4-journal",
                                                       "xfs",  "btrfs",           "f2fs"};
constexpr std::array<std::string_view, 4> kOfDefault{"ext4", "xfs", "btrfs", "f2fs"};
constexpr std::string_view kSettingOfDefault = "short";

}  // namespace

const std::vector<WritebackSetting>& writeback_settings() {
  static const std::vector<WritebackSetting> kSettings{
      {"short", "writes data after 2 s, and commits every 1 or 2 s", 2000, 500, 1, 2, 1, 2},
      {"late-commit", "writes data after 2 s, and commits every 10 s", 2000, 500, 10, 10, 10, 10},
      {"third", "a third of Linux's usual intervals", 10000, 1670, 2, 10, 10, 20}};
  return kSettings;
}

std::int64_t WritebackSetting::commit_ms(std::string_view type) const {
  const std::int64_t seconds = type == "ext4"    ? ext4_commit_s
                               : type == "btrfs" ? btrfs_commit_s
                               : type == "xfs"   ? xfs_log_s
                               : type == "f2fs"  ? f2fs_checkpoint_s
                                                 : 0;
  return seconds * kMsPerS;
}

std::string WritebackSetting::mount_option(std::string_view type) const {
  if (type != "ext4" && type != "btrfs") return {};
  return fmt::format("commit={}", commit_ms(type) / kMsPerS);
}

std::string WritebackSetting::shell_commands(std::string_view type) const {
  std::string commands = fmt::format(
      "echo {} > /proc/sys/vm/dirty_expire_centisecs && echo {} > /proc/sys/vm/dirty_writeback_centisecs",
      expire_ms / kMsPerCentisecond, writeback_ms / kMsPerCentisecond);
  if (type == "xfs")
    commands += fmt::format(" && echo {} > /proc/sys/fs/xfs/xfssyncd_centisecs",
                            commit_ms(type) / kMsPerCentisecond);
  if (type == "f2fs")
    commands +=
        fmt::format(" && echo {} > /sys/fs/f2fs/vda/cp_interval", commit_ms(type) / kMsPerS);
  return commands;
}

std::int64_t WritebackSetting::bound_ms(std::string_view type) const {
  return expire_ms + writeback_ms + commit_ms(type);
}

std::string UnsyncedCell::key() const {
  return fmt::format("{}/{}/{}", filesystem, setting->name,
                     synced ? std::string("synced") : fmt::format("cut-{}", cut));
}

std::optional<UnsyncedCampaign> parse_unsynced_campaign(std::string_view name) {
  if (!name.starts_with(kUnsyncedName)) return {};
  name.remove_prefix(kUnsyncedName.size());
  if (!name.empty() && name.front() != '/') return {};
  UnsyncedCampaign campaign;
  if (name.empty()) return campaign;
  campaign.all = true;
  name.remove_prefix(1);
  const std::size_t slash = std::min(name.find('/'), name.size());
  if (name.substr(0, slash) != "all") campaign.filesystem = name.substr(0, slash);
  if (slash < name.size()) campaign.setting = name.substr(slash + 1);
  return campaign;
}

CampaignSummary unsynced_campaign_summary() {
  const auto cells = unsynced_cells({});
  return {.name = std::string(kUnsyncedName),
          .title =
              "A survey of the age of changes that Linux loses without fsync (/all runs all cells)",
          .takes = "a few minutes",
          .trials = cells ? cells->size() : 0};
}

Result<std::vector<UnsyncedCell>> unsynced_cells(const UnsyncedCampaign& campaign,
                                                 const run::Shard& shard) {
  std::vector<UnsyncedCell> cells;
  std::size_t number = 0;
  const auto add = [&](UnsyncedCell cell) {
    if (number++ % shard.count == shard.index) cells.push_back(std::move(cell));
  };
  for (const std::string_view filesystem : kFilesystems) {
    if (!campaign.filesystem.empty() && campaign.filesystem != filesystem) continue;
    if (!campaign.all && std::ranges::find(kOfDefault, filesystem) == kOfDefault.end()) continue;
    for (const WritebackSetting& setting : writeback_settings()) {
      if (!campaign.setting.empty() && campaign.setting != setting.name) continue;
      if (!campaign.all && setting.name != kSettingOfDefault) continue;
      const std::string name(filesystem);
      if (setting.name == kSettingOfDefault || !campaign.setting.empty())
        add({.filesystem = name, .setting = &setting, .synced = true});
      const std::uint32_t cuts = campaign.all ? kCutsOfAll : kCutsOfDefault;
      for (std::uint32_t cut = 0; cut < cuts; ++cut)
        add({.filesystem = name, .setting = &setting, .cut = cut});
    }
  }
  if (number > 0) return cells;
  std::string filesystems, settings;
  for (const std::string_view each : kFilesystems)
    filesystems += fmt::format("{}{}", filesystems.empty() ? "" : ", ", each);
  for (const WritebackSetting& each : writeback_settings())
    settings += fmt::format("{}{}", settings.empty() ? "" : ", ", each.name);
  return fail(fmt::format("{}/{}/{}", kUnsyncedName, campaign.filesystem, campaign.setting),
              "there is no such cell",
              fmt::format("known file systems: {}; known settings: {}", filesystems, settings));
}

}  // namespace headcrash::campaign
