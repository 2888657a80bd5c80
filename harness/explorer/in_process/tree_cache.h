#pragma once
// Returns the trees of successive states, and rereads only what has changed.
//
// Every result (the names in a directory, or an object with its content) is stored with the sectors
// from which it was read and a digest of these sectors. If the sectors have this digest again,
// reading again would give the same result. States of different cuts take turns, so the last few
// results for each directory and each name are kept.
//
//   directory 2   sectors of its inode and blocks | "a" -> 5, "d" -> 7, ...
//                 the same, before "d" was made   | "a" -> 5, ...
//   "a" -> 5      sectors of inode 5, its pointers, its data | observed object, digest
//
// If the file system finds inodes through a map, the position of the inode is stored as well
// (ImageReader::place_of).
//
// The observer (observed_image.h) does the reading, through a store that records which sectors are
// read.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/explorer/in_process/observed_image.h"
#include "harness/oracle/repeated_judge.h"

namespace headcrash::in_process {

class TreeCache {
 public:
  /// All arguments must outlive this object. `judge` numbers the names that can be judged alone
  /// (harness/oracle/lone_names.h).
  TreeCache(const StateDisk& disk, Observer& observer, const oracle::RepeatedJudge& judge)
      : disk_(&disk), observer_(&observer), judge_(&judge), noted_(disk) {}

  /// Returns the same tree as Observer::observe(), with a digest for each object. The result is
  /// valid until the next call.
  Result<std::span<const oracle::SeenObject>> observe();

 private:
  /// The sectors from which a cached result was read.
  struct Sources {
    std::uint64_t place = 0;  ///< ImageReader::place_of() of the inode
    std::vector<std::uint32_t> sectors;
    std::uint64_t digest = 0;
  };
  struct KeptObject {
    Sources sources;
    oracle::ObservedObject object;
    std::uint64_t digest = 0;  ///< oracle::digest_of(object)
  };
  struct KeptName {
    std::uint64_t inode = 0;
    std::string path;
    oracle::LoneName lone = oracle::kNotLone;
    std::vector<KeptObject> objects;  ///< most recently used first
  };
  struct KeptList {
    Sources sources;
    std::vector<KeptName*> names;
  };
  struct KeptDirectory {
    std::string path;
    std::map<std::pair<std::string, std::uint64_t>, KeptName> names;  ///< by name and inode
    std::vector<KeptList> lists;                                      ///< most recently used first
    std::uint64_t met_in = 0;  ///< number of the last tree in which the directory was found
  };

  /// Forwards reads to a store, and records which sectors were read.
  class NotedStore final : public model::SectorStore {
   public:
    explicit NotedStore(const StateDisk& disk) : disk_(&disk) {}
    std::uint64_t sectors() const override { return disk_->sectors(); }
    Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
    Result<void> write(std::uint64_t, std::span<const std::byte>) override { return refuse(); }
    Result<void> write_zeroes(std::uint64_t, std::uint64_t) override { return refuse(); }
    /// Returns the sectors that have been read since the last call.
    std::vector<std::uint32_t> take() { return std::exchange(read_, {}); }

   private:
    static Result<void> refuse() { return fail("state", "is read-only"); }
    const StateDisk* disk_;
    mutable std::vector<std::uint32_t> read_;
  };

  std::uint64_t digest_of(const std::vector<std::uint32_t>& sectors) const;
  /// Moves the result whose sources have their current contents to the front. Returns false if no
  /// result has such sources.
  template <typename Kept>
  bool find(const adapters::ImageReader& reader, std::uint64_t inode,
            std::vector<Kept>& results) const;
  template <typename Kept>
  static void keep(Kept result, std::vector<Kept>& results);
  Sources made_of(std::uint64_t place, std::vector<std::uint32_t> sectors) const;
  Result<void> visit(const adapters::ImageReader& reader, std::uint64_t number,
                     KeptDirectory& directory);
  Result<KeptList> read_names(const adapters::ImageReader& reader, std::uint64_t number,
                              KeptDirectory& directory);
  Result<KeptObject> read_object(const adapters::ImageReader& reader, const KeptName& name);

  const StateDisk* disk_;
  Observer* observer_;
  const oracle::RepeatedJudge* judge_;
  NotedStore noted_;
  std::uint64_t layout_ = 0;
  std::uint64_t trees_ = 0;
  std::unordered_map<std::uint64_t, KeptDirectory> directories_;
  struct Open {
    std::uint64_t number = 0;
    const std::string* path = nullptr;
  };
  std::vector<Open> open_;
  std::vector<oracle::SeenObject> tree_;
};

}  // namespace headcrash::in_process
