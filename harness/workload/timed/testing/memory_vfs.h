#pragma once
// Test fixture: an in-memory file system that counts calls. Not thread-safe.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::timed {

class MemoryVfs : public Vfs {
 public:
  struct Counts {
    std::uint64_t creates = 0, opens = 0, unlinks = 0, mkdirs = 0, rmdirs = 0, renames = 0,
                  fsyncs = 0;
    std::uint64_t stats = 0, lists = 0, reads = 0, writes = 0, bytes_read = 0, bytes_written = 0,
                  drops = 0;
    bool operator==(const Counts&) const = default;
  };
  Counts counts;
  std::uint64_t trace = 0;  ///< hash of all calls so far, in order
  /// Returns the time to store in first_write_at and last_write_at. If empty, these members are not
  /// set.
  std::function<std::int64_t()> clock;
  std::int64_t first_write_at = -1, last_write_at = -1;
  std::optional<std::uint64_t> pieces_of_a_file;
  std::uint64_t capacity_bytes = 1ULL << 40, capacity_names = 1ULL << 40;

  std::map<std::string, std::vector<std::byte>>& files() { return files_; }
  std::size_t open_files() const {
    return handles_.size() -
           static_cast<std::size_t>(std::count(handles_.begin(), handles_.end(), ""));
  }

  VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) override {
    note("open", path, options.create ? 1 : 0);
    const std::string name(path);
    const bool there = files_.contains(name);
    if (!there && !options.create) return refuse(ENOENT);
    if (there && options.exclusive) return refuse(EEXIST);
    if (!there) {
      if (const int error = addable(name)) return refuse(error);
      ++counts.creates;
      files_[name];
    } else {
      ++counts.opens;
      if (options.truncate) files_[name].clear();
    }
    handles_.push_back(name);
    return FileHandle{static_cast<int>(handles_.size() - 1)};
  }
  VfsResult<void> close(FileHandle file) override {
    handles_.at(static_cast<std::size_t>(file)) = "";
    return {};
  }
  VfsResult<std::size_t> pread(FileHandle file, std::uint64_t offset,
                               std::span<std::byte> into) override {
    const auto& bytes = of(file);
    ++counts.reads;
    const std::size_t got =
        offset < bytes.size() ? std::min<std::size_t>(into.size(), bytes.size() - offset) : 0;
    if (got > 0) std::memcpy(into.data(), bytes.data() + offset, got);
    counts.bytes_read += got;
    note("read", name_of(file), offset * 31 + got);
    return got;
  }
  VfsResult<void> pwrite(FileHandle file, std::uint64_t offset,
                         std::span<const std::byte> data) override {
    auto& bytes = of(file);
    ++counts.writes;
    if (clock) last_write_at = clock();
    if (first_write_at < 0) first_write_at = last_write_at;
    std::uint64_t used = 0;
    for (const auto& [name, content] : files_)
      used += capacity_bytes < (1ULL << 40) ? content.size() : 0;
    const std::uint64_t end = std::max<std::uint64_t>(bytes.size(), offset + data.size());
    if (used + end - bytes.size() > capacity_bytes) return refuse(ENOSPC);
    bytes.resize(end);
    if (!data.empty()) std::memcpy(bytes.data() + offset, data.data(), data.size());
    counts.bytes_written += data.size();
    note("write", name_of(file), offset * 31 + data.size());
    return {};
  }
  VfsResult<std::uint64_t> pieces(FileHandle) override {
    return pieces_of_a_file ? VfsResult<std::uint64_t>(*pieces_of_a_file) : refuse(ENOTSUP);
  }
  VfsResult<void> fsync(FileHandle file) override {
    ++counts.fsyncs;
    note("fsync", name_of(file), 0);
    return {};
  }

  VfsResult<void> mkdir(std::string_view path, std::uint32_t) override {
    note("mkdir", path, 0);
    if (const int error = addable(std::string(path))) return refuse(error);
    ++counts.mkdirs;
    folders_[std::string(path)];
    return {};
  }
  VfsResult<void> rmdir(std::string_view path) override {
    note("rmdir", path, 0);
    const auto listed = list(path);
    if (!listed) return refuse(ENOENT);
    if (!listed->empty()) return refuse(ENOTEMPTY);
    ++counts.rmdirs;
    folders_.erase(std::string(path));
    forget(std::string(path));
    return {};
  }
  VfsResult<void> unlink(std::string_view path) override {
    note("unlink", path, 0);
    if (files_.erase(std::string(path)) == 0) return refuse(ENOENT);
    ++counts.unlinks;
    forget(std::string(path));
    return {};
  }
  VfsResult<void> rename(std::string_view from, std::string_view to, RenameMode) override {
    note("rename", from, 0);
    auto node = files_.extract(std::string(from));
    if (node.empty()) return refuse(ENOENT);
    forget(std::string(from));
    if (files_.erase(std::string(to)) > 0) forget(std::string(to));
    ++counts.renames;
    node.key() = to;
    files_.insert(std::move(node));
    folders_.at(parent(std::string(to))).push_back(std::string(to));
    return {};
  }
  VfsResult<std::vector<DirectoryEntry>> list(std::string_view path) override {
    note("list", path, 0);
    const auto at = folders_.find(std::string(path));
    if (at == folders_.end()) return refuse(ENOENT);
    ++counts.lists;
    std::vector<DirectoryEntry> entries;
    for (const std::string& child : at->second)
      entries.push_back({.name = child.substr(child.rfind('/') + 1)});
    return entries;
  }
  VfsResult<FileStatus> stat(std::string_view path) override {
    note("stat", path, 0);
    ++counts.stats;
    const auto file = files_.find(std::string(path));
    if (file != files_.end()) return FileStatus{.size_bytes = file->second.size()};
    if (folders_.contains(std::string(path))) return FileStatus{.type = FileType::directory};
    return refuse(ENOENT);
  }
  VfsResult<void> symlink(std::string_view target, std::string_view path) override {
    note("symlink", path, 0);
    links_[std::string(path)] = target;
    return {};
  }
  VfsResult<std::string> readlink(std::string_view path) override {
    note("readlink", path, 0);
    const auto link = links_.find(std::string(path));
    if (link == links_.end()) return refuse(ENOENT);
    return link->second;
  }
  VfsResult<void> fsync_directory(std::string_view path) override {
    note("fsync", path, 1);
    ++counts.fsyncs;
    if (!folders_.contains(std::string(path))) return refuse(ENOENT);
    return {};
  }
  VfsResult<void> chmod(std::string_view path, std::uint32_t mode) override {
    note("chmod", path, mode);
    if (!files_.contains(std::string(path))) return refuse(ENOENT);
    return {};
  }
  VfsResult<void> sync() override { return {}; }
  VfsResult<void> syncfs() override { return {}; }
  VfsResult<SpaceStatus> space() override { return SpaceStatus{}; }
  VfsResult<void> drop_caches() override {
    ++counts.drops;
    return {};
  }
  void cpu(std::int64_t) override {}
  void start_program() override { ++programs_started; }
  std::uint64_t programs_started = 0;

  // The following functions fail with ENOTSUP, because no timed workload calls them.
  VfsResult<void> append(FileHandle, std::span<const std::byte>) override {
    return refuse(ENOTSUP);
  }
  VfsResult<void> truncate(FileHandle, std::uint64_t) override { return refuse(ENOTSUP); }
  VfsResult<void> fallocate(FileHandle, FallocateMode, std::uint64_t, std::uint64_t) override {
    return refuse(ENOTSUP);
  }
  VfsResult<void> mmap_write_sync(FileHandle, std::uint64_t, std::span<const std::byte>) override {
    return refuse(ENOTSUP);
  }
  VfsResult<void> fdatasync(FileHandle) override { return refuse(ENOTSUP); }
  VfsResult<void> link(std::string_view, std::string_view) override { return refuse(ENOTSUP); }
  VfsResult<void> set_modified(std::string_view, std::int64_t) override { return refuse(ENOTSUP); }
  VfsResult<void> setxattr(std::string_view, std::string_view,
                           std::span<const std::byte>) override {
    return refuse(ENOTSUP);
  }
  VfsResult<std::vector<std::byte>> getxattr(std::string_view, std::string_view) override {
    return refuse(ENOTSUP);
  }
  VfsResult<void> removexattr(std::string_view, std::string_view) override {
    return refuse(ENOTSUP);
  }
  VfsResult<std::vector<std::string>> listxattr(std::string_view) override {
    return refuse(ENOTSUP);
  }

 private:
  static std::string parent(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
  void note(std::string_view call, std::string_view path, std::uint64_t number) {
    for (const std::string_view text : {call, path}) {
      for (const char c : text) trace = trace * 1099511628211U + static_cast<unsigned char>(c);
    }
    trace = trace * 1099511628211U + number;
  }
  const std::string& name_of(FileHandle file) const {
    return handles_.at(static_cast<std::size_t>(file));
  }
  std::vector<std::byte>& of(FileHandle file) { return files_.at(name_of(file)); }
  /// Adds the name to its directory. Returns 0, or an errno if the name cannot be added.
  int addable(const std::string& path) {
    if (files_.contains(path) || folders_.contains(path)) return EEXIST;
    const auto in = folders_.find(parent(path));
    if (in == folders_.end()) return ENOENT;
    if (files_.size() + folders_.size() > capacity_names) return ENOSPC;
    in->second.push_back(path);
    return 0;
  }
  void forget(const std::string& path) { std::erase(folders_.at(parent(path)), path); }

  std::map<std::string, std::vector<std::byte>> files_;
  std::map<std::string, std::string> links_;
  // The entries of each directory, as paths.
  std::map<std::string, std::vector<std::string>> folders_{{"", {}}};
  std::vector<std::string> handles_;
};

}  // namespace headcrash::timed
