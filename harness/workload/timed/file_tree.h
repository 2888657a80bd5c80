#pragma once
// A directory tree like a home directory: a few folders in each folder, and files of log-normal
// sizes with an exact sum.
//
//   folder k is in folder (k-1)/3: 1 + 3 + 9 + 14 folders for 27, four levels
//   sizes are e^(1.5 z), with z the sum of twelve uniform numbers minus six, scaled to the total
//
// The tree is the same for every seed and user. Only the content of the files differs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/workload/timed/file_work.h"

namespace headcrash::timed {

/// Selects which steps in a script run as separate programs. By default, one program does
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
  /// Returns the path of a folder below `root`, which is folder 0. Parents have lower numbers than
  /// their children.
  std::string folder(const std::string& root, std::size_t number) const;
  const std::vector<std::size_t>& files_in(std::size_t folder) const { return content_[folder]; }
  std::size_t entries_in(std::size_t folder) const;
  /// Returns file `number` of the tree at `root`, with the contents that `owner` determines.
  TimedFile file(const std::string& root, std::size_t number, std::size_t owner) const;

  PhaseResult make_folders(FileWork& work, const std::string& root,
                           const Programs& programs = {}) const;
  PhaseResult create(FileWork& work, const std::string& root, std::size_t owner) const;
  /// Creates the tree as an archiver unpacks it: each folder, then its files. Each file is one
  /// operation.
  PhaseResult extract(FileWork& work, const std::string& root) const;
  /// Copies the tree like cp -r: lists and recreates each folder, then stats and copies each file.
  /// Each file is one operation.
  PhaseResult copy(FileWork& work, const std::string& from, const std::string& to,
                   std::size_t owner) const;
  PhaseResult copy_files(FileWork& work, const std::string& from, const std::string& to,
                         std::size_t owner, const Programs& programs = {}) const;
  PhaseResult read(FileWork& work, const std::string& root, std::size_t owner,
                   const Programs& programs = {}) const;
  /// Removes the tree like rm -r, deepest objects first. Each file is one operation.
  PhaseResult remove(FileWork& work, const std::string& root, std::size_t owner) const;

 private:
  std::vector<std::uint64_t> sizes_;
  std::vector<std::size_t> folder_of_;
  std::vector<std::vector<std::size_t>> content_;
};

}  // namespace headcrash::timed
