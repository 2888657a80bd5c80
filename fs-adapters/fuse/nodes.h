#pragma once
// What the kernel knows of the file system: each inode that it has looked up, under a number of
// ours.
//
// A number is never used again, so that a late FORGET of a removed file cannot hit the file that
// has got its inode since. The kernel counts its look-ups of a node and forgets as many.

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
  /// Another one of the kernel's references to it, the first or not: its number.
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
