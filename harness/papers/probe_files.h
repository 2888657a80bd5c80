#pragma once
// Files that probes make on a modelled machine, outside of the timed workloads.

#include <string>

#include "fs-adapters/vfs.h"

namespace headcrash::experiment {

/// A new file with its number in each byte; the calls a program makes: open with creation, write,
/// close.
VfsResult<void> make_file(Vfs& vfs, const std::string& path, std::uint64_t number,
                          std::uint64_t bytes);

/// So many files of one size, `files_per_folder` to a folder.
struct FileSet {
  std::uint64_t files = 0, file_bytes = 0, files_per_folder = 100;

  std::uint64_t folders() const { return (files + files_per_folder - 1) / files_per_folder; }
  VfsResult<void> make_folders(Vfs& vfs) const;
  VfsResult<void> make_files(Vfs& vfs) const;
  /// All of them are there, each with its size.
  VfsResult<bool> complete(Vfs& vfs) const;
};

}  // namespace headcrash::experiment
