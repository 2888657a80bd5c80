#pragma once
// Tracks the effects of a workload's operations on a correct file system, and records which
// persistence points cover each change (history.h).
//
//   history.cc      names, links and content: the changes that each operation makes
//   attributes.cc   extended attributes, including access control lists
//   subvolumes.cc   snapshots, and the objects that they copy
//   persistence.cc  open files, and the objects that each persistence point covers

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/oracle/block_content.h"
#include "harness/oracle/history.h"
#include "harness/oracle/ownership.h"

namespace headcrash::oracle {

class PosixAcl;

class Follower {
 public:
  explicit Follower(const adapters::Promises& promises, std::span<const std::string> subjects = {})
      : promises_(promises), subjects_(subjects) {
    history_.objects.push_back({.type = FileType::directory});
    live_.emplace_back();
    token_of_.push_back(std::nullopt);
  }

  Result<void> step(const workload::Operation& operation);
  /// Handles an operation that was skipped, or that was executed only partly because of ENOSPC.
  void step_over(const workload::Operation& operation, workload::Outcome outcome) {
    begin(operation, true);
    disturbed_ = true;
    if (outcome != workload::Outcome::partial) return;
    const auto file =
        workload::is_open_file(operation.path) ? find_open(operation.path) : find(operation.path);
    if (file) object(*file).unclear = true;
  }
  WorkloadHistory take() { return std::move(history_); }

 private:
  /// A name in a directory. `token` is set if the name exists.
  struct Place {
    ObjectId directory;
    std::string name;
    std::optional<TokenId> token;
  };

  std::string subject() const {
    return index_ < subjects_.size() ? subjects_[index_] : fmt::format("operation {}", index_);
  }
  tl::unexpected<Error> wrong(const std::string& problem) const {
    return fail(subject(), problem,
                "correct the list; a correct file system must be able to execute it");
  }
  tl::unexpected<Error> missing(const std::string& path) const {
    return wrong(fmt::format("there is no \"{}\"", path));
  }

  ObjectHistory& object(TokenId token) { return history_.objects[history_.tokens[token].object]; }
  SlotHistory& slot(const Place& place) {
    return history_.objects[place.directory].entries[place.name];
  }

  void begin(const workload::Operation& operation, bool skipped) {
    index_ = history_.timeline.operations();
    const bool keeps = operation.kind != workload::Operation::Kind::rest ||
                       promises_.keeps_rested(operation.seconds);
    history_.timeline.add(operation, skipped, keeps);
    owners_.act_as(operation.thread);
    thread_ = operation.thread;
  }
  Result<void> act(const workload::Operation& operation);

  // Records a conflict on `path` if `granted` is false, that is, if another thread uses the object
  // or name. The current step then fails with an error that names the path of the first conflict.
  void need(bool granted, const std::string& path) {
    if (!granted && !conflict_) conflict_ = path;
  }
  void claim(const Place& place, const std::string& path) {
    need(owners_.claim(Ownership::Name(place.directory, place.name)), path);
  }
  void claim(TokenId token, const std::string& path) {
    need(owners_.claim(history_.tokens[token].object), path);
  }
  void pass(ObjectId directory, const std::string& name, const std::string& path) {
    need(owners_.pass(Ownership::Name(directory, name)), path);
  }

  /// Returns nullopt if the directory that should contain `path` does not exist.
  std::optional<Place> look_up(const std::string& path) {
    ObjectId directory = kRoot;
    std::size_t start = 0;
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', start)) {
      const std::string name = path.substr(start, slash - start);
      pass(directory, name, path);
      const auto next = live_[directory].find(name);
      if (next == live_[directory].end()) return std::nullopt;
      directory = history_.tokens[next->second].object;
      if (history_.objects[directory].type != FileType::directory) return std::nullopt;
      start = slash + 1;
    }
    Place place{directory, path.substr(start), std::nullopt};
    if (place.name.empty()) return std::nullopt;
    const auto at = live_[directory].find(place.name);
    if (at != live_[directory].end()) place.token = at->second;
    return place;
  }

  std::optional<TokenId> find(const std::string& path) {
    const auto place = look_up(path);
    return place ? place->token : std::nullopt;
  }
  /// Returns the link through which the file was opened, even if the link has been removed since.
  std::optional<TokenId> find_open(const std::string& name) const {
    const auto at = open_.find({thread_, name});
    if (at == open_.end()) return std::nullopt;
    return at->second;
  }
  std::optional<TokenId> find_file(const std::string& path) {
    const auto token = workload::is_open_file(path) ? find_open(path) : find(path);
    if (!token || object(*token).type != FileType::regular) return std::nullopt;
    claim(*token, path);
    return token;
  }
  std::optional<ObjectId> find_directory(const std::string& path) {
    if (path.empty()) return kRoot;
    const auto place = look_up(path);
    if (!place || !place->token || object(*place->token).type != FileType::directory)
      return std::nullopt;
    pass(place->directory, place->name, path);
    return history_.tokens[*place->token].object;
  }

  void bind(const Place& place, const std::string& path, std::optional<TokenId> token,
            bool by_rename = false, bool replaced = false) {
    claim(place, path);
    if (token) claim(*token, path);
    if (place.token) claim(*place.token, path);
    modified(history_.objects[place.directory]);
    if (token && by_rename) modified(object(*token), FileType::directory);
    SlotHistory& history = slot(place);
    if (history.bindings.empty()) history.path = path;
    history.bindings.push_back({index_, token, by_rename, replaced});
    if (!token) {
      live_[place.directory].erase(place.name);
      return;
    }
    live_[place.directory][place.name] = *token;
    history_.tokens[*token].slots.emplace_back(place.directory, place.name);
  }

