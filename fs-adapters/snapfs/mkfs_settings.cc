// Names and values become MkfsOptions (mkfs_settings.h).
#include "fs-adapters/snapfs/mkfs_settings.h"

#include <algorithm>
#include <array>

#include "plugin/base/size.h"

namespace headcrash::snapfs {
namespace {

constexpr auto kOptions = std::to_array<adapters::MkfsOption>({
    {"block-size", 'b', "BYTES", "of a block, 512 to 8192 (4096)"},
    {"bytes-per-inode", 'i', "BYTES", "density of inodes (8192)"},
    {"inodes", 'N', "COUNT", "of inodes, in place of their density"},
    {"intent-log", 'l', "BYTES",
     "of a log that fsync writes to, in place of a generation; 0: none (0)"},
    {"version-check", 'c', "every|first",
     "first: a superblock's first sector is believed to speak for all, which a control does (every)"},
    {"uuid", 'U', "UUID", "its first four bytes are the file system's id (none)"},
    {"time", 0, "SECONDS", "since the epoch, of what it makes (0)"},
});

}  // namespace

std::span<const adapters::MkfsOption> mkfs_options() {
  return kOptions;
}

Result<MkfsOptions> mkfs_options_of(const adapters::Settings& settings) {
  MkfsOptions options;
  for (const auto& [name, value] : settings) {
    if (std::ranges::find(kOptions, name, &adapters::MkfsOption::name) == kOptions.end())
      return fail("mkfs option " + name, "is unknown to snapfs",
                  "`mkfs.headcrash-snapfs -h` lists all of them");
    if (name == "uuid") {
      TRY(const auto id, adapters::id_of_uuid(value));
      options.id = static_cast<std::uint32_t>(id >> 32U);
      continue;
    }
    if (name == "version-check") {
      if (value != "every" && value != "first")
        return fail(name, "'" + value + "' is none", "give every or first");
      options.version_check =
          value == "first" ? VersionCheck::first_sector : VersionCheck::every_sector;
      continue;
    }
    TRY(const auto number, base::parse_size(value, name));
    if (number > INT32_MAX) return fail(name, "is too large", "give less than 2G");
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
