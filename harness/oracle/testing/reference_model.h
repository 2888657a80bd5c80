#pragma once
// Simulates a file system for tests. This file system keeps its promises and nothing more.
//
// It shares no code with the oracle. The operations are first executed to learn which objects each
// of them affects. A power cut then keeps a random subset of the name changes that are not
// promised. The subset includes the changes on which it depends: earlier changes of the same names,
// and the directories and files to which they refer. For each block, size and attribute, the power
// cut keeps a random subset of the changes since the last persistence point. Contents are real
// bytes.
//
// If names are unordered, a name that is being changed may also be missing, or may show another
// file. If names are ordered (reference_ordered_names.cc), an operation is a series of changes of
// single names, each of which waits for the previous one. An object without a name is then in
// lost+found, and a directory with two names loses one of them.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/promises.h"
#include "harness/oracle/observed_tree.h"
#include "harness/workload/operation.h"

namespace headcrash::oracle {

class ReferenceModel {
 public:
  /// 0 for the root; otherwise 1 + the index of the operation that created the file.
  using FileId = std::size_t;
  using Slot = std::pair<FileId, std::string>;  ///< a directory, and a name in it
  using Change = std::pair<Slot, std::optional<FileId>>;
  static constexpr FileId kLostAndFound = 1U << 30U;

  ReferenceModel(std::span<const workload::Operation> operations,
                 const adapters::Promises& promises);

  struct Cut {
    std::optional<std::size_t> persisted;
    std::size_t reached = 0;
  };
  /// Returns a random tree that the cut permits.
  std::vector<ObservedObject> tree_after(const Cut& cut, std::mt19937_64& random) const;

  // The functions below return conditions that hold in every tree that the cut permits. A test may
  // damage the tree so that one of these conditions fails; the oracle must then report a finding. A
  // Pinned name must refer to `file`. If `file` is nullopt, the name must be absent, because its
  // removal is persistent.
  struct Pinned {
    std::string path;
    std::optional<FileId> file;
    std::optional<FileId> before;  ///< the file to which the name referred before
  };
  std::vector<Pinned> pinned_names(const Cut& cut) const;
  bool data_is_pinned(FileId file, const Cut& cut) const;
  /// Returns true if the file's extended attributes, mode and owner are persistent and cannot have
  /// changed since.
  bool attributes_are_pinned(FileId file, const Cut& cut) const;
  /// Returns the number of bytes whose allocation by fallocate is persistent and that no later
  /// operation can have freed.
  std::uint64_t bytes_that_stay_allocated(FileId file, const Cut& cut) const;

 private:
  struct NameOperation {
    std::size_t operation;
    std::vector<Change> changes;
    std::vector<FileId> needs;  ///< files that must exist before this operation
    std::optional<FileId> about;
    std::optional<FileId> emptied;  ///< directory that must be empty before this operation
    bool exchange = false;
  };
  struct Content {
    FileType type = FileType::regular;
    std::string target;
    /// Indices of the operations that change data, size or attributes.
    std::vector<std::size_t> operations;
    std::set<std::string> attributes;
  };
  struct Persistence {
    std::size_t operation;
    bool everything = false;
    std::optional<FileId> file;
    bool data_only = false;
    std::optional<FileId> directory;
    std::vector<Slot> slots;  ///< names that the persistence point promises to keep
    std::optional<FileId> links_of;
  };

  // A change of a single name. Used only if names are ordered.
  struct NameStep {
    std::size_t operation;
    Change change;
    std::optional<FileId> emptied;
    /// If true, the step waits until the previous step of the same operation is persistent.
    bool after_last = false;
  };
  std::vector<NameStep> name_steps(std::size_t reached) const;
  std::map<Slot, FileId> ordered_names(const Cut& cut, std::mt19937_64& random) const;
  bool covers_name(const Persistence& point, const Slot& slot) const;
  void keep_one_name(std::mt19937_64& random, std::map<Slot, FileId>& names) const;
  void find_the_nameless(std::map<Slot, FileId>& names) const;

  std::vector<Slot> new_path(const std::string& path) const;
  void disorder(const std::set<std::size_t>& required, const Cut& cut, std::mt19937_64& random,
                std::map<Slot, FileId>& names) const;
  /// Returns true if a persistence point satisfies `fits`, follows the creation of the file, and is
  /// known to have succeeded at the cut.
  bool was_persisted(FileId file, const Cut& cut,
                     const std::function<bool(const Persistence&)>& fits) const;
  std::set<Slot> names_of_new_synced_files(const std::set<std::size_t>& required,
                                           const Cut& cut) const;
  std::optional<FileId> resolve(const std::string& path) const;
  Slot slot_of(const std::string& path) const;
  void learn(std::size_t index, const workload::Operation& operation);
  bool is_kept_by(const workload::Operation& operation) const;
  void learn_persistence(std::size_t index, const workload::Operation& operation);
  void bind(NameOperation& about, const std::string& path, std::optional<FileId> file);

  std::set<std::size_t> required(const Cut& cut) const;  ///< indices into name_operations_
  void close(std::set<std::size_t>& kept) const;
  std::map<Slot, FileId> names_after(const std::set<std::size_t>& kept) const;
  bool covers(const Persistence& point, FileId file, std::optional<std::uint64_t> block) const;
  std::optional<std::size_t> covered_until(FileId file, std::optional<std::uint64_t> block,
                                           const Cut& cut, bool attributes) const;
  std::uint64_t size_after(FileId file, const Cut& cut, std::mt19937_64& random) const;
  std::vector<std::byte> block_before(FileId file, std::uint64_t block, std::size_t end) const;
  std::vector<std::byte> block_after(FileId file, std::uint64_t block, const Cut& cut,
                                     std::mt19937_64& random) const;
  /// Returns how many bytes are allocated to the file, including bytes beyond its size. Takes into
  /// account only operations whose index satisfies `counts`.
  std::uint64_t allocated_by(FileId file, const Cut& cut,
                             const std::function<bool(std::size_t)>& counts) const;
  std::uint64_t allocated_after(FileId file, const Cut& cut, std::mt19937_64& random) const;
  void fill_in(FileId file, const Cut& cut, std::mt19937_64& random, ObservedObject& object) const;

  std::vector<workload::Operation> operations_;
  adapters::Promises promises_;
  std::map<Slot, FileId> live_;
  std::map<FileId, Content> files_;
  std::map<std::size_t, FileId> sources_;  ///< for each clone, the file from which it was cloned
  std::vector<NameOperation> name_operations_;
  std::vector<Persistence> persistence_;
};

}  // namespace headcrash::oracle
