// Reads the final tree of a shared history (shared_history.h).
#include "harness/explorer/in_process/shared_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace headcrash::in_process {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

VfsResult<std::vector<std::byte>> content_of(Vfs& vfs, const std::string& path,
                                             const FileStatus& status) {
  if (status.type == FileType::symlink) {
    TRY(const auto target, vfs.readlink(path));
    return bytes_of(target);
  }
  if (status.type != FileType::regular) return std::vector<std::byte>();
  std::vector<std::byte> content(status.size_bytes);
  TRY(const auto file, vfs.open(path, {}));
  const auto read = vfs.pread(file, 0, content);
  TRY(vfs.close(file));
  if (!read) return forward_errno(read);
  content.resize(*read);
  return content;
}

VfsResult<void> observe_below(Vfs& vfs, const std::string& directory,
                              std::vector<oracle::SharedObject>& tree) {
  TRY(const auto entries, vfs.list(directory));
  for (const DirectoryEntry& entry : entries) {
    const std::string path = directory.empty() ? entry.name : directory + "/" + entry.name;
    TRY(const auto status, vfs.stat(path));
    oracle::SharedObject object{.path = path,
                                .inode = status.inode,
                                .directory = status.type == FileType::directory,
                                .links = status.links};
    if (!object.directory) {
      TRY(object.content, content_of(vfs, path, status));
    }
    tree.push_back(object);
    if (object.directory) TRY(observe_below(vfs, path, tree));
  }
  return {};
}

std::string format_object(const oracle::SharedObject& object) {
  return fmt::format("{} {} with inode {}, {} links and {} bytes",
                     object.directory ? "directory" : "file", object.path, object.inode,
                     object.links, object.content.size());
}

}  // namespace

VfsResult<std::vector<oracle::SharedObject>> observe_tree(Vfs& vfs) {
  std::vector<oracle::SharedObject> tree;
  TRY(observe_below(vfs, "", tree));
  std::ranges::sort(tree, {}, &oracle::SharedObject::path);
  return tree;
}

Result<std::vector<oracle::SharedObject>> observe_image(const adapters::FileSystemType& type,
                                                        const model::SectorStore& store) {
  TRY(const auto reader, type.open_image(store));
  std::vector<oracle::SharedObject> tree;
  Result<void> failed;
  TRY(reader->walk([&](const std::string& path, const adapters::ImageInode& inode) {
    oracle::SharedObject object{.path = path,
                                .inode = inode.number,
                                .directory = inode.type == FileType::directory,
                                .links = inode.links};
    if (inode.type == FileType::symlink) {
      const auto target = reader->readlink(inode.number);
      if (target) object.content = bytes_of(*target);
      if (!target) failed = forward_error(target);
    } else if (inode.type == FileType::regular) {
      object.content.resize(inode.size_bytes);
      const auto count = reader->read(inode.number, 0, object.content);
      if (!count) failed = forward_error(count);
    }
    tree.push_back(std::move(object));
  }));
  TRY(failed);
  std::ranges::sort(tree, {}, &oracle::SharedObject::path);
  return tree;
}

std::string difference(const std::vector<oracle::SharedObject>& mounted,
                       const std::vector<oracle::SharedObject>& image) {
  const auto [shown, stored] = std::ranges::mismatch(mounted, image);
  if (shown == mounted.end() && stored == image.end()) return {};
  return fmt::format("the mounted file system shows {}, but the disk has {}",
                     shown == mounted.end() ? "nothing more" : format_object(*shown),
                     stored == image.end() ? "nothing more" : format_object(*stored));
}

}  // namespace headcrash::in_process
