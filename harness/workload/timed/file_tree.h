#pragma once
// A directory tree as people's home directories are: a few folders in each folder, files of
// log-normal sizes whose sum is exact.
//
//   folder k lies in folder (k-1)/3: 1 + 3 + 9 + 14 folders for 27, four levels
//   sizes are e^(1.5 z) with z the sum of twelve uniform numbers less six, scaled to the wanted sum
//
// It is the same tree for every seed and user: what differs between users is what the files hold.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/workload/timed/file_work.h"

namespace headcrash::timed {

/// Which steps of a script are programs of their own. None: one program does it all, and runs
/// already.
struct Programs {
  bool each_folder = false;
  bool each_file = false;
};

class FileTree {
 public:
  FileTree(std::size_t files, std::uint64_t bytes, std::size_t folders);

  std::size_t files() const { return sizes_.size(); }
  std::size_t folders() const { return content_.size(); }
  /// Below `root`, which is folder 0; parents come before their children.
  std::string folder(const std::string& root, std::size_t number) const;
  const std::vector<std::size_t>& files_in(std::size_t folder) const { return content_[folder]; }
  std::size_t entries_in(std::size_t folder) const;
  /// File number `number` of the tree at `root`, which holds what is `owner`'s.
  TimedFile file(const std::string& root, std::size_t number, std::size_t owner) const;

  PhaseResult make_folders(FileWork& work, const std::string& root,
                           const Programs& programs = {}) const;
  PhaseResult create(FileWork& work, const std::string& root, std::size_t owner) const;
  /// As an archive is unpacked: a folder and the files in it, then the next; files are counted as
  /// operations.
  PhaseResult extract(FileWork& work, const std::string& root) const;
  /// As cp -r: each folder is listed and made again, each file looked at and copied; counted as
  /// operations.
  PhaseResult copy(FileWork& work, const std::string& from, const std::string& to,
                   std::size_t owner) const;
  PhaseResult copy_files(FileWork& work, const std::string& from, const std::string& to,
                         std::size_t owner, const Programs& programs = {}) const;
  PhaseResult read(FileWork& work, const std::string& root, std::size_t owner,
                   const Programs& programs = {}) const;
  /// As rm -r: what is deepest first; counted as operations.
  PhaseResult remove(FileWork& work, const std::string& root, std::size_t owner) const;

 private:
  std::vector<std::uint64_t> sizes_;
  std::vector<std::size_t> folder_of_;
  std::vector<std::vector<std::size_t>> content_;
};

}  // namespace headcrash::timed
