// Operations on a tree of nodes, and a dump of the tree (memory_file_system.h).
#include "harness/contract/memory_file_system.h"

#include <algorithm>
#include <cerrno>

#include "harness/workload/attribute_value.h"
#include "harness/workload/operation.h"
#include "harness/workload/stamp.h"

namespace headcrash::contract {
namespace {

using workload::kStampBytes;

}  // namespace

VfsResult<MemoryFileSystem::NodeId> MemoryFileSystem::find(std::string_view path) const {
  NodeId node = 0;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (nodes_[node].type != FileType::directory) return refuse(ENOTDIR);
    const auto next = nodes_[node].names.find(path.substr(0, slash));
    if (next == nodes_[node].names.end()) return refuse(ENOENT);
    node = next->second;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return node;
}

VfsResult<MemoryFileSystem::Place> MemoryFileSystem::place(std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  const bool in_root = slash == std::string_view::npos;
  TRY(const auto directory, find(in_root ? std::string_view() : path.substr(0, slash)));
  if (nodes_[directory].type != FileType::directory) return refuse(ENOTDIR);
  return Place{directory, std::string(in_root ? path : path.substr(slash + 1))};
}

VfsResult<void> MemoryFileSystem::bind(std::string_view path, NodeId node) {
  TRY(const auto at, place(path));
  if (!nodes_[at.directory].names.emplace(at.name, node).second) return refuse(EEXIST);
  return {};
}

VfsResult<MemoryFileSystem::NodeId> MemoryFileSystem::make(std::string_view path, FileType type,
                                                           std::uint32_t mode) {
  const NodeId node = nodes_.size();
  TRY(bind(path, node));
  nodes_.push_back({.type = type, .mode = mode});
  return node;
}

FileHandle MemoryFileSystem::handle(NodeId node) {
  handles_.push_back(node);
  return FileHandle{static_cast<std::int32_t>(handles_.size() - 1)};
}

VfsResult<MemoryFileSystem::Node*> MemoryFileSystem::file_of(FileHandle file) {
  const auto at = static_cast<std::size_t>(file);
  if (at >= handles_.size()) return refuse(EBADF);
  Node& node = nodes_[handles_[at]];
  if (node.type != FileType::regular) return refuse(EISDIR);
  return &node;
}

VfsResult<FileHandle> MemoryFileSystem::open(std::string_view path, const OpenOptions& options) {
  const auto found = find(path);
  if (!found && !options.create) return refuse(found.error().value);
  if (found && options.exclusive) return refuse(EEXIST);
  if (found) {
    if (options.truncate) nodes_[*found].bytes.clear();
    return handle(*found);
  }
  TRY(const auto made, make(path, FileType::regular, options.mode));
  return handle(made);
}

VfsResult<FileHandle> MemoryFileSystem::make_nameless() {
  nodes_.emplace_back();
  return handle(nodes_.size() - 1);
}

VfsResult<FileHandle> MemoryFileSystem::open_directory(std::string_view path) {
  TRY(const auto node, find(path));
  return handle(node);
}

VfsResult<void> MemoryFileSystem::close(FileHandle file) {
  if (static_cast<std::size_t>(file) >= handles_.size()) return refuse(EBADF);
  return {};
}

VfsResult<std::size_t> MemoryFileSystem::pread(FileHandle file, std::uint64_t offset,
                                               std::span<std::byte> into) {
  TRY(const auto node, file_of(file));
  if (offset >= node->bytes.size()) return std::size_t{0};
  const std::size_t bytes = std::min<std::size_t>(into.size(), node->bytes.size() - offset);
  std::copy_n(node->bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes, into.begin());
  return bytes;
}

VfsResult<void> MemoryFileSystem::pwrite(FileHandle file, std::uint64_t offset,
                                         std::span<const std::byte> data) {
  TRY(const auto node, file_of(file));
  if (offset + data.size() > workload::kLargestFileBytes) return refuse(EFBIG);
  if (node->bytes.size() < offset + data.size()) node->bytes.resize(offset + data.size());
  std::ranges::copy(data, node->bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  return {};
}

VfsResult<void> MemoryFileSystem::append(FileHandle file, std::span<const std::byte> data) {
  TRY(const auto node, file_of(file));
  return pwrite(file, node->bytes.size(), data);
}

VfsResult<void> MemoryFileSystem::truncate(FileHandle file, std::uint64_t size_bytes) {
  TRY(const auto node, file_of(file));
  if (size_bytes > workload::kLargestFileBytes) return refuse(EFBIG);
  node->bytes.resize(size_bytes);
  node->reserved = std::min(node->reserved, size_bytes);
  return {};
}

VfsResult<void> MemoryFileSystem::fallocate(FileHandle file, FallocateMode mode,
                                            std::uint64_t offset, std::uint64_t length) {
  TRY(const auto node, file_of(file));
  auto& bytes = node->bytes;
  const std::uint64_t end = offset + length;
  if (end > workload::kLargestFileBytes) return refuse(EFBIG);
  const auto at = [&](std::uint64_t position) {
    return bytes.begin() +
           static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(position, bytes.size()));
  };
  if (mode == FallocateMode::collapse_range) {
    if (end >= bytes.size()) return refuse(EINVAL);
    bytes.erase(at(offset), at(end));
    return {};
  }
  if (mode == FallocateMode::insert_range) {
    if (offset >= bytes.size()) return refuse(EINVAL);
    bytes.insert(at(offset), length, std::byte{0});
    return {};
  }
  const bool allocates = mode != FallocateMode::punch_hole;
  const bool grows = mode == FallocateMode::allocate || mode == FallocateMode::zero_range;
  if (allocates) node->reserved = std::max(node->reserved, end);
  if (grows && bytes.size() < end) bytes.resize(end);
  const bool clears = mode != FallocateMode::allocate && mode != FallocateMode::keep_size;
  if (clears) std::fill(at(offset), at(end), std::byte{0});
  return {};
}

VfsResult<void> MemoryFileSystem::clone_range(const SharedRange& range) {
  TRY(const auto from, file_of(range.from));
  if (range.from_offset + range.length > from->bytes.size()) return refuse(EINVAL);
  const auto first = from->bytes.begin() + static_cast<std::ptrdiff_t>(range.from_offset);
  const std::vector<std::byte> copy(first, first + static_cast<std::ptrdiff_t>(range.length));
  return pwrite(range.to, range.to_offset, copy);
}

VfsResult<void> MemoryFileSystem::mkdir(std::string_view path, std::uint32_t mode) {
  TRY(make(path, FileType::directory, mode));
  return {};
}

VfsResult<void> MemoryFileSystem::unlink(std::string_view path) {
  TRY(const auto node, find(path));
  if (!nodes_[node].names.empty()) return refuse(ENOTEMPTY);
  TRY(const auto at, place(path));
  nodes_[at.directory].names.erase(at.name);
  return {};
}

VfsResult<void> MemoryFileSystem::link(std::string_view existing, std::string_view path) {
  TRY(const auto node, find(existing));
  return bind(path, node);
}

VfsResult<void> MemoryFileSystem::link_open(FileHandle file, std::string_view path) {
  TRY(file_of(file));
  return bind(path, handles_[static_cast<std::size_t>(file)]);
}

VfsResult<void> MemoryFileSystem::make_fifo(std::string_view path, std::uint32_t mode) {
  TRY(make(path, FileType::fifo, mode));
  return {};
}

VfsResult<void> MemoryFileSystem::symlink(std::string_view target, std::string_view path) {
  TRY(const auto node, make(path, FileType::symlink, 0777));
  nodes_[node].target = target;
  return {};
}

VfsResult<std::string> MemoryFileSystem::readlink(std::string_view path) {
  TRY(const auto node, find(path));
  if (nodes_[node].type != FileType::symlink) return refuse(EINVAL);
  return nodes_[node].target;
}

VfsResult<void> MemoryFileSystem::rename(std::string_view from, std::string_view to,
                                         RenameMode mode) {
  TRY(const auto node, find(from));
  TRY(const auto old_place, place(from));
  TRY(const auto new_place, place(to));
  const auto target = find(to);
  if (mode == RenameMode::no_replace && target) return refuse(EEXIST);
  if (mode == RenameMode::exchange && !target) return refuse(ENOENT);
  if (mode != RenameMode::exchange && target && !nodes_[*target].names.empty())
    return refuse(ENOTEMPTY);
  nodes_[old_place.directory].names.erase(old_place.name);
  nodes_[new_place.directory].names[new_place.name] = node;
  if (mode == RenameMode::exchange) nodes_[old_place.directory].names[old_place.name] = *target;
  if (mode == RenameMode::whiteout) TRY(make(from, FileType::whiteout, 0));
  return {};
}

VfsResult<std::vector<DirectoryEntry>> MemoryFileSystem::list(std::string_view path) {
  TRY(const auto node, find(path));
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, child] : nodes_[node].names)
    entries.push_back({.name = name, .type = nodes_[child].type, .inode = child + 1});
  return entries;
}

