// Converts names and values to MkfsOptions (mkfs_settings.h).
#include "fs-adapters/lfs/mkfs_settings.h"

#include <algorithm>
#include <array>

#include "plugin/base/size.h"

namespace headcrash::lfs {
namespace {

constexpr auto kOptions = std::to_array<adapters::MkfsOption>({
    {"block-size", 'b', "BYTES", "block size, 512 to 8192; default: 4096"},
    {"segment-size", 's', "BYTES", "segment size, a multiple of the block size; default: 512K"},
    {"align", 'a', "BYTES",
     "alignment of the first segment, for example an array's stripe size; default: 64K"},
    {"bytes-per-inode", 'i', "BYTES", "bytes of device space per inode; default: 4096"},
    {"reserve", 'm', "PERCENT",
     "percentage of segments kept free for the cleaner, at least 7 segments; default: 8"},
    {"checksums", 'c', "0|1",
     "0: log regions have no checksums, as in Sprite; the disk must then write the last sector of "
     "a request last; default: 1"},
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
    if (name == "uuid") {
      TRY(const auto id, adapters::id_of_uuid(value));
      options.id = static_cast<std::uint32_t>(id >> 32U);
      continue;
    }
    if (std::ranges::find(kOptions, name, &adapters::MkfsOption::name) == kOptions.end())
      return fail("mkfs option " + name, "is not supported by lfs", "see `mkfs.headcrash-lfs -h`");
    TRY(const auto number, base::parse_size(value, name));
    if (number > INT32_MAX) return fail(name, "is too large", "use less than 2G");
    const auto small = static_cast<std::uint32_t>(number);
    if (name == "block-size") options.block_bytes = small;
    if (name == "segment-size") options.segment_bytes = small;
    if (name == "align") options.align_bytes = small;
    if (name == "bytes-per-inode") options.bytes_per_inode = small;
    if (name == "reserve") options.reserve_percent = small;
    if (name == "checksums" && small > 1)
      return fail(name, value + " is neither 0 nor 1", "use 0 or 1");
    if (name == "checksums") options.checksums = small == 1;
    if (name == "time") options.time.seconds = static_cast<std::int32_t>(small);
  }
  return options;
}

}  // namespace headcrash::lfs
