#include "harness/campaign/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plugin/base/nearest.h"

namespace headcrash::campaign {
namespace {

std::vector<std::string> names_in(const Campaign& campaign) {
  std::vector<std::string> names;
  for (const adapters::LinuxAdapter* filesystem : filesystems_of(campaign))
    if (std::find(names.begin(), names.end(), filesystem->name) == names.end())
      names.push_back(filesystem->name);
  return names;
}

/// Returns true if the list contains the file system's name, either with or without its kernel.
bool is_meant(const std::string& filesystem, const std::vector<std::string>& wanted) {
  return std::ranges::any_of(wanted, [&](const std::string& name) {
    return filesystem == name || adapters::name_without_kernel(filesystem) == name;
  });
}

}  // namespace

Result<void> keep_selection(Campaign& campaign, const Selection& selection) {
  if (selection.whole()) return {};
  const std::vector<std::string> known = names_in(campaign);
  for (const std::string& name : selection.filesystems)
    if (std::ranges::none_of(known,
                             [&](const std::string& each) { return is_meant(each, {name}); }))
      return fail("--only", fmt::format("{} has no file system \"{}\"", campaign.name, name),
                  base::suggest(name, known));
  if (!selection.filesystems.empty()) {
    const auto left_out = [&selection](const adapters::LinuxAdapter& filesystem) {
      return !is_meant(filesystem.name, selection.filesystems);
    };
    std::erase_if(campaign.filesystems, left_out);
    if (campaign.explore)
      std::erase_if(campaign.explore->cells,
                    [&left_out](const ExploredCell& cell) { return left_out(cell.filesystem); });
    campaign.text += fmt::format("\n# --only {}\n", fmt::join(selection.filesystems, ","));
  }
  if (!selection.trials) return {};
  campaign.trials = std::min(campaign.trials, *selection.trials);
  if (campaign.explore)
    for (ExploredCell& cell : campaign.explore->cells)
      cell.trials = std::min(static_cast<std::int64_t>(workloads_of(cell, campaign.seed).count),
                             *selection.trials);
  campaign.text += fmt::format("\n# --trials {}\n", *selection.trials);
  return {};
}

}  // namespace headcrash::campaign
