#pragma once
// The mounted file system: the tree (tree/file_system.h) on a volume, for as many fibers at once as
// like.
//
// Every function is called from within a fiber.

#include <memory>
#include <utility>

#include "fs-adapters/substrate/tree/file_system.h"
#include "fs-adapters/ufs/core/volume.h"
#include "plugin/base/result.h"

namespace headcrash::ufs {

/// Which schemes there are. `make_scheme` knows their names.
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
  /// What one file's full blocks may have on their way to the disk (write_behind.h); 0: data wait
  /// for the syncer.
  std::uint64_t write_behind_bytes = 0;
  /// What the scheme relies on in the format: a file system without one of these is refused.
  Features needs = {};
  /// A file system that was not unmounted, and that no fsck has seen since: for who knows what they
  /// do.
  bool although_not_clean = false;
};

/// Error: the names of those that are needed and not there, and what mkfs has to be told.
Result<void> has_features(const Features& there, const Features& needed);

class TreeStore;

class FileSystem : public tree::FileSystem {
 public:
  /// What the journal of a file system that was not unmounted holds is brought to its place first.
  /// The journal scheme makes a journal where there is none.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);
  ~FileSystem() override;

  /// Writes everything and says so in the superblock. Files still open are closed. Afterwards there
  /// is nothing to be done but to destroy it. An error: the disk has gone; it is unmounted all the
  /// same.
  VfsResult<void> unmount();
  /// Without a write: the power is gone. Nothing of it is left behind the call.
  void abandon();

  Volume& volume() { return *volume_; }

  VfsResult<void> sync() override;
  VfsResult<void> syncfs() override;
  VfsResult<SpaceStatus> space() override;
  VfsResult<void> drop_caches() override;

 private:
  explicit FileSystem(std::unique_ptr<TreeStore> store);
  VfsResult<void> sync_all();

  Volume* volume_;  ///< the store's
  bool mounted_ = true;
};

/// The scheme for a volume.
std::unique_ptr<Scheme> make_scheme(Volume& volume, SchemeKind kind, const SchemeOptions& options);

}  // namespace headcrash::ufs
