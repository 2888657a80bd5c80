// Assigns node numbers and counts lookups (nodes.h).
#include "fs-adapters/fuse/nodes.h"

namespace headcrash::fuse {

void Nodes::set_root(const InodeName& root) {
  nodes_[kRootNode] = {.inode = root, .references = 1};
  numbers_[{root.inode, root.generation}] = kRootNode;
}

std::uint64_t Nodes::remember(const InodeName& inode) {
  const auto [known, is_new] = numbers_.try_emplace(Key{inode.inode, inode.generation}, next_);
  if (is_new) nodes_[next_++] = {.inode = inode};
  ++nodes_[known->second].references;
  return known->second;
}

void Nodes::forget(std::uint64_t node, std::uint64_t times) {
  const auto known = nodes_.find(node);
  if (node == kRootNode || known == nodes_.end()) return;
  if (known->second.references > times) {
    known->second.references -= times;
    return;
  }
  numbers_.erase({known->second.inode.inode, known->second.inode.generation});
  nodes_.erase(known);
}

std::optional<InodeName> Nodes::find(std::uint64_t node) const {
  const auto known = nodes_.find(node);
  if (known == nodes_.end()) return std::nullopt;
  return known->second.inode;
}

}  // namespace headcrash::fuse
