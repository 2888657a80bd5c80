// FUSE operations on names, attributes and directories (operations.h). Operations on file contents
// are in file_operations.cc.
//
// The kernel may cache names and attributes indefinitely, because every change goes through the
// kernel.
#include "fs-adapters/fuse/operations.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/fuse/file_operations.h"
#include "fs-adapters/fuse/ioctls.h"
#include "fs-adapters/fuse/request.h"

namespace headcrash::fuse {
namespace {

constexpr std::uint32_t kNameBytesMax = 255;
constexpr std::uint32_t kSpaceUnitBytes = 1024;
constexpr unsigned kWriteBytesMax = 128 << 10;
constexpr std::size_t kDots = 2;                     // "." and ".."
constexpr std::uint64_t kUnknownInode = 0xffffffff;  // libfuse's value for "unknown"

/// An open directory. Its entries are a snapshot, taken when the directory is read from the
/// beginning.
struct OpenDirectory {
  std::vector<DirectoryEntry> entries;
};

OpenDirectory* directory_of(const fuse_file_info* info) {
  return reinterpret_cast<OpenDirectory*>(info->fh);  // NOLINT(performance-no-int-to-ptr)
}

void init(void* user_data, fuse_conn_info* connection) {
  const Service& service = *static_cast<Service*>(user_data);
  // All changes to files go through the kernel. The kernel therefore need not check whether data
  // has changed, and it can clear set-uid bits itself.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_HANDLE_KILLPRIV);
  connection->want |= connection->capable & (FUSE_CAP_CACHE_SYMLINKS | FUSE_CAP_IOCTL_DIR);
  if (service.write_back_cache) connection->want |= connection->capable & FUSE_CAP_WRITEBACK_CACHE;
  connection->max_write = kWriteBytesMax;
}

void destroy(void* user_data) {
  static_cast<Service*>(user_data)->unmount();
}

void reply_entry(fuse_req_t request, const std::string& path) {
  const auto entry = entry_of(service_of(request), path);
  if (!entry) return reply_error(request, entry.error());
  fuse_reply_entry(request, &*entry);
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const auto path = path_of(request, parent, name);
  if (!path) return reply_error(request, path.error());
  const auto entry = entry_of(service_of(request), *path);
  if (!entry && entry.error().value == ENOENT) {
    // Time for which the kernel remembers, after a reply without an inode, that a name does not
    // exist.
    fuse_entry_param nothing = {};
    nothing.entry_timeout = kKeptSeconds;
    fuse_reply_entry(request, &nothing);
    return;
  }
  if (!entry) return reply_error(request, entry.error());
  fuse_reply_entry(request, &*entry);
}

void forget(fuse_req_t request, fuse_ino_t node, std::uint64_t times) {
  service_of(request).nodes.forget(node, times);
  fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) {
  for (std::size_t i = 0; i < count; ++i)
    service_of(request).nodes.forget(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(request);
}

void reply_attributes(fuse_req_t request, const std::string& path) {
  const auto status = service_of(request).vfs.stat(path);
  if (!status) return reply_error(request, status.error());
  const struct stat attributes = stat_of(*status);
  fuse_reply_attr(request, &attributes, kKeptSeconds);
}

void getattr(fuse_req_t request, fuse_ino_t node, fuse_file_info*) {
  const auto path = path_of(request, node);
  if (!path) return reply_error(request, path.error());
  reply_attributes(request, *path);
}

VfsResult<void> set_size(Vfs& vfs, const std::string& path, const fuse_file_info* info,
                         std::uint64_t bytes) {
  if (info != nullptr) return vfs.truncate(handle_of(info), bytes);
  const auto file = vfs.open(path, {});
  if (!file) return refuse(file.error().value);
  const auto cut = vfs.truncate(*file, bytes);
  const auto closed = vfs.close(*file);
  return cut ? closed : cut;
}

/// Replies to a request to set attributes of a file that no longer exists. With the write-back
/// cache, the kernel may send timestamp updates for files that have already been removed.
void reply_gone(fuse_req_t request) {
  struct stat nothing = {};
  nothing.st_mode = S_IFREG;
  fuse_reply_attr(request, &nothing, 0);
}

void setattr(fuse_req_t request, fuse_ino_t node, struct stat* wanted, int which,
             fuse_file_info* info) {
  Service& service = service_of(request);
  const auto path = path_of(request, node);
  if (!path) return reply_error(request, path.error());
  const auto asked = [&](int bit) { return (which & bit) != 0; };
  if (asked(FUSE_SET_ATTR_SIZE)) {
    const auto cut =
        set_size(service.vfs, *path, info, static_cast<std::uint64_t>(wanted->st_size));
    if (!cut) return reply_error(request, cut.error());
  }
  AttributeChanges changes;
  if (asked(FUSE_SET_ATTR_MODE)) changes.mode = wanted->st_mode & 07777U;
  if (asked(FUSE_SET_ATTR_UID)) changes.user = wanted->st_uid;
  if (asked(FUSE_SET_ATTR_GID)) changes.group = wanted->st_gid;
  if (asked(FUSE_SET_ATTR_ATIME)) changes.accessed_ns = nanoseconds_of(wanted->st_atim);
  if (asked(FUSE_SET_ATTR_MTIME)) changes.modified_ns = nanoseconds_of(wanted->st_mtim);
  if (asked(FUSE_SET_ATTR_ATIME_NOW)) changes.accessed_ns = service.now_ns();
  if (asked(FUSE_SET_ATTR_MTIME_NOW)) changes.modified_ns = service.now_ns();
  if (changes.mode || changes.user || changes.group || changes.accessed_ns || changes.modified_ns) {
    const auto set = service.vfs.set_attributes(*path, changes);
    if (!set && set.error().value == ESTALE && service.write_back_cache) return reply_gone(request);
    if (!set) return reply_error(request, set.error());
  }
  reply_attributes(request, *path);
}

void readlink(fuse_req_t request, fuse_ino_t node) {
  const auto path = path_of(request, node);
  if (!path) return reply_error(request, path.error());
  const auto target = service_of(request).vfs.readlink(*path);
  if (!target) return reply_error(request, target.error());
  fuse_reply_readlink(request, target->c_str());
}

/// Sets the owner of a new object to the caller and replies to the request that created it.
void reply_made(fuse_req_t request, const std::string& path, const VfsResult<void>& made,
                Made what = Made::other) {
  if (!made) return reply_error(request, made.error());
  if (const auto given = give_to_caller(request, path, what); !given)
    return reply_error(request, given.error());
  reply_entry(request, path);
}

void mknod(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
  Vfs& vfs = service_of(request).vfs;
  const auto path = path_of(request, parent, name);
  if (!path) return reply_error(request, path.error());
  if (!S_ISREG(mode)) return reply_error(request, Errno{.value = EOPNOTSUPP});
  const auto file = vfs.open(*path, {.create = true, .exclusive = true, .mode = mode & 07777U});
  if (!file) return reply_error(request, file.error());
  reply_made(request, *path, vfs.close(*file));
}

void mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  const auto path = path_of(request, parent, name);
  if (!path) return reply_error(request, path.error());
  reply_made(request, *path, service_of(request).vfs.mkdir(*path, mode & 07777U), Made::directory);
}

void symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
  const auto path = path_of(request, parent, name);
  if (!path) return reply_error(request, path.error());
  reply_made(request, *path, service_of(request).vfs.symlink(target, *path));
}

void link(fuse_req_t request, fuse_ino_t node, fuse_ino_t parent, const char* name) {
  const auto existing = path_of(request, node);
  const auto path = path_of(request, parent, name);
  if (!existing || !path) return reply_error(request, Errno{.value = ESTALE});
  const auto linked = service_of(request).vfs.link(*existing, *path);
  if (!linked) return reply_error(request, linked.error());
  reply_entry(request, *path);
}

void unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const auto path = path_of(request, parent, name);
  if (!path) return reply_error(request, path.error());
  reply_done(request, service_of(request).vfs.unlink(*path));
}

void rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const auto path = path_of(request, parent, name);
  if (!path) return reply_error(request, path.error());
  reply_done(request, service_of(request).vfs.rmdir(*path));
}

void rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent,
            const char* new_name, unsigned flags) {
  const auto from = path_of(request, parent, name);
  const auto to = path_of(request, new_parent, new_name);
  if (!from || !to) return reply_error(request, Errno{.value = ESTALE});
  if (flags != 0 && flags != RENAME_NOREPLACE && flags != RENAME_EXCHANGE)
    return reply_error(request, Errno{.value = EINVAL});
  const RenameMode mode = flags == RENAME_NOREPLACE  ? RenameMode::no_replace
                          : flags == RENAME_EXCHANGE ? RenameMode::exchange
                                                     : RenameMode::replace;
  reply_done(request, service_of(request).vfs.rename(*from, *to, mode));
}

void opendir(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  auto directory = std::make_unique<OpenDirectory>();
  info->fh = reinterpret_cast<std::uint64_t>(directory.get());
  if (fuse_reply_open(request, info) != 0) return;
  [[maybe_unused]] const auto* const kept = directory.release();  // freed by releasedir()
}

void releasedir(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  const std::unique_ptr<OpenDirectory> directory(directory_of(info));
  fuse_reply_err(request, 0);
}

enum class Detail : std::uint8_t { names, entries };

