// Encodes and decodes inode extensions (inode_extension.h).

#include "fs-adapters/ufs/format/inode_extension.h"

#include <algorithm>

#include "plugin/base/invariant.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::size_t kTagCount = 2, kTagsGeneration = 8, kTags = 16, kTagBytes = 12, kBmap = 64;
static_assert(kTags + kLinkTagsMax * kTagBytes <= kBmap &&
              kBmap + BmapCache::kBytes == kInodeBytes);

}  // namespace

InodeExtension decode_extension(std::span<const std::byte> slot) {
  InodeExtension extension{.generation = load64(slot, kTagsGeneration)};
  const std::size_t count = std::min<std::size_t>(load8(slot, kTagCount), kLinkTagsMax);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kTags + i * kTagBytes;
    extension.tags.push_back({.directory = load32(slot, at),
                              .chunk = load32(slot, at + 4),
                              .entries = load16(slot, at + 8),
                              .links = load16(slot, at + 10)});
  }
  extension.bmap = decode_bmap_cache(slot);
  return extension;
}

BmapCache decode_bmap_cache(std::span<const std::byte> slot) {
  return BmapCache::decode(slot.subspan(kBmap));
}

void encode_extension(const InodeExtension& extension, std::span<std::byte> slot) {
  invariant(extension.tags.size() <= kLinkTagsMax,
            "ufs: an inode must not have more than kLinkTagsMax link tags");
  std::fill_n(slot.begin(), kInodeBytes, std::byte{0});
  store8(slot, kTagCount, static_cast<std::uint8_t>(extension.tags.size()));
  store64(slot, kTagsGeneration, extension.generation);
  for (std::size_t i = 0; i < extension.tags.size(); ++i) {
    const LinkTag& tag = extension.tags[i];
    const std::size_t at = kTags + i * kTagBytes;
    store32(slot, at, tag.directory), store32(slot, at + 4, tag.chunk);
    store16(slot, at + 8, tag.entries), store16(slot, at + 10, tag.links);
  }
  extension.bmap.encode(slot.subspan(kBmap));
}

}  // namespace headcrash::ufs
