#pragma once
// The tree: paths, names, links, renames and files of a Vfs, over the inodes and blocks of an
// InodeStore.
//
// Our file systems derive from it, pass it a store, and add operations on the whole file system:
// mounting, sync, space, caches. All of them therefore look up names, lock inodes and count links
// in the same way, and a comparison of two file systems shows only differences in storage.
//
// An operation locks the inodes that it changes, a directory before its children. A path walk locks
// one directory at a time. A rename locks up to four inodes. Only one rename runs at a time, so
// that no directory moves while a rename determines how deep its directories are. A rename locks
// directories by depth and then by number, then other inodes by number, and repeats the name
// lookups with the locks held.
//
// An operation that fails with ENOSPC leaves no visible change.
//
// All functions must be called from a fiber.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/vfs.h"

namespace headcrash::tree {

class FileSystem : public Vfs {
 public:
  ~FileSystem() override;

  VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) override;
  VfsResult<void> close(FileHandle file) override;
  VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset,
                               std::span<std::byte> into) override;
  VfsResult<void> pwrite(FileHandle file, std::uint64_t offset,
                         std::span<const std::byte> data) override;
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
  /// Extended attributes fail with ENOTSUP unless overridden.
  VfsResult<void> setxattr(std::string_view path, std::string_view name,
                           std::span<const std::byte> value) override;
  VfsResult<std::vector<std::byte>> getxattr(std::string_view path, std::string_view name) override;
  VfsResult<void> removexattr(std::string_view path, std::string_view name) override;
  VfsResult<std::vector<std::string>> listxattr(std::string_view path) override;

  void cpu(std::int64_t ns) override;
  void start_program() override;

 protected:
  explicit FileSystem(std::unique_ptr<InodeStore> store);

  InodeStore& store() { return *store_; }
  /// Charges the processor time of a system call. From time to time, also charges the memory of
  /// in-core structures to the cache.
  void enter() {
    store_->cpu.charge(os::Cost::system_call);
    store_->charge_structures();
  }
  /// Closes all open files before an unmount or after a power cut.
  void close_all();

 private:
  struct OpenFile {
    InodeHandle inode;
    bool sync = false, data_sync = false;
  };
  /// A directory, held by a handle, and a name that may or may not exist in it.
  struct NameInDirectory {
    InodeHandle directory;
    std::string name;
  };
  enum class LastLink : std::uint8_t { follow, keep };

  /// Runs `body`, the part of a system call that changes something, as one operation of the store
  /// (InodeStore::change). With a write-through syncer, returns once everything is on the disk.
  VfsResult<void> change(const std::function<VfsResult<void>(Operation&)>& body);

  // path.cc
  VfsResult<InodeHandle> start_of(std::string_view& path, Operation* operation);
  VfsResult<InodeHandle> walk(std::string_view path, LastLink last, Operation* operation);
  VfsResult<NameInDirectory> walk_to_parent(std::string_view path, Operation* operation);
  VfsResult<std::string> target_of(CoreInode& link);
  VfsResult<InodeHandle> child(CoreInode& directory, std::string_view name, Operation* operation);
  /// Returns the inode to which a directory entry refers. Fails with EIO if the inode is not
  /// allocated, or if it is the directory itself or the root.
  VfsResult<InodeHandle> named_inode(const CoreInode& directory, std::string_view name,
                                     InodeNumber number, Operation* operation);

  // names.cc
  VfsResult<InodeHandle> make_node(Operation& operation, CoreInode& directory,
                                   std::string_view name, std::uint16_t mode,
                                   std::string_view target);
  VfsResult<void> make_at(std::string_view path, std::uint16_t mode, std::string_view target);
  VfsResult<void> remove(std::string_view path, bool directory);

  // rename.cc
  struct Rename;
  VfsResult<void> rename_locked(Operation& operation, Rename& rename, RenameMode mode);
  VfsResult<void> lookup_both(Operation& operation, Rename& rename);
  VfsResult<std::vector<CoreInode*>> in_order_of_locks(Operation& operation, Rename& rename,
                                                       RenameMode mode);
  VfsResult<void> exchange(Operation& operation, Rename& rename);
  VfsResult<void> move_over(Operation& operation, Rename& rename);
  VfsResult<std::vector<InodeNumber>> ancestors(InodeNumber directory, Operation& operation);

  // files.cc
  VfsResult<OpenFile*> file_of(FileHandle file);
  VfsResult<InodeHandle> find_or_make(std::string_view path, const OpenOptions& options,
                                      Operation& operation);
  VfsResult<FileHandle> open_file(std::string_view path, const OpenOptions& options,
                                  Operation* operation);
  VfsResult<void> write_bytes(Operation& operation, CoreInode& inode, std::uint64_t offset,
                              std::span<const std::byte> data);
  VfsResult<void> write_zeroes(Operation& operation, CoreInode& inode, std::uint64_t offset,
                               std::uint64_t length);
  VfsResult<void> allocate_range(Operation& operation, CoreInode& inode, std::uint64_t offset,
                                 std::uint64_t length);
  VfsResult<void> punch(Operation& operation, CoreInode& inode, std::uint64_t offset,
                        std::uint64_t length);
  VfsResult<void> sync_inode(Operation& operation, CoreInode& inode, SyncExtent extent);
  VfsResult<void> sync_file(FileHandle file, SyncExtent extent);

  std::unique_ptr<InodeStore> store_;
  os::FiberLock rename_lock_;
  std::vector<std::optional<OpenFile>> files_;
};

}  // namespace headcrash::tree