/// Replies with "." and "..", then the names, beginning with entry number `offset`.
void reply_directory(fuse_req_t request, fuse_ino_t node, std::size_t bytes, off_t offset,
                     const fuse_file_info* info, Detail detail) {
  Service& service = service_of(request);
  OpenDirectory& directory = *directory_of(info);
  const auto path = path_of(request, node);
  if (!path) return reply_error(request, path.error());
  if (offset == 0) {
    auto entries = service.vfs.list(*path);
    if (!entries && entries.error().value != ESTALE && entries.error().value != ENOENT)
      return reply_error(request, entries.error());
    directory.entries = entries ? std::move(*entries)
                                : std::vector<DirectoryEntry>{};  // a removed directory is empty
  }
  std::vector<char> answer(bytes);
  std::size_t used = 0;
  const std::uint64_t own = service.nodes.find(node).value_or(InodeName{}).inode;
  for (auto at = static_cast<std::size_t>(offset); at < directory.entries.size() + kDots; ++at) {
    const DirectoryEntry* const listed = at < kDots ? nullptr : &directory.entries[at - kDots];
    const std::string name = listed != nullptr ? listed->name : at == 0 ? "." : "..";
    fuse_entry_param entry = {};
    entry.attr.st_mode = listed != nullptr ? type_bits(listed->type) : S_IFDIR;
    entry.attr.st_ino = listed == nullptr    ? own
                        : listed->inode != 0 ? listed->inode
                                             : kUnknownInode;
    const std::size_t room = bytes - used;
    std::size_t needed = 0;
    if (detail == Detail::names) {
      needed = fuse_add_direntry(request, answer.data() + used, room, name.c_str(), &entry.attr,
                                 static_cast<off_t>(at + 1));
    } else if (fuse_add_direntry_plus(request, nullptr, 0, name.c_str(), nullptr, 0) <= room) {
      if (listed != nullptr)
        if (auto looked_up = entry_of(service, *path + "/" + name)) entry = *looked_up;
      needed = fuse_add_direntry_plus(request, answer.data() + used, room, name.c_str(), &entry,
                                      static_cast<off_t>(at + 1));
    } else {
      break;
    }
    if (needed > room) break;
    used += needed;
  }
  fuse_reply_buf(request, answer.data(), used);
}

void readdir(fuse_req_t request, fuse_ino_t node, std::size_t bytes, off_t offset,
             fuse_file_info* info) {
  reply_directory(request, node, bytes, offset, info, Detail::names);
}

void readdirplus(fuse_req_t request, fuse_ino_t node, std::size_t bytes, off_t offset,
                 fuse_file_info* info) {
  reply_directory(request, node, bytes, offset, info, Detail::entries);
}

void fsyncdir(fuse_req_t request, fuse_ino_t node, int, fuse_file_info*) {
  const auto path = path_of(request, node);
  if (!path) return reply_error(request, path.error());
  reply_done(request, service_of(request).vfs.fsync_directory(*path));
}

void statfs(fuse_req_t request, fuse_ino_t) {
  const auto space = service_of(request).vfs.space();
  if (!space) return reply_error(request, space.error());
  struct statvfs answer = {};
  answer.f_bsize = answer.f_frsize = kSpaceUnitBytes;
  answer.f_blocks = space->total_bytes / kSpaceUnitBytes;
  answer.f_bfree = answer.f_bavail = space->free_bytes / kSpaceUnitBytes;
  answer.f_files = space->total_inodes;
  answer.f_ffree = answer.f_favail = space->free_inodes;
  answer.f_namemax = kNameBytesMax;
  fuse_reply_statfs(request, &answer);
}

void ioctl(fuse_req_t request, fuse_ino_t, unsigned command, void*, fuse_file_info*, unsigned,
           const void*, std::size_t, std::size_t) {
  Vfs& vfs = service_of(request).vfs;
  if (command != kSyncEverything && command != kDropCaches)
    return reply_error(request, Errno{.value = ENOTTY});
  auto done = vfs.syncfs();
  if (done && command == kDropCaches) done = vfs.drop_caches();
  if (!done) return reply_error(request, done.error());
  fuse_reply_ioctl(request, 0, nullptr, 0);
}

}  // namespace

VfsResult<void> find_root(Service& service) {
  const auto root = service.vfs.stat("");
  if (!root) return refuse(root.error().value);
  service.nodes.set_root({.inode = root->inode, .generation = root->generation});
  return {};
}

fuse_lowlevel_ops operation_table() {
  fuse_lowlevel_ops table = {};
  table.init = init;
  table.destroy = destroy;
  table.lookup = lookup;
  table.forget = forget;
  table.forget_multi = forget_multi;
  table.getattr = getattr;
  table.setattr = setattr;
  table.readlink = readlink;
  table.mknod = mknod;
  table.mkdir = mkdir;
  table.unlink = unlink;
  table.rmdir = rmdir;
  table.symlink = symlink;
  table.rename = rename;
  table.link = link;
  table.opendir = opendir;
  table.readdir = readdir;
  table.readdirplus = readdirplus;
  table.releasedir = releasedir;
  table.fsyncdir = fsyncdir;
  table.statfs = statfs;
  table.ioctl = ioctl;
  add_file_operations(table);
  return table;
}

}  // namespace headcrash::fuse
