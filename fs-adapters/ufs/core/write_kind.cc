// Classifies writes by their address and, if that is not enough, by their buffer (write_kind.h).
#include "fs-adapters/ufs/core/write_kind.h"

#include <array>

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

std::span<const std::string_view> write_kinds() {
  static constexpr std::array<std::string_view, 8> kNames{
      "other", "superblock", "group", "inodes", "indirect", "directory", "data", "log"};
  return kNames;
}

WriteKind kind_of(const Superblock& superblock, const Geometry& geometry, const os::BufferKey& key,
                  os::Content content, FragmentAddress home) {
  if (key == kSuperblockKey) return WriteKind::superblock;
  if (content == os::Content::data) return WriteKind::data;
  if (key.object != 0) return WriteKind::directory;
  const FragmentAddress summary = superblock.summary_address;
  if (home >= summary && home < summary + geometry.fragments_of(superblock.summary_bytes))
    return WriteKind::superblock;
  if (geometry.is_data(home)) return WriteKind::indirect;
  return home < geometry.inode_table(geometry.group_of_fragment(home)) ? WriteKind::group
                                                                       : WriteKind::inodes;
}

}  // namespace headcrash::ufs
