#pragma once
// The UFS of the Netra NFS server: the scheme Conventional, and additions that let a check examine
// only busy inodes and fragments (Peacock, Kamaraju and Agrawal 1998, section 5).
//
// With the feature fast-check, an operation first marks the inodes and fragments that it will
// change as busy (busy_groups.h). Link counts carry tags (inode_extension.h). In the table, S is a
// synchronous write, D a delayed write, and M synchronous writes of the marks that are missing.
//
//   create    M, inode with tag S, directory block S
//   mkdir     its block S, M, inode with tag S, parent's inode with tag S, parent's block S
//   unlink    M, inode with lowered count and tag S, directory block S; without links: M of all its
//             blocks, cleared inode S, then bitmaps D
//   rename    inode with tag S, new name S, inode with tags S, old name S (a cut may leave both
//             names)
//   write     M before the bitmaps change, pointers D
//   truncate  M of released blocks, remaining indirect blocks S, inode S, then bitmaps D
//
// With the feature bmap-cache (bmap_cache.h), which does not need fast-check:
//
//   append    beyond the direct blocks: the pointer is in the inode; if the cache is full, its
//             indirect block S
//   truncate  first, if an indirect block remains: the cache's indirect block S, inode without
//             cache S
//
// A count is lowered before the name is removed, so the tag is always correct: it records how many
// entries the count includes, and a check corrects the difference. For a renamed directory, tags
// refer to the whole of both directories, because the old entry's place is unknown when the new one
// is added; if there are two names, the check removes one. Tags cannot describe an exchange of
// names, which therefore requires a full check.
//
// An operation raises a link count in core before it calls the scheme. If the inode is a directory,
// the fsync of a file below it may copy the inode to its block in between, although the operation
// has locked the inode. Until there is a tag for the new count, such a copy contains the previous
// count (the paper's DL_NOSLOT).
//
// The last write of a series is synchronous, because an NFS server's replies must be durable. If an
// entry cannot be written after its count has been lowered, the file system stops: with a count of
// 0 the inode would be freed while it still has a name.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>

#include "fs-adapters/ufs/format/inode_extension.h"
#include "fs-adapters/ufs/netra/busy_groups.h"
#include "fs-adapters/ufs/schemes/conventional.h"

namespace headcrash::ufs {

// Cleans busy groups one after another, so that a fast check has few groups to examine (Peacock,
// Kamaraju and Agrawal 1998, section 5.2). In each interval, the flusher begins with the group
// after the hot spot, continues with the other groups in circular order, and stops when it has used
// up its share of the interval. It writes one group at a time. The flusher is a work item of the
// syncer, and delays other items while it runs. While no group is busy, the flusher is not
// scheduled.

class GroupFlusher {
 public:
  GroupFlusher(Volume& volume, BusyGroups& busy, const NetraOptions& options)
      : volume_(volume), busy_(busy), options_(options) {}

  /// Schedules the flusher. Must be called whenever a group may have become busy.
  void arm();

 private:
  void flush();

  Volume& volume_;
  BusyGroups& busy_;
  NetraOptions options_;
  bool armed_ = false;
};

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
  /// The location, in memory, of a directory entry that was added or is about to be removed.
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
    /// The operation that holds the inode's lock, or that held it last.
    const Operation* operation = nullptr;
    std::vector<LinkTag> tags = {};
  };
  std::map<InodeNumber, TaggedInode> tagged_;
};

}  // namespace headcrash::ufs
