#pragma once
// Files for probes on a modelled machine, apart from the timed workloads.

#include <string>

#include "fs-adapters/vfs.h"

namespace headcrash::experiment {

/// Creates a file with its number in each byte, through the calls of a program: open with creation,
/// write, close.
VfsResult<void> make_file(Vfs& vfs, const std::string& path, std::uint64_t number,
                          std::uint64_t bytes);

/// A number of files of one size, `files_per_folder` per folder.
struct FileSet {
  std::uint64_t files = 0, file_bytes = 0, files_per_folder = 100;

  std::uint64_t folders() const { return (files + files_per_folder - 1) / files_per_folder; }
  VfsResult<void> make_folders(Vfs& vfs) const;
  VfsResult<void> make_files(Vfs& vfs) const;
  /// Returns true if all exist with the right size.
  VfsResult<bool> complete(Vfs& vfs) const;
};

}  // namespace headcrash::experiment
