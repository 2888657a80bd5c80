#pragma once
// A directory tree that resembles a home directory. Each directory above the lowest level has a few
// subdirectories. The sizes of the files have a log-normal distribution and add up to exactly the
// given total.
//
//   directory k is in directory (k-1)/3: 27 directories are on four levels of 1, 3, 9 and 14
//   sizes are e^(1.5 z), scaled to the total; z is the sum of twelve uniform numbers, minus six
//
// The tree is the same for every seed and user. Only the contents of the files differ.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/workload/timed/file_work.h"

namespace headcrash::timed {

/// Selects the steps for which a script starts a separate program. By default, one program does
/// everything.
struct Programs {
  bool each_folder = false;
  bool each_file = false;
};

class FileTree {
 public:
  FileTree(std::size_t files, std::uint64_t bytes, std::size_t folders);

  std::size_t files() const { return sizes_.size(); }
  std::size_t folders() const { return content_.size(); }
  /// Returns the path of a directory below `root`, which is directory 0. A parent has a lower
  /// number than its children.
  std::string folder(const std::string& root, std::size_t number) const;
  const std::vector<std::size_t>& files_in(std::size_t folder) const { return content_[folder]; }
  std::size_t entries_in(std::size_t folder) const;
  /// Returns file `number` of the tree at `root`. The contents of the file depend on `owner`.
  TimedFile file(const std::string& root, std::size_t number, std::size_t owner) const;

  PhaseResult make_folders(FileWork& work, const std::string& root,
                           const Programs& programs = {}) const;
  PhaseResult create(FileWork& work, const std::string& root, std::size_t owner) const;
  /// Creates the tree as an archiver unpacks it: first each directory, then its files. Each file
  /// counts as one operation.
  PhaseResult extract(FileWork& work, const std::string& root) const;
  /// Copies the tree as cp -r does: lists and creates each directory, then stats and copies each
  /// file. Each file counts as one operation.
  PhaseResult copy(FileWork& work, const std::string& from, const std::string& to,
                   std::size_t owner) const;
  PhaseResult copy_files(FileWork& work, const std::string& from, const std::string& to,
                         std::size_t owner, const Programs& programs = {}) const;
  PhaseResult read(FileWork& work, const std::string& root, std::size_t owner,
                   const Programs& programs = {}) const;
  /// Removes the tree as rm -r does, with the deepest objects first. Each file counts as one
  /// operation.
  PhaseResult remove(FileWork& work, const std::string& root, std::size_t owner) const;

 private:
  std::vector<std::uint64_t> sizes_;
  std::vector<std::size_t> folder_of_;
  std::vector<std::vector<std::size_t>> content_;
};

}  // namespace headcrash::timed