  TokenId new_token(ObjectId id) {
    history_.tokens.push_back({.object = id, .removed_by = std::nullopt, .slots = {}});
    history_.objects[id].tokens.push_back(history_.tokens.size() - 1);
    return history_.tokens.size() - 1;
  }

  TokenId new_object(ObjectHistory fresh);
  Result<void> make(const std::string& path, ObjectHistory fresh);
  Result<void> remove(const std::string& path, bool directory);
  Result<void> snapshot(const workload::Operation& operation);
  Result<void> remove_subvolume(const std::string& path);
  /// Copies the entries of a directory. `copies` maps each original to its copy, so an object with
  /// two names is copied only once.
  void copy_entries(ObjectId from, ObjectId to, const std::map<std::string, TokenId>& entries,
                    const std::string& path, std::map<ObjectId, ObjectId>& copies);
  ObjectHistory copy_of(const ObjectHistory& object);
  void remove_entries(ObjectId directory, const std::string& path);
  bool has_subvolumes(ObjectId directory) const;
  Result<void> link(const workload::Operation& operation);
  Result<void> rename(const workload::Operation& operation);
  Result<void> exchange(const workload::Operation& operation);
  bool lies_below(ObjectId directory, ObjectId above) const;
  bool empty(TokenId directory) const { return live_[history_.tokens[directory].object].empty(); }

  Result<void> write(const workload::Operation& operation);
  void write_bytes(ObjectHistory& file, const workload::Operation& operation);
  Result<void> truncate(const workload::Operation& operation);
  Result<void> reshape(const workload::Operation& operation);
  void zero_bytes(ObjectHistory& file, std::uint64_t first, std::uint64_t end);
  Result<void> move_blocks(const workload::Operation& operation);
  Result<void> share(const workload::Operation& operation);
  void put(ObjectHistory& file, std::span<const Stretch> stretches, std::int64_t blocks_further,
           bool moved);
  // attributes.cc
  Result<void> change_attribute(const workload::Operation& operation);
  Result<void> remove_attribute(const workload::Operation& operation, ObjectHistory& holder);
  void set_mode(ObjectHistory& of, std::uint32_t mode);
  void set_owner(ObjectHistory& of, std::uint32_t user, std::uint32_t group);
  void set_created(ObjectHistory& of);
  void set_attribute(ObjectHistory& of, std::string_view name, std::optional<std::string> value);
  Result<void> check_attributes_are_reported(const workload::Operation& operation,
                                             ReportedAttributes& reported) const;
  void set_access_list(ObjectHistory& of, const PosixAcl& acl);
  void change_access_list(ObjectHistory& of, std::uint32_t mode);
  void inherit_attributes(ObjectId directory, TokenId token);
  static void lose_capability(ObjectHistory& of);
  Result<void> change_inode(const workload::Operation& operation);
  /// Records a change to the contents of a file or directory. The change also affects the
  /// modification time.
  void modified(ObjectHistory& file) {
    lose_capability(file);
    if (!file.times.empty() && file.times.back().second)
      file.times.emplace_back(index_, std::nullopt);
  }
  /// Records that a read or a mapping may have changed the atime.
  void accessed(ObjectHistory& file) {
    if (!file.accesses.empty() && file.accesses.back().second)
      file.accesses.emplace_back(index_, std::nullopt);
  }
  std::uint64_t size(const ObjectHistory& file) const {
    return file.sizes.empty() ? 0 : file.sizes.back().second;
  }
  void resize(ObjectHistory& file, std::uint64_t bytes) {
    if (size(file) != bytes) file.sizes.emplace_back(index_, bytes);
  }

  /// Calls modified() if the object is of type `only`. For example, moving a directory modifies it,
  /// because its ".." changes, but moving a file does not.
  void modified(ObjectHistory& object, FileType only) {
    if (object.type == only) modified(object);
  }

  Result<void> open(const workload::Operation& operation);
  Result<void> make_nameless(const std::string& open_as);
  bool has_lost_its_names(TokenId token) const;
  Result<void> keep_open(const std::string& name, TokenId token);
  Result<void> close(const workload::Operation& operation);
  std::string path_now(TokenId token) const;
  Result<void> sync_file(const workload::Operation& operation);
  void cover_attributes_and_names(TokenId token, const std::string& path);
  Result<void> sync_range(const workload::Operation& operation);
  Result<void> sync_directory(const std::string& path);
  Result<void> sync_directory(ObjectId directory, const std::string& path);
  void cover_entries(ObjectId directory, CoverTier tier);
  void sync_everything();
  bool fsync_keeps(const SlotHistory& name) const;
  bool fsync_leaves_out(const SlotHistory& directory, std::size_t named) const;
  void cover_path(const std::string& path);
  void cover_links(ObjectId id);
  void cover_new_path(const std::string& path);

  adapters::Promises promises_;
  std::span<const std::string> subjects_;
  WorkloadHistory history_;
  // The entries of each directory, indexed by object.
  std::vector<std::map<std::string, TokenId>> live_;
  // The newest token of each object, indexed by object.
  std::vector<std::optional<TokenId>> token_of_;
  std::map<std::pair<std::uint8_t, std::string>, TokenId> open_;
  std::uint8_t thread_ = 0;
  Ownership owners_;
  std::optional<std::string> conflict_;
  std::size_t index_ = 0;
  bool disturbed_ = false;
};

}  // namespace headcrash::oracle
