// The tree (file_system.h): rename and its variants.
//
//   move      raise the source's count; add the new name (or change the existing one); [set ".." of
//             a directory with a new parent]; remove the old name, which lowers the count
//   exchange  raise both counts; add a temporary name for the target; change both names; remove the
//             temporary name. Both inodes thus have a name on the disk at any instant (R1). After a
//             cut, the temporary name may remain unless fsck removes it (exchange_name.h).
//
// A parent's link count rises before a directory gets a name in it (including the temporary name of
// an exchange), and falls once that name is gone. The count does not depend on the target of "..".

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/exchange_name.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::tree {

struct FileSystem::Rename {
  NameInDirectory from, to;
  std::optional<FoundName> source_at, target_at;
  InodeHandle source, target;
  bool other_parent() const { return from.directory.get() != to.directory.get(); }
};

namespace {

// Maximum number of times that a rename looks up its names. The lookups are repeated if other
// fibers have changed the names.
constexpr int kLookupsMax = 100;

/// Returns the inode to which a directory's ".." refers, and the position of the entry.
VfsResult<FoundName> find_parent(InodeStore& store, CoreInode& directory) {
  TRY(const auto found, find_name(store, directory, ".."));
  if (!found) return refuse(EIO);
  return *found;
}

void raise(InodeStore& store, CoreInode& inode) {
  ++inode.attributes.links;
  inode.attributes.changed = store.now();
  store.mark_changed(inode);
}

/// Makes the ".." of a moved directory refer to its new parent, whose link count has already been
/// raised.
VfsResult<void> change_parent(InodeStore& store, Operation& operation, CoreInode& directory,
                              CoreInode& old_parent, CoreInode& new_parent) {
  TRY(const auto parent_at, find_parent(store, directory));
  return replace_name(store, operation, directory, new_parent,
                      {.name = "..",
                       .at = parent_at,
                       .cause = NameCause::parent,
                       .replaced = {.inode = &old_parent, .links = 0}});
}

/// Returns the link to drop when a moved inode loses its old name. `leaves` is the inode's old
/// parent, whose link count will be lowered; null if no link count changes.
DroppedLink moved_from(CoreInode& inode, CoreInode* leaves) {
  return {.inode = &inode, .parent = leaves, .moved = true};
}

}  // namespace

VfsResult<std::vector<InodeNumber>> FileSystem::ancestors(InodeNumber directory,
                                                          Operation& operation) {
  std::vector<InodeNumber> way{directory};
  while (way.back() != store_->root()) {
    if (way.size() > store_->inodes_max()) return refuse(ELOOP);
    TRY(auto inode, store_->get(way.back(), &operation));
    const InodeLock lock(*inode);
    if (!inode->attributes.is_directory() || inode->effective_links() == 0) return refuse(ENOENT);
    TRY(const auto parent, find_parent(*store_, *inode));
    way.push_back(parent.inode);
  }
  return way;
}

VfsResult<void> FileSystem::move_over(Operation& operation, Rename& rename) {
  CoreInode& from = *rename.from.directory;
  CoreInode& to = *rename.to.directory;
  CoreInode& source = *rename.source;
  const bool is_directory = source.attributes.is_directory();
  const bool gets_parent = is_directory && rename.other_parent();
  CoreInode* const target = rename.target.get();
  if (target != nullptr) {
    if (target->attributes.is_directory() != is_directory)
      return refuse(is_directory ? ENOTDIR : EISDIR);
    if (is_directory) {
      TRY(const auto empty, is_empty(*store_, *target));
      if (!empty) return refuse(ENOTEMPTY);
    }
  }
  if (to.effective_links() == 0) return refuse(ENOENT);
  if (source.attributes.links >= kLinksMax || (gets_parent && to.attributes.links >= kLinksMax))
    return refuse(EMLINK);

  VfsResult<std::int64_t> room = 0;
  if (target == nullptr) room = make_room(*store_, operation, to, rename.to.name);
  if (!room) return forward_errno(room);
  raise(*store_, source);
  if (gets_parent) raise(*store_, to);
  auto done = target != nullptr ? replace_name(*store_, operation, to, source,
                                               {.name = rename.to.name,
                                                .at = *rename.target_at,
                                                .cause = NameCause::rename,
                                                .replaced = dropped_from(to, *target),
                                                .raises_directory = gets_parent})
                                : add_name(*store_, operation, to, source,
                                           {.name = rename.to.name,
                                            .block = *room,
                                            .cause = NameCause::rename,
                                            .raises_directory = gets_parent,
                                            .others_follow = true});
  if (!done) return done;
  if (is_directory) store_->directory_moved(source);
  if (gets_parent)
    if (done = change_parent(*store_, operation, source, from, to); !done) return done;
  if (done = store_->settle_name(operation, source); !done) return done;
  // The entry of the old name may have been moved when the new name was added.
  TRY(const auto old, find_name(*store_, from, rename.from.name));
  if (!old) return refuse(EIO);
  return remove_name(*store_, operation, from,
                     {.name = rename.from.name,
                      .at = *old,
                      .cause = NameCause::rename,
                      .dropped = moved_from(source, gets_parent ? &from : nullptr)});
}

VfsResult<void> FileSystem::exchange(Operation& operation, Rename& rename) {
  CoreInode& from = *rename.from.directory;
  CoreInode& to = *rename.to.directory;
  CoreInode& source = *rename.source;
  CoreInode& target = *rename.target;
  const bool source_moves = rename.other_parent() && source.attributes.is_directory();
  const bool target_moves = rename.other_parent() && target.attributes.is_directory();
  if (std::max(source.attributes.links, target.attributes.links) + 2 > static_cast<int>(kLinksMax))
    return refuse(EMLINK);
  if ((source_moves && to.attributes.links >= kLinksMax) ||
      (target_moves && from.attributes.links >= kLinksMax))
    return refuse(EMLINK);
  std::string third;
  for (int i = 0; third.empty(); ++i) {
    const std::string name = exchange_name(target.number, i);
    TRY(const auto taken, find_name(*store_, from, name));
    if (!taken) third = name;
  }
  TRY(const auto room, make_room(*store_, operation, from, third));
  raise(*store_, target);
  if (target_moves) raise(*store_, from);
  auto added = add_name(*store_, operation, from, target,
                        {.name = third,
                         .block = room,
                         .cause = NameCause::exchange,
                         .raises_directory = target_moves,
                         .others_follow = true});
  if (!added) return added;
  raise(*store_, source);
  raise(*store_, target);
  if (source_moves) raise(*store_, to);
  const auto change_one = [&](NameInDirectory& at, CoreInode& now, const DroppedLink& before,
                              bool raises_directory) -> VfsResult<void> {
    TRY(const auto found, find_name(*store_, *at.directory, at.name));
    if (!found) return refuse(EIO);
    return replace_name(*store_, operation, *at.directory, now,
                        {.name = at.name,
                         .at = *found,
                         .cause = NameCause::exchange,
                         .replaced = before,
                         .raises_directory = raises_directory});
  };
  auto done = store_->settle_name(operation, target);
  if (done)
    done = change_one(rename.to, source, moved_from(target, target_moves ? &to : nullptr),
                      source_moves);
  if (done) done = store_->settle_name(operation, source);
  // The link count of this parent was already raised when the temporary name was added.
  if (done)
    done =
        change_one(rename.from, target, moved_from(source, source_moves ? &from : nullptr), false);
  for (CoreInode* one : {&source, &target})
    if (one->attributes.is_directory()) store_->directory_moved(*one);
  if (done && source_moves) done = change_parent(*store_, operation, source, from, to);
  if (done && target_moves) done = change_parent(*store_, operation, target, to, from);
  if (done) done = store_->settle_name(operation, target);
  if (!done) return done;
  TRY(const auto old, find_name(*store_, from, third));
  if (!old) return refuse(EIO);
  return remove_name(*store_, operation, from,
                     {.name = third,
                      .at = *old,
                      .cause = NameCause::exchange,
                      .dropped = moved_from(target, nullptr)});
}

VfsResult<void> FileSystem::rename_locked(Operation& operation, Rename& rename, RenameMode mode) {
  if (rename.source.get() == rename.target.get()) {
    // If the two names are equal or refer to the same file, POSIX requires no action.
    return mode == RenameMode::no_replace ? refuse(EEXIST) : VfsResult<void>();
  }
  if (mode == RenameMode::exchange) {
    if (!rename.target) return refuse(ENOENT);
    return exchange(operation, rename);
  }
  if (mode == RenameMode::no_replace && rename.target) return refuse(EEXIST);
  return move_over(operation, rename);
}

VfsResult<void> FileSystem::lookup_both(Operation& operation, Rename& rename) {
  const auto look = [&](NameInDirectory& at, std::optional<FoundName>& found,
                        InodeHandle& inode) -> VfsResult<void> {
    const InodeLock lock(*at.directory);
    TRY(auto there, find_name(*store_, *at.directory, at.name));
    found = there;
    if (!found) return {};
    TRY(auto handle, named_inode(*at.directory, at.name, found->inode, &operation));
    inode = std::move(handle);
    return {};
  };
  rename.source = {};
  rename.target = {};
  TRY(look(rename.from, rename.source_at, rename.source));
  if (!rename.source) return refuse(ENOENT);
  return look(rename.to, rename.target_at, rename.target);
}

VfsResult<std::vector<CoreInode*>> FileSystem::in_order_of_locks(Operation& operation,
                                                                 Rename& rename, RenameMode mode) {
  TRY(const auto above_from, ancestors(rename.from.directory->number, operation));
  TRY(const auto above_to, ancestors(rename.to.directory->number, operation));
  const auto contains = [](const std::vector<InodeNumber>& way, const InodeHandle& inode) {
    return inode && std::find(way.begin(), way.end(), inode->number) != way.end();
  };
  // A directory must not become its own descendant.
  if (contains(above_to, rename.source)) return refuse(EINVAL);
  if (contains(above_from, rename.target))
    return refuse(mode == RenameMode::exchange ? EINVAL : ENOTEMPTY);

  struct Ranked {
    bool file;
    std::size_t depth;
    CoreInode* inode;
    auto rank() const { return std::tuple(file, depth, inode->number); }
  };
  std::vector<Ranked> ranked{{false, above_from.size(), rename.from.directory.get()},
                             {false, above_to.size(), rename.to.directory.get()}};
  const auto add = [&](const InodeHandle& inode, std::size_t depth) {
    if (!inode) return;
    const bool file = !inode->attributes.is_directory();
    ranked.push_back({file, file ? 0 : depth, inode.get()});
  };
  add(rename.source, above_from.size() + 1);
  add(rename.target, above_to.size() + 1);
  std::sort(ranked.begin(), ranked.end(),
            [](const Ranked& a, const Ranked& b) { return a.rank() < b.rank(); });
  std::vector<CoreInode*> order;
  for (const Ranked& one : ranked)
    if (order.empty() || order.back() != one.inode) order.push_back(one.inode);
  return order;
}

VfsResult<void> FileSystem::rename(std::string_view from, std::string_view to, RenameMode mode) {
  if (mode == RenameMode::whiteout)
    return refuse(EINVAL);  // device files, such as whiteouts, are not supported
  return change([&](Operation& operation) -> VfsResult<void> {
    Rename rename;
    TRY(auto from_at, walk_to_parent(from, &operation));
    TRY(auto to_at, walk_to_parent(to, &operation));
    rename.from = std::move(from_at);
    rename.to = std::move(to_at);
    const FiberLockGuard one_at_a_time(rename_lock_);
    for (int lookups = 0; lookups < kLookupsMax; ++lookups) {
      TRY(lookup_both(operation, rename));
      TRY(const auto order, in_order_of_locks(operation, rename, mode));
      std::vector<InodeLock> locks;
      for (CoreInode* inode : order) {
        // Damaged directories may form a cycle. Two fibers may then lock the directories in
        // opposite orders, so a deadlock is possible here.
        if (inode->lock.would_deadlock()) return refuse(EIO);
        locks.emplace_back(*inode);
      }
      // Other fibers may have changed the names before all locks were held, so the names are looked
      // up again.
      const auto still = [&](const NameInDirectory& at, std::optional<FoundName>& found,
                             const InodeHandle& inode) -> VfsResult<bool> {
        TRY(const auto again, find_name(*store_, *at.directory, at.name));
        found = again;
        return found.has_value() == static_cast<bool>(inode) &&
               (!found || found->inode == inode->number);
      };
      TRY(const auto same_source, still(rename.from, rename.source_at, rename.source));
      TRY(const auto same_target, still(rename.to, rename.target_at, rename.target));
      if (same_source && same_target) return rename_locked(operation, rename, mode);
    }
    return refuse(EBUSY);
  });
}

}  // namespace headcrash::tree
