#include "fs-adapters/examples/shadow/mkfs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fs-adapters/examples/shadow/store.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/crc32c.h"
#include "plugin/base/size.h"

namespace headcrash::shadow {
namespace {

constexpr std::uint64_t kBytesPerInode = 8192;
constexpr std::uint32_t kInodesMin = 32, kInodesMax = 1U << 20U;

constexpr auto kOptions = std::to_array<adapters::MkfsOption>({
    {"block-size", 'b', "BYTES", "block size, a power of 2 from 512 to 65536; default: 4096"},
    {"inodes", 'i', "NUMBER", "maximum number of inodes; default: one per 8 KiB"},
    {"uuid", 'U', "UUID",
     "UUID whose first eight bytes become the file system's id; default: none"},
    {"time", 0, "SECONDS", "time stamp of the root, in seconds since the epoch; default: 0"},
});

struct Options {
  std::uint64_t block_bytes = 4096, inodes = 0, id = 0, time = 0;
};

Result<Options> options_of(const adapters::Settings& settings) {
  Options options;
  for (const auto& [name, value] : settings) {
    if (name == "uuid") {
      TRY(const auto id, adapters::id_of_uuid(value));
      options.id = id;
      continue;
    }
    if (std::ranges::find(kOptions, name, &adapters::MkfsOption::name) == kOptions.end())
      return fail("mkfs option " + name, "is not supported by shadow",
                  "`mkfs.headcrash-shadow -h` lists the options");
    TRY(const auto number, base::parse_size(value, name));
    (name == "block-size" ? options.block_bytes
     : name == "inodes"   ? options.inodes
                          : options.time) = number;
  }
  if (options.block_bytes < tree::kChunkBytes || options.block_bytes > (1U << 16U) ||
      !std::has_single_bit(options.block_bytes))
    return fail("block-size", fmt::format("invalid: {} bytes", options.block_bytes),
                "use a power of 2 from 512 to 65536");
  if (options.inodes > kInodesMax)
    return fail("inodes", fmt::format("invalid: {}", options.inodes),
                fmt::format("use at most {}", kInodesMax));
  return options;
}

/// Computes the layout, with as many blocks as fit on the device together with their tables.
Result<Geometry> lay_out(std::uint64_t sectors, const Options& options) {
  Geometry geometry{.id = options.id,
                    .block_bytes = static_cast<std::uint32_t>(options.block_bytes)};
  geometry.inodes = static_cast<std::uint32_t>(
      options.inodes != 0 ? options.inodes
                          : std::clamp<std::uint64_t>(sectors * kSectorBytes / kBytesPerInode,
                                                      kInodesMin, kInodesMax));
  constexpr std::uint64_t kBlocksMax =
      UINT32_MAX / kPointerBytes / 2;  // the size of a table is stored in 32 bits
  if (sectors / geometry.block_sectors() > kBlocksMax)
    return fail(
        "mkfs",
        fmt::format(
            "a device of {} bytes has more than {} blocks of {} bytes, which is the limit of the "
            "inode table",
            sectors * kSectorBytes, kBlocksMax, geometry.block_bytes),
        "use a smaller device or larger blocks");
  geometry.blocks = static_cast<std::uint32_t>(sectors / geometry.block_sectors());
  while (geometry.blocks > kBlocksMin && geometry.device_sectors() > sectors) {
    const std::uint64_t beyond = geometry.device_sectors() - sectors;
    // Sectors that one more block needs, rounded up: its contents, and its entries in both tables.
    const std::uint64_t taken = geometry.block_sectors() + 1;
    geometry.blocks -= static_cast<std::uint32_t>(std::min<std::uint64_t>(
        std::max<std::uint64_t>(beyond / taken, 1), geometry.blocks - kBlocksMin));
  }
  if (geometry.blocks < kBlocksMin || geometry.device_sectors() > sectors)
    return fail("mkfs", fmt::format("no space for {} blocks", kBlocksMin),
                "use a larger device or smaller blocks");
  return geometry;
}

}  // namespace

std::span<const adapters::MkfsOption> mkfs_options() {
  return kOptions;
}

Result<Header> mkfs(model::SectorStore& store, const adapters::Settings& settings) {
  TRY(const auto options, options_of(settings));
  TRY(const auto geometry, lay_out(store.sectors(), options));
  std::vector<std::byte> names(geometry.block_bytes);
  tree::format_chunks(names);
  tree::format_directory(std::span(names).first(tree::kChunkBytes), kRootInode, kRootInode);
  Record root{.number = kRootInode};
  root.attributes.mode = tree::kTypeDirectory | 0755;
  root.attributes.links = 2;
  root.attributes.size_bytes = geometry.block_bytes;
  root.attributes.accessed = root.attributes.modified =
      root.attributes.changed = {.seconds = static_cast<std::int32_t>(options.time)};
  root.blocks.emplace(0, 0);
  std::vector<std::byte> table;
  append(root, table);
  const Header header{.geometry = geometry,
                      .sequence = 1,
                      .table_bytes = static_cast<std::uint32_t>(table.size()),
                      .table_checksum = crc32c(table),
                      .clean = true};
  table.resize((table.size() + kSectorBytes - 1) / kSectorBytes * kSectorBytes);
  // The old headers are erased first, and the new header is written last.
  for (const std::uint64_t lba : kHeaderSectors) TRY(store.write_zeroes(lba, 1));
  TRY(store.write(geometry.lba_of(0), names));
  TRY(store.write(geometry.table_lba(header.slot()), table));
  TRY(store.write(kHeaderSectors.at(header.slot()), encode(header)));
  return header;
}

}  // namespace headcrash::shadow
