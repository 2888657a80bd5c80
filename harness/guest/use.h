#pragma once
// Tests whether a recovered file system is usable, by creating new names in its directories and
// then removing everything. After an incorrect replay of the log, the tree may look correct
// although such operations fail. For example, creating an inode fails with EEXIST, or removing an
// empty directory fails with ENOTEMPTY.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

class UsabilityTest {
 public:
  /// Adds an object of the tree. `entry` is an entry of a dump (dump.h). Entries must be added in
  /// the order of the dump.
  void add(const nlohmann::json& entry);

  /// Creates and removes a file and a directory in each of the first few directories, then removes
  /// everything except lost+found. Returns a description of the first error, or an empty string if
  /// there was no error. Does nothing if the tree is too large or contains objects that cannot be
  /// removed. Ignores ENOSPC.
  std::string use_and_empty(Vfs& vfs) const;

 private:
  static constexpr std::size_t kObjectsMost = 4096;  ///< larger trees are not tested

  struct Object {
    std::string path;
    bool directory = false;
  };
  std::vector<Object> objects_;  ///< each directory precedes its contents
  bool removable_ = true;
};

}  // namespace headcrash::guest
