#include "harness/explorer/guests/md_journal.h"

#include <algorithm>

#include "plugin/base/little_endian.h"

namespace headcrash::explorer {
namespace {

constexpr std::uint32_t kMagic = 0x6433c509;
constexpr std::size_t kHeaderBytes = 32, kSizeAt = 12;
constexpr std::size_t kPayloadSizeAt = 4, kStripesAt = 8, kChecksumsAt = 16;
constexpr std::uint32_t kTypeMask = 0xffff, kDataPayload = 0, kParityPayload = 1, kFlushPayload = 2;
constexpr std::uint32_t kSectorsPerPage = kMdPageBytes / 512;

}  // namespace

std::vector<std::uint64_t> stripes_on_disks(std::span<const std::byte> block) {
  std::vector<std::uint64_t> stripes;
  if (block.size() < kHeaderBytes || little_endian::load32(block, 0) != kMagic) return stripes;
  const std::size_t end =
      std::min<std::size_t>(little_endian::load32(block, kSizeAt), block.size());
  for (std::size_t at = kHeaderBytes; at + kChecksumsAt <= end;) {
    const std::uint32_t type = little_endian::load32(block, at) & kTypeMask;
    const std::size_t size = little_endian::load32(block, at + kPayloadSizeAt);
    if (type == kFlushPayload) {
      const std::size_t last = std::min(at + kStripesAt + size, end);
      for (at += kStripesAt; at + sizeof(std::uint64_t) <= last; at += sizeof(std::uint64_t))
        stripes.push_back(little_endian::load64(block, at));
    } else if (type == kDataPayload || type == kParityPayload) {
      at += kChecksumsAt + size / kSectorsPerPage * sizeof(std::uint32_t);
    } else {
      break;
    }
  }
  return stripes;
}

}  // namespace headcrash::explorer
