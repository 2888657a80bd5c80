// mount.headcrash-pass shows a folder at another place through FUSE. It is the control for layers:
// it passes each call to the file system below, caches nothing and changes nothing. The adapter
// `pass` uses it.
//
//   mount.headcrash-pass [-o no-fsync] FOLDER TARGET
//
// With no-fsync, fsync and fdatasync return at once. This is a defect that tests must notice.
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace headcrash::fuse {
namespace {

std::string folder;  // the folder below; set once, before requests are served
bool drops_fsync = false;

/// Returns the place of a file in the folder below.
std::string below(const char* path) {
  return folder + path;
}

/// Converts the result of a system call into that of an operation.
template <typename Number>
int result_of(Number returned) {
  return returned < 0 ? -errno : static_cast<int>(returned);
}

int descriptor_of(const fuse_file_info* file) {
  return static_cast<int>(file->fh);
}

void* begin(fuse_conn_info* /*connection*/, fuse_config* settings) {
  settings->use_ino = 1;
  settings->nullpath_ok = 1;
  settings->hard_remove = 1;
  settings->entry_timeout = settings->attr_timeout = settings->negative_timeout = 0;
  return nullptr;
}

int get_attributes(const char* path, struct stat* status, fuse_file_info* file) {
  return result_of(file != nullptr ? ::fstat(descriptor_of(file), status)
                                   : ::lstat(below(path).c_str(), status));
}

int read_link(const char* path, char* target, std::size_t room) {
  const ssize_t length = ::readlink(below(path).c_str(), target, room - 1);
  if (length < 0) return -errno;
  target[length] = '\0';
  return 0;
}

int make_node(const char* path, mode_t mode, dev_t device) {
  return result_of(::mknod(below(path).c_str(), mode, device));
}
int make_directory(const char* path, mode_t mode) {
  return result_of(::mkdir(below(path).c_str(), mode));
}
int remove_file(const char* path) {
  return result_of(::unlink(below(path).c_str()));
}
int remove_directory(const char* path) {
  return result_of(::rmdir(below(path).c_str()));
}
int make_symlink(const char* target, const char* path) {
  return result_of(::symlink(target, below(path).c_str()));
}
int rename_file(const char* from, const char* to, unsigned flags) {
  return result_of(::renameat2(AT_FDCWD, below(from).c_str(), AT_FDCWD, below(to).c_str(), flags));
}
int make_link(const char* from, const char* to) {
  return result_of(::link(below(from).c_str(), below(to).c_str()));
}

int change_mode(const char* path, mode_t mode, fuse_file_info* file) {
  return result_of(file != nullptr ? ::fchmod(descriptor_of(file), mode)
                                   : ::chmod(below(path).c_str(), mode));
}
int change_owner(const char* path, uid_t user, gid_t group, fuse_file_info* file) {
  return result_of(file != nullptr ? ::fchown(descriptor_of(file), user, group)
                                   : ::lchown(below(path).c_str(), user, group));
}
int truncate_file(const char* path, off_t size, fuse_file_info* file) {
  return result_of(file != nullptr ? ::ftruncate(descriptor_of(file), size)
                                   : ::truncate(below(path).c_str(), size));
}
int change_times(const char* path, const timespec* times, fuse_file_info* file) {
  return result_of(file != nullptr
                       ? ::futimens(descriptor_of(file), times)
                       : ::utimensat(AT_FDCWD, below(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
}

int keep(int descriptor, fuse_file_info* file) {
  if (descriptor < 0) return -errno;
  file->fh = static_cast<std::uint64_t>(descriptor);
  return 0;
}
int create_file(const char* path, mode_t mode, fuse_file_info* file) {
  return keep(::open(below(path).c_str(), file->flags | O_CREAT, mode), file);
}
int open_file(const char* path, fuse_file_info* file) {
  return keep(::open(below(path).c_str(), file->flags), file);
}
int open_directory(const char* path, fuse_file_info* file) {
  return keep(::open(below(path).c_str(), O_RDONLY | O_DIRECTORY), file);
}
int close_file(const char* /*path*/, fuse_file_info* file) {
  return result_of(::close(descriptor_of(file)));
}

int read_file(const char* /*path*/, char* bytes, std::size_t count, off_t at,
              fuse_file_info* file) {
  return result_of(::pread(descriptor_of(file), bytes, count, at));
}
int write_file(const char* /*path*/, const char* bytes, std::size_t count, off_t at,
               fuse_file_info* file) {
  return result_of(::pwrite(descriptor_of(file), bytes, count, at));
}
int allocate(const char* /*path*/, int mode, off_t at, off_t length, fuse_file_info* file) {
  return result_of(::fallocate(descriptor_of(file), mode, at, length));
}
ssize_t copy_range(const char* /*path*/, fuse_file_info* from, off_t from_at, const char* /*other*/,
                   fuse_file_info* to, off_t to_at, std::size_t count, int flags) {
  const ssize_t copied = ::copy_file_range(descriptor_of(from), &from_at, descriptor_of(to), &to_at,
                                           count, static_cast<unsigned>(flags));
  return copied < 0 ? -errno : copied;
}
off_t seek(const char* /*path*/, off_t at, int whence, fuse_file_info* file) {
  const off_t found = ::lseek(descriptor_of(file), at, whence);
  return found < 0 ? -errno : found;
}

/// Serves fsync of files and directories.
int sync_file(const char* /*path*/, int only_data, fuse_file_info* file) {
  if (drops_fsync) return 0;
  return result_of(only_data != 0 ? ::fdatasync(descriptor_of(file))
                                  : ::fsync(descriptor_of(file)));
}

int read_directory(const char* /*path*/, void* buffer, fuse_fill_dir_t add, off_t /*at*/,
                   fuse_file_info* file, fuse_readdir_flags /*flags*/) {
  const int descriptor = ::openat(descriptor_of(file), ".", O_RDONLY | O_DIRECTORY);
  DIR* const directory = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (directory == nullptr) return -errno;
  while (const dirent* const entry = ::readdir(directory)) {
    struct stat status = {};
    status.st_ino = entry->d_ino;
    status.st_mode = static_cast<mode_t>(DTTOIF(entry->d_type));
    if (add(buffer, entry->d_name, &status, 0, static_cast<fuse_fill_dir_flags>(0)) != 0) break;
  }
  ::closedir(directory);
  return 0;
}

int get_space(const char* path, struct statvfs* space) {
  return result_of(::statvfs(below(path).c_str(), space));
}
int set_attribute(const char* path, const char* name, const char* value, std::size_t size,
                  int flags) {
  return result_of(::lsetxattr(below(path).c_str(), name, value, size, flags));
}
int get_attribute(const char* path, const char* name, char* value, std::size_t size) {
  return result_of(::lgetxattr(below(path).c_str(), name, value, size));
}
int list_attributes(const char* path, char* names, std::size_t size) {
  return result_of(::llistxattr(below(path).c_str(), names, size));
}
int remove_attribute(const char* path, const char* name) {
  return result_of(::lremovexattr(below(path).c_str(), name));
}

fuse_operations operations() {
  fuse_operations all = {};
  all.init = begin;
  all.getattr = get_attributes;
  all.readlink = read_link;
  all.mknod = make_node;
  all.mkdir = make_directory;
  all.unlink = remove_file;
  all.rmdir = remove_directory;
  all.symlink = make_symlink;
  all.rename = rename_file;
  all.link = make_link;
  all.chmod = change_mode;
  all.chown = change_owner;
  all.truncate = truncate_file;
  all.utimens = change_times;
  all.create = create_file;
  all.open = open_file;
  all.opendir = open_directory;
  all.release = all.releasedir = close_file;
  all.read = read_file;
  all.write = write_file;
  all.fallocate = allocate;
  all.copy_file_range = copy_range;
  all.lseek = seek;
  all.fsync = all.fsyncdir = sync_file;
  all.readdir = read_directory;
  all.statfs = get_space;
  all.setxattr = set_attribute;
  all.getxattr = get_attribute;
  all.listxattr = list_attributes;
  all.removexattr = remove_attribute;
  return all;
}

int run(int argc, char** argv) {
  std::array<std::string, 2> places;
  std::size_t given = 0;
  bool valid = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-o" && i + 1 < argc) {
      const std::string option = argv[++i];
      drops_fsync = option == "no-fsync";
      valid &= drops_fsync || option.empty();
    } else if (given < places.size()) {
      places.at(given++) = word;
    } else {
      valid = false;
    }
  }
  if (!valid || given != places.size() || !places[0].starts_with("/")) {
    std::fprintf(stderr, "Usage: mount.headcrash-pass [-o no-fsync] /FOLDER TARGET\n");
    return 1;
  }
  folder = places[0];
  ::umask(0);
  std::string program = argv[0], one_thread = "-s", flag = "-o",
              words = "allow_other,default_permissions,fsname=pass";
  std::array<char*, 5> arguments{program.data(), one_thread.data(), flag.data(), words.data(),
                                 places[1].data()};
  const fuse_operations table = operations();
  return ::fuse_main(static_cast<int>(arguments.size()), arguments.data(), &table, nullptr);
}

}  // namespace
}  // namespace headcrash::fuse

int main(int argc, char** argv) {
  return headcrash::fuse::run(argc, argv);
}
