// Converts names and values to MkfsOptions (mkfs_settings.h).
#include "fs-adapters/snapfs/mkfs_settings.h"

#include <algorithm>
#include <array>

#include "plugin/base/size.h"

namespace headcrash::snapfs {
namespace {

constexpr auto kOptions = std::to_array<adapters::MkfsOption>({
    {"block-size", 'b', "BYTES", "block size, 512 to 8192; default: 4096"},
    {"bytes-per-inode", 'i', "BYTES", "bytes of device space per inode; default: 8192"},
    {"inodes", 'N', "COUNT", "number of inodes; overrides bytes-per-inode"},
    {"intent-log", 'l', "BYTES",
     "size of the intent log, to which fsync writes instead of committing; 0 (default): no log"},
    {"version-check", 'c', "every|first",
     "check the generation in every sector of a superblock (default), or only in the first sector, "
     "as a control"},
    {"uuid", 'U', "UUID", "UUID whose first four bytes become the file system's id; default: none"},
    {"time", 0, "SECONDS", "time stamp of new inodes, in seconds since the epoch; default: 0"},
});

}  // namespace

std::span<const adapters::MkfsOption> mkfs_options() {
  return kOptions;
}

Result<MkfsOptions> mkfs_options_of(const adapters::Settings& settings) {
  MkfsOptions options;
  for (const auto& [name, value] : settings) {
    if (std::ranges::find(kOptions, name, &adapters::MkfsOption::name) == kOptions.end())
      return fail("mkfs option " + name, "is not supported by snapfs",
                  "see `mkfs.headcrash-snapfs -h`");
    if (name == "uuid") {
      TRY(const auto id, adapters::id_of_uuid(value));
      options.id = static_cast<std::uint32_t>(id >> 32U);
      continue;
    }
    if (name == "version-check") {
      if (value != "every" && value != "first")
        return fail(name, "invalid value '" + value + "'", "use every or first");
      options.version_check =
          value == "first" ? VersionCheck::first_sector : VersionCheck::every_sector;
      continue;
    }
    TRY(const auto number, base::parse_size(value, name));
    if (number > INT32_MAX) return fail(name, "is too large", "use less than 2G");
    const auto small = static_cast<std::uint32_t>(number);
    if (name == "block-size") options.block_bytes = small;
    if (name == "bytes-per-inode") options.bytes_per_inode = small;
    if (name == "intent-log") options.log_bytes = small;
    if (name == "inodes") options.inodes = small;
    if (name == "time") options.time.seconds = static_cast<std::int32_t>(small);
  }
  return options;
}

}  // namespace headcrash::snapfs
