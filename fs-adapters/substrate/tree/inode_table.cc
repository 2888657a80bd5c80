// A table of in-core inodes (inode_table.h).
#include "fs-adapters/substrate/tree/inode_table.h"

#include <utility>

#include "plugin/base/invariant.h"

namespace headcrash::tree {
namespace {

constexpr std::size_t kIdleInodes = 1000;

}  // namespace

InodeTable::InodeTable(os::Executor& executor, Create create, Load load)
    : create_(std::move(create)), load_(std::move(load)), loaded_(executor) {}

VfsResult<TableInode*> InodeTable::get(InodeNumber number) {
  while (TableInode* const inode = find(number)) {
    if (inode->loading) {
      loaded_.wait();
      continue;
    }
    refer(*inode);
    return inode;
  }
  TableInode& inode = add(number);
  inode.loading = true;
  const auto done = load_(inode);
  inode.loading = false;
  loaded_.wake_all();
  if (!done) {
    erase(number);
    return forward_errno(done);
  }
  return &inode;
}

TableInode& InodeTable::add(InodeNumber number) {
  auto& place = inodes_[number];
  invariant(place == nullptr, "a new inode must not be in the inode table yet");
  place = create_(number);
  place->references = 1;
  return *place;
}

TableInode* InodeTable::find(InodeNumber number) const {
  const auto found = inodes_.find(number);
  return found == inodes_.end() ? nullptr : found->second.get();
}

void InodeTable::refer(TableInode& inode) {
  ++inode.references;
  end_idleness(inode);
}

void InodeTable::end_idleness(TableInode& inode) {
  if (!List::contains(inode)) return;
  idle_.remove(inode);
  --idle_count_;
}

void InodeTable::make_idle(TableInode& inode) {
  if (List::contains(inode)) return;
  idle_.append(inode);
  if (++idle_count_ > kIdleInodes) forget_idle(kIdleInodes);
}

void InodeTable::forget_idle(std::size_t keep) {
  while (idle_count_ > keep) erase(idle_.first()->number);
}

void InodeTable::erase(InodeNumber number) {
  TableInode* const inode = find(number);
  if (inode == nullptr) return;
  end_idleness(*inode);
  inodes_.erase(number);
}

}  // namespace headcrash::tree
