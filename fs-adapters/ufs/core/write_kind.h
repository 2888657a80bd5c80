#pragma once
// The kind of data in a write, for statistics (os::BlockRequest::kind). Structures at fixed places
// are recognised by their addresses; those in the data area are recognised by their buffers.
//
// In section 4 of Peacock, Kamaraju and Agrawal 1998, the hit rate of a write cache determines
// whether logging is better than updating in place. Measuring that rate requires the kind of each
// write.

#include <cstdint>
#include <span>
#include <string_view>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

enum class WriteKind : std::uint8_t {
  other,       ///< writes by a replay or a repair; only their addresses are known
  superblock,  ///< the superblock and the groups' summaries
  group,       ///< group headers: maps of inodes and blocks, busy marks
  inodes,
  indirect,
  directory,  ///< directory blocks and targets of long symbolic links
  data,
  log,
};
/// Implements adapters::FileSystemType::block_kinds().
std::span<const std::string_view> write_kinds();

/// Returns the kind of a buffer's write. `home` is the first fragment to which the buffer is
/// written.
WriteKind kind_of(const Superblock& superblock, const Geometry& geometry, const os::BufferKey& key,
                  os::Content content, FragmentAddress home);

}  // namespace headcrash::ufs
