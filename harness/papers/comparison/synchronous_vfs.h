#pragma once
// A file system whose calls return only after their changes are persistent, as an NFS version 2
// server promises: O_SYNC for data and "dirsync" for names.
//
// After each change, this class calls the file system's fsync for the file or directory. A
// journaling file system then commits, and concurrent calls share a commit. A log-structured file
// system writes the blocks of the file, and an ordered file system writes a few blocks.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::experiment::compare {

class SynchronousVfs final : public Vfs {
 public:
  explicit SynchronousVfs(Vfs& below) : vfs_(below) {}

  VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) override;
  VfsResult<void> close(FileHandle file) override { return vfs_.close(file); }
  VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset,
                               std::span<std::byte> into) override {
    return vfs_.pread(file, offset, into);
  }
  VfsResult<void> pwrite(FileHandle file, std::uint64_t offset,
                         std::span<const std::byte> data) override {
    return then_file(vfs_.pwrite(file, offset, data), file);
  }
  VfsResult<void> append(FileHandle file, std::span<const std::byte> data) override {
    return then_file(vfs_.append(file, data), file);
  }
  VfsResult<void> truncate(FileHandle file, std::uint64_t size_bytes) override {
    return then_file(vfs_.truncate(file, size_bytes), file);
  }
  VfsResult<void> fallocate(FileHandle file, FallocateMode mode, std::uint64_t offset,
                            std::uint64_t length) override {
    return then_file(vfs_.fallocate(file, mode, offset, length), file);
  }
  VfsResult<void> mmap_write_sync(FileHandle file, std::uint64_t offset,
                                  std::span<const std::byte> data) override {
    return vfs_.mmap_write_sync(file, offset, data);
  }
  VfsResult<void> fsync(FileHandle file) override { return vfs_.fsync(file); }
  VfsResult<void> fdatasync(FileHandle file) override { return vfs_.fdatasync(file); }

  VfsResult<void> mkdir(std::string_view path, std::uint32_t mode) override {
    return then_name(vfs_.mkdir(path, mode), path);
  }
  VfsResult<void> rmdir(std::string_view path) override {
    return then_name(vfs_.rmdir(path), path);
  }
  VfsResult<void> unlink(std::string_view path) override {
    return then_name(vfs_.unlink(path), path);
  }
  VfsResult<void> link(std::string_view existing, std::string_view path) override {
    return then_name(vfs_.link(existing, path), path);
  }
  VfsResult<void> symlink(std::string_view target, std::string_view path) override {
    return then_name(vfs_.symlink(target, path), path);
  }
  VfsResult<std::string> readlink(std::string_view path) override { return vfs_.readlink(path); }
  VfsResult<void> rename(std::string_view from, std::string_view to, RenameMode mode) override;
  VfsResult<std::vector<DirectoryEntry>> list(std::string_view path) override {
    return vfs_.list(path);
  }
  VfsResult<void> fsync_directory(std::string_view path) override {
    return vfs_.fsync_directory(path);
  }

  VfsResult<FileStatus> stat(std::string_view path) override { return vfs_.stat(path); }
  VfsResult<void> chmod(std::string_view path, std::uint32_t mode) override {
    return then_attributes(vfs_.chmod(path, mode), path);
  }
  VfsResult<void> set_modified(std::string_view path, std::int64_t modified_ns) override {
    return then_attributes(vfs_.set_modified(path, modified_ns), path);
  }
  VfsResult<void> set_attributes(std::string_view path, const AttributeChanges& changes) override {
    return then_attributes(vfs_.set_attributes(path, changes), path);
  }
  VfsResult<void> setxattr(std::string_view path, std::string_view name,
                           std::span<const std::byte> value) override {
    return then_attributes(vfs_.setxattr(path, name, value), path);
  }
  VfsResult<std::vector<std::byte>> getxattr(std::string_view path,
                                             std::string_view name) override {
    return vfs_.getxattr(path, name);
  }
  VfsResult<void> removexattr(std::string_view path, std::string_view name) override {
    return then_attributes(vfs_.removexattr(path, name), path);
  }
  VfsResult<std::vector<std::string>> listxattr(std::string_view path) override {
    return vfs_.listxattr(path);
  }

  VfsResult<void> sync() override { return vfs_.sync(); }
  VfsResult<void> syncfs() override { return vfs_.syncfs(); }
  VfsResult<SpaceStatus> space() override { return vfs_.space(); }
  VfsResult<void> drop_caches() override { return vfs_.drop_caches(); }
  void cpu(std::int64_t ns) override { vfs_.cpu(ns); }
  void start_program() override { vfs_.start_program(); }

 private:
  VfsResult<void> then_file(const VfsResult<void>& done, FileHandle file) {
    return done ? vfs_.fsync(file) : done;
  }
  VfsResult<void> then_name(const VfsResult<void>& done, std::string_view path);
  VfsResult<void> then_attributes(const VfsResult<void>& done, std::string_view path);

  Vfs& vfs_;
};

}  // namespace headcrash::experiment::compare
