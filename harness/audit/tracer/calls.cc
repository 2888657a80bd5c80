// Tables of the system calls that flush or change files (calls.h).
#include "harness/audit/tracer/calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace headcrash::audit {
namespace {

constexpr std::uint64_t kDataFlag = O_DSYNC, kFullFlag = O_SYNC;  // O_SYNC includes O_DSYNC

using Change = ChangeCall;
constexpr std::size_t kNone = ChangeCall::kNone;

FlushCall of_descriptor(std::string_view kind) {
  return {.kind = kind};
}

/// Returns the flush that each later write implies if the file is opened with O_SYNC or O_DSYNC;
/// nullopt without these flags.
std::optional<FlushCall> synchronous_open(const SystemCall& call, std::uint64_t open_flags) {
  const bool plain = call.number == SYS_open, second = call.number == SYS_openat2;
  const std::uint64_t flags = second ? open_flags : call.arguments.at(plain ? 1 : 2);
  if ((flags & kDataFlag) == 0) return std::nullopt;
  return FlushCall{.kind = (flags & kFullFlag) == kFullFlag ? "O_SYNC" : "O_DSYNC",
                   .object = FlushCall::Object::path,
                   .folder = plain ? kNone : std::size_t{0},
                   .argument = plain ? std::size_t{0} : std::size_t{1},
                   .flags_argument = plain ? std::size_t{1} : std::size_t{2},
                   .flags = kFullFlag,
                   .can_skip = !second};
}

std::optional<FlushCall> synchronous_write(const SystemCall& call) {
  constexpr std::size_t kFlags = 5;
  const std::uint64_t flags = call.arguments.at(kFlags);
  if ((flags & (RWF_SYNC | RWF_DSYNC)) == 0) return std::nullopt;
  return FlushCall{.kind = (flags & RWF_SYNC) != 0 ? "RWF_SYNC" : "RWF_DSYNC",
                   .flags_argument = kFlags,
                   .flags = RWF_SYNC | RWF_DSYNC};
}

/// Returns the change that a call of open(2), creat(2) or openat2(2) may make to the parent
/// directory. Returns nullopt if the flags do not include O_CREAT.
std::optional<ChangeCall> creating_open(const SystemCall& call, std::uint64_t open_flags) {
  const bool plain = call.number == SYS_open || call.number == SYS_creat;
  const std::uint64_t flags = call.number == SYS_creat     ? O_CREAT | O_TRUNC
                              : call.number == SYS_openat2 ? open_flags
                                                           : call.arguments.at(plain ? 1 : 2);
  if ((flags & O_CREAT) == 0) return std::nullopt;
  return Change{.name = "open",
                .object = Change::Object::path,
                .names = true,
                .only_creates = true,
                .folder = plain ? kNone : std::size_t{0},
                .path = plain ? std::size_t{0} : std::size_t{1}};
}

Change data(std::string_view name, std::size_t descriptor = 0) {
  return {.name = name, .path = descriptor};
}

Change creation(std::string_view name, std::size_t folder, std::size_t path) {
  return {
      .name = name, .object = Change::Object::path, .names = true, .folder = folder, .path = path};
}

Change removal(std::string_view name, std::size_t folder, std::size_t path) {
  Change change = creation(name, folder, path);
  change.removes = true;
  return change;
}

Change rename(std::size_t folder, std::size_t path, std::size_t to_folder, std::size_t to_path) {
  Change change = creation("rename", folder, path);
  change.moves = change.removes = true;
  change.to_folder = to_folder;
  change.to_path = to_path;
  return change;
}

}  // namespace

std::uint64_t call_without_effect() {
  return SYS_sched_yield;
}

std::optional<FlushCall> flush_call(const SystemCall& call, std::uint64_t open_flags) {
  switch (call.number) {
    case SYS_fsync:
      return of_descriptor("fsync");
    case SYS_fdatasync:
      return of_descriptor("fdatasync");
    case SYS_sync_file_range:
      return of_descriptor("sync_file_range");
    case SYS_syncfs:
      return of_descriptor("syncfs");
    case SYS_sync:
      return FlushCall{.kind = "sync", .object = FlushCall::Object::everything};
    case SYS_msync:
      if ((call.arguments[2] & MS_SYNC) == 0) return std::nullopt;
      return FlushCall{.kind = "msync", .object = FlushCall::Object::mapping};
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
      return synchronous_open(call, open_flags);
    case SYS_pwritev2:
      return synchronous_write(call);
    case SYS_io_uring_enter:
      return FlushCall{.kind = "io_uring", .object = FlushCall::Object::unknown, .can_skip = false};
    case SYS_io_submit:
      return FlushCall{
          .kind = "io_submit", .object = FlushCall::Object::unknown, .can_skip = false};
    default:
      return std::nullopt;
  }
}

std::optional<ChangeCall> change_call(const SystemCall& call, std::uint64_t open_flags) {
  switch (call.number) {
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
      return data("write");
    case SYS_ftruncate:
      return data("ftruncate");
    case SYS_fallocate:
      return data("fallocate");
    case SYS_copy_file_range:
    case SYS_splice:
      return data("copy_file_range", 2);
    case SYS_truncate:
      return Change{.name = "truncate", .object = Change::Object::path, .path = 0};
    case SYS_mmap:
      if ((call.arguments[3] & MAP_TYPE) == MAP_PRIVATE || (call.arguments[2] & PROT_WRITE) == 0 ||
          (call.arguments[3] & MAP_ANONYMOUS) != 0)
        return std::nullopt;
      return data("mmap", 4);
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
      return creating_open(call, open_flags);
    case SYS_mkdir:
      return creation("mkdir", kNone, 0);
    case SYS_mkdirat:
      return creation("mkdir", 0, 1);
    case SYS_mknod:
      return creation("mknod", kNone, 0);
    case SYS_mknodat:
      return creation("mknod", 0, 1);
    case SYS_link:
      return creation("link", kNone, 1);
    case SYS_linkat:
      return creation("link", 2, 3);
    case SYS_symlink:
      return creation("symlink", kNone, 1);
    case SYS_symlinkat:
      return creation("symlink", 1, 2);
    case SYS_unlink:
      return removal("unlink", kNone, 0);
    case SYS_unlinkat:
      return removal("unlink", 0, 1);
    case SYS_rmdir:
      return removal("rmdir", kNone, 0);
    case SYS_rename:
      return rename(kNone, 0, kNone, 1);
    case SYS_renameat:
    case SYS_renameat2:
      return rename(0, 1, 2, 3);
    default:
      return std::nullopt;
  }
}

}  // namespace headcrash::audit
