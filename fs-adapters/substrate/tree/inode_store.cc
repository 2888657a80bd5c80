// Default implementations of InodeStore (inode_store.h).

#include "fs-adapters/substrate/tree/inode_store.h"

#include <algorithm>
#include <cerrno>

namespace headcrash::tree {

InodeStore::~InodeStore() {
  if (charged_bytes_ > 0 && !charging_) cache.uncharge(charged_bytes_);
}

void InodeStore::charge_structures() {
  constexpr os::TimeNs kBetweenLooksNs = kNsPerSecond;
  if (!cache.structures_count() || charging_ || executor.now() < next_charge_ns_) return;
  next_charge_ns_ = executor.now() + kBetweenLooksNs;
  const std::size_t bytes = bytes_in_core();
  if (bytes <= charged_bytes_) {
    cache.uncharge(charged_bytes_ - bytes);
    charged_bytes_ = bytes;
    return;
  }
  charging_ = true;
  if (cache.charge(bytes - charged_bytes_)) charged_bytes_ = bytes;
  charging_ = false;
}

VfsResult<os::HeldBuffer> InodeStore::block_to_change(Operation&, CoreInode& inode,
                                                      std::int64_t block) {
  return read_block(inode, block);
}

VfsResult<void> InodeStore::make_room(Operation&, CoreInode&, const BytesToChange&) {
  return {};
}

VfsResult<void> InodeStore::write_target(Operation& operation, CoreInode& link,
                                         std::string_view target) {
  const auto bytes = static_cast<std::uint32_t>(target.size());
  const auto block = block_for_writing(
      operation, link, {.bytes = bytes, .first_contents = std::as_bytes(std::span(target))});
  if (!block) return forward_errno(block);
  link.attributes.size_bytes = bytes;
  return {};
}

VfsResult<std::string> InodeStore::read_target(CoreInode& link) {
  const std::uint64_t size = link.attributes.size_bytes;
  if (size > kPathBytesMax) return refuse(EIO);
  std::string target;
  for (std::int64_t block = 0; target.size() < size; ++block) {
    TRY(const auto buffer, read_block(link, block));
    if (!buffer) return refuse(EIO);
    const std::size_t count = std::min<std::size_t>(buffer.bytes().size(), size - target.size());
    target.append(reinterpret_cast<const char*>(buffer.bytes().data()), count);
  }
  return target;
}

VfsResult<void> InodeStore::settle_name(Operation&, CoreInode& inode) {
  (void)inode;
  return {};
}

void InodeStore::directory_moved(CoreInode& directory) {
  (void)directory;
}

void InodeStore::drop_link(const DroppedLink& dropped) {
  const auto lower = [this](CoreInode& inode, std::uint16_t links) {
    inode.attributes.links = static_cast<std::uint16_t>(inode.attributes.links -
                                                        std::min(inode.attributes.links, links));
    mark_changed(inode);
  };
  if (dropped.inode != nullptr && dropped.links > 0) lower(*dropped.inode, dropped.links);
  if (dropped.parent != nullptr) lower(*dropped.parent, 1);
}

}  // namespace headcrash::tree
