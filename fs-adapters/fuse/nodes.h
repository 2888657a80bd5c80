#pragma once
// A FUSE file system's node table: assigns a number to each inode that the kernel has looked up.
//
// A node number is never reused, so a late FORGET for a removed file cannot affect another file
// that reuses the inode number. A node lives while its lookup count is positive; FORGET lowers the
// count.

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "fs-adapters/vfs.h"

namespace headcrash::fuse {

inline constexpr std::uint64_t kRootNode = 1;  ///< FUSE_ROOT_ID; never forgotten

class Nodes {
 public:
  /// Returns an inode's node number and increments its lookup count. Assigns a number if the inode
  /// does not have one.
  std::uint64_t remember(const InodeName& inode);
  void forget(std::uint64_t node, std::uint64_t times);
  std::optional<InodeName> find(std::uint64_t node) const;
  void set_root(const InodeName& root);
  std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    InodeName inode;
    std::uint64_t references = 0;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< inode, generation
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::map<Key, std::uint64_t> numbers_;
  std::uint64_t next_ = kRootNode + 1;
};

}  // namespace headcrash::fuse
