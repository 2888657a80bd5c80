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

/// The ordering schemes. make_scheme() creates them.
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
  /// Limit on one file's full blocks in flight (write_behind.h); 0 if data waits for the syncer.
  std::uint64_t write_behind_bytes = 0;
  /// Features that the scheme requires; a file system without them is rejected.
  Features needs = {};
  /// Mounts even if the file system was neither unmounted nor checked since.
  bool allow_unclean = false;
};

/// Fails if a required feature is missing. The error names the features and the mkfs options.
Result<void> has_features(const Features& there, const Features& needed);

class TreeStore;

class FileSystem : public tree::FileSystem {
 public:
  /// Mounts the file system. If it was not unmounted, first replays the journal. The journal scheme
  /// creates a journal if absent.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);
  ~FileSystem() override;

  /// Closes open files, writes everything and marks the superblock clean. Afterwards the object may
  /// only be destroyed. Unmounts even on an I/O error.
  VfsResult<void> unmount();
  /// Unmounts without writing, after a power cut.
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

/// Creates the scheme for a volume.
std::unique_ptr<Scheme> make_scheme(Volume& volume, SchemeKind kind, const SchemeOptions& options);

}  // namespace headcrash::ufs
