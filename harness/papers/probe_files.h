#pragma once
// Creates files on a modelled machine for measurements that use no timed workload.

#include <string>

#include "fs-adapters/vfs.h"

namespace headcrash::experiment {

/// Creates a file in which every byte is `number`. Uses the calls that a program would make: open
/// with O_CREAT, write, close.
VfsResult<void> make_file(Vfs& vfs, const std::string& path, std::uint64_t number,
                          std::uint64_t bytes);

/// A set of `files` files of the same size, with `files_per_folder` files in each directory.
struct FileSet {
  std::uint64_t files = 0, file_bytes = 0, files_per_folder = 100;

  std::uint64_t folders() const { return (files + files_per_folder - 1) / files_per_folder; }
  VfsResult<void> make_folders(Vfs& vfs) const;
  VfsResult<void> make_files(Vfs& vfs) const;
  /// Returns true if all files exist and have the correct size.
  VfsResult<bool> complete(Vfs& vfs) const;
};

}  // namespace headcrash::experiment
