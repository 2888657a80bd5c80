// Converts names and values to MkfsOptions (mkfs_settings.h).
#include "fs-adapters/ufs/format/mkfs_settings.h"

#include <algorithm>
#include <array>

#include "plugin/base/size.h"

namespace headcrash::ufs {
namespace {

constexpr auto kOptions = std::to_array<adapters::MkfsOption>({
    {"block-size", 'b', "BYTES", "block size, 4096 or 8192; default: 8192"},
    {"fragment-size", 'f', "BYTES",
     "fragment size: 1/8, 1/4, 1/2 or all of the block size; default: 1024"},
    {"bytes-per-inode", 'i', "BYTES", "bytes of device space per inode; default: 8192"},
    {"inodes-per-group", 0, "NUMBER",
     "inodes per group; 0 (default): derived from bytes-per-inode"},
    {"group-size", 'g', "BYTES",
     "size of a cylinder group; 0 (default): as few groups as possible"},
    {"reserve", 'm', "PERCENT", "percentage of space kept free; default: 10"},
    {"journal-size", 'J', "BYTES",
     "size of the journal; 0: the default size; without this option, the first mount with "
     "a journal scheme creates the journal"},
    {"external-journal", 0, "BYTES",
     "size of the journal on the second device; 0: 16 MiB; default: no such journal; for "
     "scheme=journal-external"},
    {"fast-check", 0, "0|1",
     "1: record busy groups, so that fsck can skip all others; default: 0; for scheme=netra"},
    {"bmap-cache", 0, "0|1",
     "1: store the addresses of a file's last blocks next to its inode, so that an append writes "
     "no indirect block; default: 0; for scheme=netra"},
    {"busy-map", 0, "0|1",
     "1: record busy groups in the groups' summaries, so that fsck need not read the headers of "
     "idle groups; default: 0; requires fast-check"},
    {"foreign-block", 0, "0|1",
     "1: add a block to each group for the inodes of other groups that do not fit into its "
     "header; default: the value of fast-check"},
    {"lazy-inodes", 0, "0|1", "1: zero inode blocks on first use; default: 0; for scheme=netra"},
    {"uuid", 'U', "UUID",
     "UUID whose first eight bytes become the file system's id; default: none"},
    {"time", 0, "SECONDS", "time stamp of new inodes, in seconds since the epoch; default: 0"},
});

constexpr auto kFeatureOptions =
    std::to_array<FeatureOption>({{"fast-check", &Features::fast_check},
                                  {"bmap-cache", &Features::bmap_cache},
                                  {"busy-map", &Features::busy_map},
                                  {"foreign-block", &Features::foreign_block},
                                  {"lazy-inodes", &Features::lazy_inodes}});

}  // namespace

std::span<const adapters::MkfsOption> mkfs_options() {
  return kOptions;
}

std::span<const FeatureOption> feature_options() {
  return kFeatureOptions;
}

Result<MkfsOptions> mkfs_options_of(const adapters::Settings& settings) {
  MkfsOptions options;
  for (const auto& [name, value] : settings) {
    if (name == "uuid") {
      TRY(const auto id, adapters::id_of_uuid(value));
      options.id = {static_cast<std::uint32_t>(id >> 32U), static_cast<std::uint32_t>(id)};
      continue;
    }
    if (std::ranges::find(kOptions, name, &adapters::MkfsOption::name) == kOptions.end())
      return fail("mkfs option " + name, "is not supported by ufs", "see `mkfs.headcrash-ufs -h`");
    TRY(const auto number, base::parse_size(value, name));
    if (name == "group-size") {
      options.group_bytes = number;
    } else if (name == "journal-size") {
      options.journal_bytes = number;
    } else if (name == "external-journal") {
      options.external_journal_bytes = number;
    } else if (number > UINT32_MAX) {
      return fail(name, "is too large", "use less than 4G");
    } else {
      const auto small = static_cast<std::uint32_t>(number);
      if (name == "block-size") options.block_bytes = small;
      if (name == "fragment-size") options.fragment_bytes = small;
      if (name == "bytes-per-inode") options.bytes_per_inode = small;
      if (name == "inodes-per-group") options.inodes_per_group = small;
      if (name == "reserve") options.reserve_percent = small;
      if (name == "time") options.time = small;
      for (const FeatureOption& option : kFeatureOptions)
        if (name == option.name) options.features.*option.feature = small != 0;
    }
  }
  if (!settings.contains("foreign-block"))
    options.features.foreign_block = options.features.fast_check;
  return options;
}

}  // namespace headcrash::ufs
