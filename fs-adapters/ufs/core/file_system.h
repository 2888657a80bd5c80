#pragma once
// The mounted file system: the tree (tree/file_system.h) on a volume, for any number of concurrent
// fibers.
//
// All functions must be called from a fiber.

#include <memory>
#include <utility>

#include "fs-adapters/substrate/tree/file_system.h"
#include "fs-adapters/ufs/core/volume.h"
#include "plugin/base/result.h"

namespace headcrash::ufs {

enum class SchemeKind : std::uint8_t {
  no_order,
  conventional,
  scheduler_flag,
  scheduler_chains,
  soft_updates,
  journal,
  netra
};

struct MountOptions {
  SchemeKind scheme = SchemeKind::conventional;
  SchemeOptions options = {};
  AllocationOptions allocation = {};
  /// Full blocks are written immediately (write_behind.h). This is the maximum number of bytes in
  /// flight for one file. If 0, data waits for the syncer instead.
  std::uint64_t write_behind_bytes = 0;
  /// Features that the scheme requires. A file system that lacks one of them is rejected.
  Features needs = {};
  /// Permits the mount of a file system that was neither unmounted properly nor checked afterwards.
  bool allow_unclean = false;
};

/// Fails if one of the needed features is missing. The error names the missing features and the
/// mkfs options for them.
Result<void> has_features(const Features& there, const Features& needed);

class TreeStore;

class FileSystem : public tree::FileSystem {
 public:
  /// Mounts the file system. If it was not unmounted, replays the journal first. The journal scheme
  /// creates a journal if the file system has none.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);
  ~FileSystem() override;

  /// Closes open files, writes everything and marks the superblock clean. Afterwards the object may
  /// only be destroyed. If an I/O error occurs, the file system is unmounted, too, but not marked
  /// clean.
  VfsResult<void> unmount();
  /// Ends the mount after a power cut, without writing anything.
  void abandon();

  Volume& volume() { return *volume_; }

  VfsResult<void> sync() override;
  VfsResult<void> syncfs() override;
  VfsResult<SpaceStatus> space() override;
  VfsResult<void> drop_caches() override;

 private:
  explicit FileSystem(std::unique_ptr<TreeStore> store);
  VfsResult<void> sync_all();

  Volume* volume_;  ///< owned by the store
  bool mounted_ = true;
};

std::unique_ptr<Scheme> make_scheme(Volume& volume, SchemeKind kind, const SchemeOptions& options);

}  // namespace headcrash::ufs