VfsResult<FileStatus> MemoryFileSystem::stat(std::string_view path) {
  TRY(const auto node, find(path));
  const Node& found = nodes_[node];
  return FileStatus{.inode = node + 1,
                    .type = found.type,
                    .mode = found.mode,
                    .links = 1,
                    .size_bytes = found.bytes.size(),
                    .modified_ns = found.modified_ns};
}

VfsResult<void> MemoryFileSystem::chmod(std::string_view path, std::uint32_t mode) {
  TRY(const auto node, find(path));
  nodes_[node].mode = mode;
  return {};
}

VfsResult<void> MemoryFileSystem::set_modified(std::string_view path, std::int64_t modified_ns) {
  TRY(const auto node, find(path));
  nodes_[node].modified_ns = modified_ns;
  return {};
}

VfsResult<void> MemoryFileSystem::setxattr(std::string_view path, std::string_view name,
                                           std::span<const std::byte> value) {
  TRY(const auto node, find(path));
  nodes_[node].attributes[std::string(name)].assign(reinterpret_cast<const char*>(value.data()),
                                                    value.size());
  return {};
}

VfsResult<std::vector<std::byte>> MemoryFileSystem::getxattr(std::string_view path,
                                                             std::string_view name) {
  TRY(const auto node, find(path));
  const auto found = nodes_[node].attributes.find(name);
  if (found == nodes_[node].attributes.end()) return refuse(ENODATA);
  const auto bytes = std::as_bytes(std::span(found->second));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

VfsResult<void> MemoryFileSystem::removexattr(std::string_view path, std::string_view name) {
  TRY(const auto node, find(path));
  const auto found = nodes_[node].attributes.find(name);
  if (found == nodes_[node].attributes.end()) return refuse(ENODATA);
  nodes_[node].attributes.erase(found);
  return {};
}

VfsResult<std::vector<std::string>> MemoryFileSystem::listxattr(std::string_view path) {
  TRY(const auto node, find(path));
  std::vector<std::string> names;
  for (const auto& [name, value] : nodes_[node].attributes) names.push_back(name);
  return names;
}

void MemoryFileSystem::add_below(NodeId directory, const std::string& prefix,
                                 std::vector<oracle::ObservedObject>& tree) const {
  for (const auto& [name, id] : nodes_[directory].names) {
    const Node& node = nodes_[id];
    oracle::ObservedObject object{.path = prefix + name,
                                  .type = node.type,
                                  .inode = id + 1,
                                  .links = 1,
                                  .size_bytes = node.bytes.size(),
                                  .link_target = node.target};
    if (node.type == FileType::symlink) object.size_bytes = node.target.size();
    for (const auto& [key, value] : node.attributes)
      object.attributes[key] = workload::reported_attribute_value(value);
    object.mode = node.mode;
    object.allocated_bytes = std::max<std::uint64_t>(node.bytes.size(), node.reserved);
    object.modified_seconds = node.modified_ns / kNsPerSecond;
    for (std::size_t at = 0; at < node.bytes.size(); at += kStampBytes) {
      const std::size_t length = std::min(kStampBytes, node.bytes.size() - at);
      const auto block = std::span(node.bytes).subspan(at, length);
      object.runs.push_back(oracle::run_of(workload::read_stamp(block), block, at / kStampBytes));
    }
    tree.push_back(std::move(object));
    if (node.type == FileType::directory) add_below(id, prefix + name + "/", tree);
  }
}

std::vector<oracle::ObservedObject> MemoryFileSystem::tree() const {
  std::vector<oracle::ObservedObject> tree;
  add_below(0, "", tree);
  std::ranges::sort(tree, {}, &oracle::ObservedObject::path);
  return tree;
}

}  // namespace headcrash::contract
