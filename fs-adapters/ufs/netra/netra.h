#pragma once
// The Netra NFS server's UFS: Conventional, and with it what lets a check look only at what was
// busy (Peacock, Kamaraju and Agrawal 1998, section 5).
//
// With the feature fast-check everything that a change concerns is marked busy first
// (busy_groups.h), and counts of links carry tags (inode_extension.h). S: synchronous, D: delayed,
// M: marks that are not there yet, S
//
//   create    M, inode with tag S, directory's block S
//   mkdir     its block S, M, inode with tag S, parent's inode with tag S, parent's block S
//   unlink    M, inode with its count lowered and a tag S, directory's block S; without links: M of all its
//             blocks, cleared inode S, then the bitmaps D
//   rename    inode with tag S, new name S, inode with tags S, old name S: a cut may leave both names
//   write     M before the bitmaps change, pointers D
//   truncate  M of what goes, indirect blocks that stay S, inode S, then the bitmaps D
//
// With the feature bmap-cache (bmap_cache.h), which goes without the other one, too:
//
//   append    behind the direct blocks: the pointer is in the inode; when the cache is full its indirect block S
//   truncate before all else, where an indirect block stays: the cache's indirect block S, inode
//   without cache S
//
// A count is lowered before the name goes, so that the tag is never false: it tells how many
// entries the count takes for granted, and a check corrects the difference. Entries of a directory
// that is renamed are tagged by the whole of both directories, since the old one's place is not
// known when the new one is made; of two names the check takes one away. An exchange of names is
// more than tags can tell: it demands a full check.
//
// An operation raises a count before it comes here, and an fsync of what lies below copies inodes
// that others have
// locked: until there is a tag the count that goes to the disk is the one before (the paper's
// DL_NOSLOT).
//
// The last write of a series is synchronous: what a server has answered must stay. When an entry
// whose count has been lowered cannot be written the file system stops: with the last count the
// inode would be removed, and be named still.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>

#include "fs-adapters/ufs/format/inode_extension.h"
#include "fs-adapters/ufs/netra/busy_groups.h"
#include "fs-adapters/ufs/netra/group_flusher.h"
#include "fs-adapters/ufs/schemes/conventional.h"

namespace headcrash::ufs {

class Netra : public Conventional {
 public:
  Netra(Volume& volume, const SchemeOptions& options);
  std::string_view name() const override { return "netra"; }
  void begin(Operation& operation) override;
  VfsResult<void> end(Operation& operation) override;
  VfsResult<void> before_taking(std::uint32_t group, InodeNumber inode, bool is_directory) override;
  bool may_take(std::uint32_t group, InodeNumber inode) const override;
  VfsResult<void> blocks_removed(Operation& operation, const BlockRemoval& removal,
                                 os::HeldBuffer holder) override;
  VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  VfsResult<void> inode_removed(Operation& operation, const InodeRemoval& removal) override;
  VfsResult<void> bmap_merged(CoreInode& inode, os::HeldBuffer indirect, BmapMerge why) override;
  VfsResult<void> bmap_ended(CoreInode& inode) override;
  void inode_copied(CoreInode& inode, os::HeldBuffer& block) override;
  void inode_loaded(CoreInode& inode) override { inode.links_tagged = inode.disk.links; }
  VfsResult<void> sync() override;
  std::size_t bytes_in_core() const override {
    return busy_.bytes_in_core() + tagged_.size() * kDependencyBytes;
  }

  BusyGroups& busy() { return busy_; }

 private:
  /// An entry that has come or is about to go, in memory.
  struct EntryPlace {
    InodeNumber directory;
    std::int64_t block;
    std::uint32_t offset;
    const os::HeldBuffer& buffer;
  };
  bool fast() const;
  VfsResult<void> write_entry(os::HeldBuffer directory_block);
  VfsResult<void> mark(tree::CoreInode& inode);
  VfsResult<void> tag(Operation& operation, tree::CoreInode& inode, const LinkTag& tag);
  VfsResult<void> tag_entry(Operation& operation, tree::CoreInode& inode, const EntryPlace& place,
                            std::uint16_t links);
  VfsResult<void> tag_moving_directory(Operation& operation, CoreInode& moving, InodeNumber to);
  VfsResult<void> tag_moved_directory(Operation& operation, tree::CoreInode& moved,
                                      InodeNumber from);
  VfsResult<void> exchanged(std::initializer_list<tree::CoreInode*> inodes,
                            const std::function<VfsResult<void>()>& step);
  VfsResult<void> lower(Operation& operation, const DroppedLink& dropped, const EntryPlace& place);
  VfsResult<void> drop(Operation& operation, const DroppedLink& dropped, const EntryPlace& place);

  BusyGroups busy_;
  GroupFlusher flusher_;
  struct TaggedInode {
    const Operation* operation = nullptr;  ///< that has it locked, or had it last
    std::vector<LinkTag> tags = {};
  };
  std::map<InodeNumber, TaggedInode> tagged_;
};

}  // namespace headcrash::ufs
