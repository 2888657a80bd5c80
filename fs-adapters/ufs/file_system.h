#pragma once
// The mounted file system: vfs.h on a volume, for as many fibers at once as like.
//
// Operations lock the inodes they change, a directory before what is in it; a walk along a path locks one
// directory at a time. A rename locks up to four inodes. One rename works at a time, so that no directory can
// change its place while it looks how deep each of its directories lies; it locks them by depth, then by
// number, then what is no directory by number, and looks the names up again under the locks.
//
// An operation that finds no space left ends without having changed anything that is seen, asks the scheme to
// do what it has put off, and is tried once more. One that fails with an I/O error after it began to change
// something stops the file system, as other errors do (volume.h): what memory holds then is not what a whole
// operation leaves.
//
// Every function is called from within a fiber.

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fs-adapters/ufs/directory.h"
#include "fs-adapters/ufs/volume.h"
#include "fs-adapters/vfs.h"
#include "plugin/base/result.h"

namespace headcrash::ufs {

/// Which schemes there are. `make_scheme` knows their names.
enum class SchemeKind : std::uint8_t {
  no_order,
  conventional,
  scheduler_flag,
  scheduler_chains,
  soft_updates,
  journal
};

struct MountOptions {
  SchemeKind scheme = SchemeKind::conventional;
  SchemeOptions options = {};
  /// A file system that was not unmounted, and that no fsck has seen since: for who knows what they do.
  bool although_not_clean = false;
};

class FileSystem : public Vfs {
 public:
  /// What the journal of a file system that was not unmounted holds is brought to its place first. The
  /// journal scheme makes a journal where there is none.
  static Result<std::unique_ptr<FileSystem>> mount(os::System& system, const MountOptions& options);
  ~FileSystem() override;

  /// Writes everything and says so in the superblock. Files still open are closed. Afterwards there is
  /// nothing to be done but to destroy it. An error: the disk has gone; it is unmounted all the same.
  VfsResult<void> unmount();
  /// Without a write: the power is gone. Nothing of it is left behind the call.
  void abandon();

  Volume& volume() { return *volume_; }

  VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) override;
  VfsResult<void> close(FileHandle file) override;
  VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset, std::span<std::byte> into) override;
  VfsResult<void> pwrite(FileHandle file, std::uint64_t offset, std::span<const std::byte> data) override;
  VfsResult<void> append(FileHandle file, std::span<const std::byte> data) override;
  VfsResult<void> truncate(FileHandle file, std::uint64_t size_bytes) override;
  VfsResult<void> fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                            std::uint64_t length) override;
  VfsResult<void> mmap_write_sync(FileHandle file, std::uint64_t offset,
                                  std::span<const std::byte> data) override;
  VfsResult<void> fsync(FileHandle file) override;
  VfsResult<void> fdatasync(FileHandle file) override;

  VfsResult<void> mkdir(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> rmdir(std::string_view path) override;
  VfsResult<void> unlink(std::string_view path) override;
  VfsResult<void> link(std::string_view existing, std::string_view path) override;
  VfsResult<void> symlink(std::string_view target, std::string_view path) override;
  VfsResult<std::string> readlink(std::string_view path) override;
  VfsResult<void> rename(std::string_view from, std::string_view to, RenameMode mode) override;
  VfsResult<std::vector<DirectoryEntry>> list(std::string_view path) override;
  VfsResult<void> fsync_directory(std::string_view path) override;

  VfsResult<FileStatus> stat(std::string_view path) override;
  VfsResult<void> chmod(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> set_modified(std::string_view path, std::int64_t modified_ns) override;
  VfsResult<void> set_attributes(std::string_view path, const AttributeChanges& changes) override;
  VfsResult<void> setxattr(std::string_view path, std::string_view name,
                           std::span<const std::byte> value) override;
  VfsResult<std::vector<std::byte>> getxattr(std::string_view path, std::string_view name) override;
  VfsResult<void> removexattr(std::string_view path, std::string_view name) override;
  VfsResult<std::vector<std::string>> listxattr(std::string_view path) override;

  VfsResult<void> sync() override;
  VfsResult<void> syncfs() override;
  VfsResult<SpaceStatus> space() override;
  VfsResult<void> drop_caches() override;
  void cpu(std::int64_t ns) override;

 private:
  struct OpenFile {
    InodeHandle inode;
    bool sync = false, data_sync = false;
  };
  /// A directory, and a name that may be in it.
  struct NameInDirectory {
    InodeHandle directory;
    std::string name;
  };
  enum class LastLink : std::uint8_t { follow, keep };

  explicit FileSystem(std::unique_ptr<Volume> volume);

  /// One system call that changes something: see above.
  template <typename T>
  VfsResult<T> change(const std::function<VfsResult<T>(Operation&)>& body);
  void enter() { volume_->cpu.use(volume_->cpu.costs().system_call); }
  VfsResult<FileHandle> open_file(std::string_view path, const OpenOptions& options, Operation& operation);
  VfsResult<void> sync_inode(Operation& operation, CoreInode& inode, Scheme::SyncExtent extent);
  VfsResult<void> sync_all();

  // path.cc
  VfsResult<InodeHandle> start_of(std::string_view& path, Operation* operation);
  VfsResult<InodeHandle> walk(std::string_view path, LastLink last, Operation* operation);
  VfsResult<NameInDirectory> walk_to_parent(std::string_view path, Operation* operation);
  VfsResult<std::string> target_of(CoreInode& link);
  VfsResult<InodeHandle> child(CoreInode& directory, std::string_view name, Operation* operation);

  // names.cc
  VfsResult<InodeHandle> make_node(Operation& operation, CoreInode& directory, std::string_view name,
                                   std::uint16_t mode, std::string_view target);
  /// Of a directory or symbolic link that is being made.
  VfsResult<void> fill_first_block(Operation& operation, CoreInode& inode,
                                   std::span<const std::byte> contents, std::uint32_t size_bytes);
  VfsResult<void> remove(std::string_view path, bool directory);

  // rename.cc
  struct Rename;
  VfsResult<void> rename_locked(Operation& operation, Rename& rename, RenameMode mode);
  VfsResult<void> lookup_both(Operation& operation, Rename& rename);
  VfsResult<std::vector<CoreInode*>> in_order_of_locks(Operation& operation, Rename& rename, RenameMode mode);
  VfsResult<void> exchange(Operation& operation, Rename& rename);
  VfsResult<void> move_over(Operation& operation, Rename& rename);
  VfsResult<std::vector<InodeNumber>> ancestors(InodeNumber directory, Operation& operation);

  // files.cc
  VfsResult<OpenFile*> file_of(FileHandle file);
  VfsResult<void> write_bytes(Operation& operation, CoreInode& inode, std::uint64_t offset,
                              std::span<const std::byte> data);
  VfsResult<void> write_zeroes(Operation& operation, CoreInode& inode, std::uint64_t offset,
                               std::uint64_t length);
  VfsResult<void> allocate_range(Operation& operation, CoreInode& inode, std::uint64_t offset,
                                 std::uint64_t length);
  VfsResult<void> punch(Operation& operation, CoreInode& inode, std::uint64_t offset, std::uint64_t length);
  VfsResult<void> sync_file(FileHandle file, Scheme::SyncExtent extent);

  std::unique_ptr<Volume> volume_;
  os::FiberLock rename_lock_;
  std::vector<std::optional<OpenFile>> files_;
  bool mounted_ = true;
};

/// The scheme for a volume.
std::unique_ptr<Scheme> make_scheme(Volume& volume, SchemeKind kind, const SchemeOptions& options);

template <typename T>
VfsResult<T> FileSystem::change(const std::function<VfsResult<T>(Operation&)>& body) {
  enter();
  if (volume_->stopped()) return refuse(EIO);
  volume_->scheme->bound_work();
  for (bool again = true;; again = false) {
    Operation operation;
    volume_->scheme->begin(operation);
    const std::uint64_t changes = volume_->changes;  // others' count, too: rather stopped once too often
    VfsResult<T> result = body(operation);
    if (!result && result.error().value == EIO && !operation.sync_failed && volume_->changes != changes)
      volume_->stop();
    const VfsResult<void> ended = volume_->scheme->end(operation);
    if (result && !ended) return pass_on_errno(ended);
    if (!result && result.error().value == ENOSPC && again && volume_->scheme->reclaim()) continue;
    return result;
  }
}

}  // namespace headcrash::ufs
