#pragma once
// An in-memory file system. It computes the trees that a litmus test expects: the tree after each
// operation if the power is not cut.
//
// The file system shares no code with the oracle or with our file systems. Operations take effect
// at once, and sync and fsync do nothing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"
#include "harness/oracle/observed_tree.h"

namespace headcrash::contract {

class MemoryFileSystem final : public Vfs {
 public:
  MemoryFileSystem() : nodes_(1) { nodes_[0].type = FileType::directory; }

  /// Returns all objects below the root, sorted by path, as in a dump of a file system.
  std::vector<oracle::ObservedObject> tree() const;

  VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) override;
  VfsResult<FileHandle> make_nameless() override;
  VfsResult<FileHandle> open_directory(std::string_view path) override;
  VfsResult<void> close(FileHandle file) override;
  VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset,
                               std::span<std::byte> into) override;
  VfsResult<void> pwrite(FileHandle file, std::uint64_t offset,
                         std::span<const std::byte> data) override;
  VfsResult<void> pwrite_atomic(FileHandle file, std::uint64_t offset,
                                std::span<const std::byte> data) override {
    return pwrite(file, offset, data);
  }
  VfsResult<void> append(FileHandle file, std::span<const std::byte> data) override;
  VfsResult<void> truncate(FileHandle file, std::uint64_t size_bytes) override;
  VfsResult<void> fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                            std::uint64_t length) override;
  VfsResult<void> clone_range(const SharedRange& range) override;
  VfsResult<void> mmap_write(FileHandle file, std::uint64_t offset,
                             std::span<const std::byte> data) override {
    return pwrite(file, offset, data);
  }
  VfsResult<void> mmap_write_sync(FileHandle file, std::uint64_t offset,
                                  std::span<const std::byte> data) override {
    return pwrite(file, offset, data);
  }
  VfsResult<void> msync(FileHandle, std::uint64_t, std::uint64_t) override { return {}; }
  VfsResult<void> sync_range(FileHandle, std::uint64_t, std::uint64_t) override { return {}; }
  VfsResult<void> fsync(FileHandle) override { return {}; }
  VfsResult<void> fdatasync(FileHandle) override { return {}; }

  VfsResult<void> mkdir(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> rmdir(std::string_view path) override { return unlink(path); }
  VfsResult<void> unlink(std::string_view path) override;
  VfsResult<void> link(std::string_view existing, std::string_view path) override;
  VfsResult<void> link_open(FileHandle file, std::string_view path) override;
  VfsResult<void> make_fifo(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> symlink(std::string_view target, std::string_view path) override;
  VfsResult<std::string> readlink(std::string_view path) override;
  VfsResult<void> rename(std::string_view from, std::string_view to, RenameMode mode) override;
  VfsResult<std::vector<DirectoryEntry>> list(std::string_view path) override;
  VfsResult<void> fsync_directory(std::string_view) override { return {}; }

  VfsResult<FileStatus> stat(std::string_view path) override;
  VfsResult<void> chmod(std::string_view path, std::uint32_t mode) override;
  VfsResult<void> set_modified(std::string_view path, std::int64_t modified_ns) override;
  VfsResult<void> setxattr(std::string_view path, std::string_view name,
                           std::span<const std::byte> value) override;
  VfsResult<std::vector<std::byte>> getxattr(std::string_view path, std::string_view name) override;
  VfsResult<void> removexattr(std::string_view path, std::string_view name) override;
  VfsResult<std::vector<std::string>> listxattr(std::string_view path) override;

  VfsResult<void> sync() override { return {}; }
  VfsResult<void> syncfs() override { return {}; }
  VfsResult<SpaceStatus> space() override { return SpaceStatus(); }
  VfsResult<void> drop_caches() override { return {}; }
  void cpu(std::int64_t) override {}
  void start_program() override {}

 private:
  using NodeId = std::size_t;
  struct Node {
    FileType type = FileType::regular;
    std::uint32_t mode = 0644;
    std::int64_t modified_ns = 0;
    std::uint64_t reserved = 0;  ///< end of the space that fallocate allocated, in bytes
    std::vector<std::byte> bytes;
    std::string target;
    std::map<std::string, std::string, std::less<>> attributes;
    std::map<std::string, NodeId, std::less<>> names;
  };
  struct Place {
    NodeId directory = 0;
    std::string name;
  };

  VfsResult<NodeId> find(std::string_view path) const;
  VfsResult<Place> place(std::string_view path) const;
  VfsResult<NodeId> make(std::string_view path, FileType type, std::uint32_t mode);
  VfsResult<void> bind(std::string_view path, NodeId node);
  VfsResult<Node*> file_of(FileHandle file);
  FileHandle handle(NodeId node);
  void add_below(NodeId directory, const std::string& prefix,
                 std::vector<oracle::ObservedObject>& tree) const;

  std::vector<Node> nodes_;  ///< nodes_[0] is the root; nodes are never removed
  std::vector<NodeId> handles_;
};

}  // namespace headcrash::contract
