#pragma once
// A list of operations that is being created. It tracks which names exist and how large files are,
// so that generators add only operations that a correct file system can execute.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

class Draft {
 public:
  /// Returns true if a correct file system could execute the operation at this point of the list.
  bool possible(const Operation& operation) const;
  /// Appends an operation. If the operation writes stamps, assigns its file number and a new
  /// version. REQUIRES: possible(operation).
  void add(Operation operation);
  /// Appends the operation if it is possible. Returns true if it was appended.
  bool try_add(const Operation& operation);
  /// Parses `line` and calls try_add() above. REQUIRES: the line is valid.
  bool try_add(const std::string& line);

  bool exists(const std::string& path) const { return path.empty() || names_.contains(path); }
  std::optional<FileType> type(const std::string& path) const;
  std::uint64_t size(const std::string& file) const;
  std::vector<std::string> children(const std::string& directory) const;  ///< as full paths, sorted
  std::vector<std::string> all(FileType type) const;                      ///< as full paths, sorted
  bool has_attribute(const std::string& path, const std::string& attribute) const;
  bool same_object(const std::string& one, const std::string& other) const;

  const std::vector<Operation>& operations() const { return operations_; }
  std::vector<Operation> take() { return std::move(operations_); }

 private:
  struct Object {
    FileType type = FileType::regular;
    std::uint32_t number = 0;
    std::uint64_t size = 0;
    bool had_a_name = true;  ///< false for a file created with O_TMPFILE and never linked
    bool subvolume = false;
    std::set<std::string> attributes;
  };

  bool is(const std::string& path, FileType type) const { return this->type(path) == type; }
  bool can_be_made(const std::string& path) const;
  bool can_be_renamed(const Operation& operation) const;
  bool can_share(const Operation& operation) const;
  bool can_be_linked(const std::string& path) const;
  /// Finds an object by its path, or by the "%NAME" of an open file.
  std::optional<std::size_t> find(const std::string& path) const;
  const Object& object(const std::string& path) const { return objects_.at(names_.at(path)); }
  void make(const std::string& path, FileType type);
  void move(const std::string& from, const std::string& to);
  void exchange(const std::string& one, const std::string& other);
  bool is_subvolume(const std::string& path) const;
  /// Returns true if there is a subvolume anywhere below `path`.
  bool has_subvolumes(const std::string& path) const;
  void copy(const std::string& from, const std::string& to);
  void apply(Operation& operation);

  std::vector<Operation> operations_;
  std::map<std::string, std::size_t> names_, open_files_;
  std::vector<Object> objects_{Object{.type = FileType::directory}};  // objects_[0] is the root
  std::uint32_t next_file_ = 1, next_version_ = 1;
};

std::string parent_of(const std::string& path);

}  // namespace headcrash::workload
