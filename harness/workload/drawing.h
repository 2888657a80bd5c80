#pragma once
// Random choices for the functions that generate families (family_makers.h). The number of a list
// is the seed. Random numbers come from std::mt19937_64 and are reduced without the library's
// distributions, so that a seed gives the same list with every library.

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "harness/workload/draft.h"
#include "harness/workload/operation.h"
#include "harness/workload/stamp.h"

namespace headcrash::workload {

/// A list that is being generated. New files are numbered, and their names contain these numbers.
class Drawing {
 public:
  explicit Drawing(std::uint64_t number) : random_(number * 0x9e3779b97f4a7c15 + 17) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  const std::string& any_of(const std::vector<std::string>& names) {
    return names[below(names.size())];
  }

  bool add(const Operation& operation) { return draft_.try_add(operation); }
  bool mkdir(const std::string& path) {
    return add({.kind = Operation::Kind::mkdir, .path = path});
  }
  bool rmdir(const std::string& path) {
    return add({.kind = Operation::Kind::rmdir, .path = path});
  }
  bool create(const std::string& path) {
    return add({.kind = Operation::Kind::create, .path = path});
  }
  bool unlink(const std::string& path) {
    return add({.kind = Operation::Kind::unlink, .path = path});
  }
  bool write(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    return length > 0 &&
           add({.kind = Operation::Kind::write, .path = path, .offset = offset, .length = length});
  }
  bool append(const std::string& path, std::uint64_t length) {
    return write(path, (size(path) + kStampBytes - 1) / kStampBytes * kStampBytes, length);
  }
  bool truncate(const std::string& path, std::uint64_t size) {
    return add({.kind = Operation::Kind::truncate, .path = path, .length = size});
  }
  bool punch(const std::string& path, std::uint64_t offset, std::uint64_t length) {
    return add({.kind = Operation::Kind::punch, .path = path, .offset = offset, .length = length});
  }
  bool rename(const std::string& from, const std::string& to,
              Operation::Kind kind = Operation::Kind::rename) {
    return add({.kind = kind, .path = from, .target = to});
  }
  void sync() { add({.kind = Operation::Kind::sync}); }
  void join() { add({.kind = Operation::Kind::join}); }
  /// Adds a sync, or an fsync of this file or another one. With probability 1/2, adds nothing.
  void maybe_persist(const std::string& path) {
    const auto dice = below(8);
    if (dice == 0) sync();
    if (dice == 1 || dice == 2) add({.kind = Operation::Kind::fsync, .path = path});
    if (dice == 3) add({.kind = Operation::Kind::fsync, .path = any_file()});
  }

  /// Returns a random existing file, or an empty string if there are no files.
  std::string any_file() {
    const auto files = draft_.all(FileType::regular);
    return files.empty() ? std::string() : any_of(files);
  }
  std::string fresh(const std::string& directory = {}) {
    return fmt::format("{}{}f{}", directory, directory.empty() ? "" : "/", next_name_++);
  }
  /// Creates a file with `least` to `most` stamps and returns its name.
  std::string new_file(const std::string& directory, std::uint64_t least, std::uint64_t most) {
    std::string file = fresh(directory);
    create(file);
    write(file, 0, blocks(least, most));
    return file;
  }
  std::uint64_t size(const std::string& path) const { return draft_.size(path); }
  bool exists(const std::string& path) const { return !path.empty() && draft_.exists(path); }
  std::uint64_t blocks(std::uint64_t least, std::uint64_t most) {
    return (least + below(most - least + 1)) * kStampBytes;
  }
  const Draft& draft() const { return draft_; }
  std::vector<Operation> take() {
    sync();
    return draft_.take();
  }

 private:
  std::mt19937_64 random_;
  Draft draft_;
  std::uint64_t next_name_ = 0;
};

inline std::vector<std::string> some_directories(Drawing& list, int count) {
  std::vector<std::string> directories;
  for (int i = 0; i < count; ++i) {
    directories.push_back(fmt::format("d{}", i));
    list.mkdir(directories.back());
  }
  return directories;
}

}  // namespace headcrash::workload
