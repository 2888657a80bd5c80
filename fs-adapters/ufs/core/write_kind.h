#pragma once
// What a write holds, for who counts writes by it (os::BlockRequest::kind): structures of the
// format that have places of their own are known by these, and what lies among the data by its
// buffer.
//
// Source: Peacock, Kamaraju and Agrawal 1998, section 4, where a write cache's hits are what
// decides between a log and updates in place.

#include <cstdint>
#include <span>
#include <string_view>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

enum class WriteKind : std::uint8_t {
  other,       ///< a replay's and a repair's writes, which go by places only
  superblock,  ///< and the groups' summaries
  group,       ///< headers: maps of inodes and blocks, busy marks
  inodes,
  indirect,
  directory,  ///< and targets of long symbolic links
  data,
  log,
};
/// adapters::FileSystemType::block_kinds().
std::span<const std::string_view> write_kinds();

/// Of a buffer's write. `home`: its first fragment.
WriteKind kind_of(const Superblock& superblock, const Geometry& geometry, const os::BufferKey& key,
                  os::Content content, FragmentAddress home);

}  // namespace headcrash::ufs
