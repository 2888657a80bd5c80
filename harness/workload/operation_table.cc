// The rows of the table of operations (operation_table.h), in the order of Operation::Kind.
#include "harness/workload/operation_table.h"

#include <array>

#include "plugin/base/invariant.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

constexpr std::array<OperationRow, kOperationKinds> kRows{{
    {Kind::mkdir, "mkdir", "p", Precondition::new_name, kChangesNames, "mkdir {p}"},
    {Kind::rmdir, "rmdir", "p", Precondition::empty_directory, kChangesNames, "rmdir {p}"},
    {Kind::create, "create", "p", Precondition::new_name, kChangesNames, "create {p}"},
    {Kind::unlink, "unlink", "p", Precondition::no_directory, kChangesNames, "unlink {p}"},
    {Kind::write, "write", "polfv", Precondition::file, kAcceptsOpenFile | kAnyByte | kByteVersion,
     "write {p} {o} {l} {v}"},
    {Kind::write_sync, "write-sync", "polfv", Precondition::file,
     kAnyByte | kPersists | kByteVersion, "write_sync {p} {o} {l} {v}"},
    {Kind::write_dsync, "write-dsync", "polfv", Precondition::file,
     kAnyByte | kPersists | kByteVersion, "write_dsync {p} {o} {l} {v}"},
    {Kind::write_direct, "write-direct", "polfv", Precondition::file, kBypassesCache | kByteVersion,
     "write_direct {p} {o} {l} {v}"},
    {Kind::write_mapped, "write-mapped", "polfv", Precondition::range_in_file,
     kAcceptsOpenFile | kAnyByte | kPersists | kByteVersion, "write_mapped {p} {o} {l} {v}"},
    {Kind::append, "append", "polfv", Precondition::whole_stamps, kAnyByte | kByteVersion,
     "append {p} {o} {l} {v}"},
    {Kind::truncate, "truncate", "pl", Precondition::file, kAcceptsOpenFile,
     "io -c 'truncate {l}' {p}"},
    {Kind::allocate, "allocate", "pol", Precondition::file, kAcceptsOpenFile | kAnyByte,
     "io -c 'falloc {o} {l}' {p}"},
    {Kind::allocate_keep, "allocate-keep", "pol", Precondition::file, kAcceptsOpenFile | kAnyByte,
     "io -c 'falloc -k {o} {l}' {p}"},
    {Kind::punch, "punch", "pol", Precondition::file, kAcceptsOpenFile | kAnyByte,
     "io -c 'fpunch {o} {l}' {p}"},
    {Kind::zero, "zero", "pol", Precondition::file, kAcceptsOpenFile | kAnyByte,
     "io -c 'fzero {o} {l}' {p}"},
    {Kind::zero_keep, "zero-keep", "pol", Precondition::file, kAcceptsOpenFile | kAnyByte,
     "io -c 'fzero -k {o} {l}' {p}"},
    {Kind::link, "link", "pt", Precondition::linkable, kAcceptsOpenFile | kChangesNames | kTwoNames,
     ""},
    {Kind::symlink, "symlink", "tp", Precondition::new_name, kChangesNames, "ln -sT {t} {p}"},
    {Kind::rename, "rename", "pt", Precondition::rename, kChangesNames | kTwoNames,
     "rename_flags {p} {t} 0"},
    {Kind::rename_noreplace, "rename-noreplace", "pt", Precondition::rename,
     kChangesNames | kTwoNames, "rename_flags {p} {t} 1"},
    {Kind::rename_exchange, "rename-exchange", "pt", Precondition::rename,
     kChangesNames | kTwoNames, "rename_flags {p} {t} 2"},
    {Kind::rename_whiteout, "rename-whiteout", "pt", Precondition::rename,
     kChangesNames | kTwoNames, "rename_flags {p} {t} 4"},
    {Kind::setxattr, "setxattr", "pax", Precondition::attribute_holder, kAcceptsRoot, ""},
    {Kind::removexattr, "removexattr", "pa", Precondition::attribute, kAcceptsRoot,
     "setfattr -x {a} {p}"},
    {Kind::fsync, "fsync", "p", Precondition::syncable, kAcceptsOpenFile | kPersists,
     "io -c fsync {p}"},
    {Kind::fdatasync, "fdatasync", "p", Precondition::syncable, kAcceptsOpenFile | kPersists,
     "io -c fdatasync {p}"},
    {Kind::fsync_directory, "fsyncdir", "p", Precondition::directory,
     kAcceptsOpenFile | kPersists | kAcceptsRoot, "io -c fsync {p}"},
    {Kind::sync, "sync", "", Precondition::nothing, kPersists | kWholeSystem, "sync"},
    {Kind::syncfs, "syncfs", "", Precondition::nothing, kPersists | kWholeSystem, "io -c syncfs ."},
    {Kind::join, "join", "", Precondition::nothing, 0, ""},
    {Kind::open, "open", "pt", Precondition::file_to_open, 0, "true"},
    {Kind::close, "close", "p", Precondition::syncable, kAcceptsOpenFile, "true"},
    {Kind::chmod, "chmod", "pm", Precondition::file_or_directory, 0, "chmod {m} {p}"},
    {Kind::chown, "chown", "pug", Precondition::file_or_directory, 0, "chown {u}:{g} {p}"},
    {Kind::touch, "touch", "ps", Precondition::file, 0, "touch -c -m -d @{s} {p}"},
    {Kind::rest, "rest", "s", Precondition::nothing, kPersists, "sleep {s}"},
    {Kind::begin, "begin", "", Precondition::nothing, 0, "!no standard tool supports transactions"},
    {Kind::commit, "commit", "", Precondition::nothing, 0,
     "!no standard tool supports transactions"},
    {Kind::collapse, "collapse", "pol", Precondition::range_before_end,
     kAcceptsOpenFile | kMovesBlocks, "io -c 'fcollapse {o} {l}' {p}"},
    {Kind::insert, "insert", "pol", Precondition::offset_in_file, kAcceptsOpenFile | kMovesBlocks,
     "io -c 'finsert {o} {l}' {p}"},
    {Kind::clone, "clone", "poltq", Precondition::two_ranges, kSharesBlocks | kTwoNames, ""},
    {Kind::dedupe, "dedupe", "poltq", Precondition::two_ranges, kSharesBlocks | kTwoNames, ""},
    {Kind::store, "store", "polfv", Precondition::range_in_file,
     kAcceptsOpenFile | kAnyByte | kByteVersion,
     "io -c 'mmap 0 {e}' -c 'mwrite -S {v} {o} {l}' {p}"},
    {Kind::msync, "msync", "pol", Precondition::range_in_file, kAcceptsOpenFile | kPersists,
     "io -c 'mmap 0 {e}' -c 'msync -s {o} {l}' {p}"},
    {Kind::sync_range, "sync-range", "pol", Precondition::range_in_file, kAcceptsOpenFile,
     "io -c 'sync_range -b -w -a {o} {l}' {p}"},
    {Kind::tmpfile, "tmpfile", "t", Precondition::free_descriptor, 0,
     "!a shell cannot open a file without a name"},
    {Kind::mknod, "mknod", "pk", Precondition::new_name, kChangesNames, "mkfifo {p}"},
    {Kind::remount, "remount", "", Precondition::no_open_file, kPersists,
     "!the script supports only one mount"},
    {Kind::freeze, "freeze", "", Precondition::nothing, kPersists | kWholeSystem,
     "io -x -c freeze -c thaw ."},
    {Kind::evict, "evict", "", Precondition::nothing, kWholeSystem,
     "quiet sh -c 'echo 3 > /proc/sys/vm/drop_caches'"},
    {Kind::flags, "flags", "pi", Precondition::file_or_directory, 0, ""},
    {Kind::project, "project", "pj", Precondition::file_or_directory, 0,
     "io -r -c 'chproj {j}' {p}"},
    {Kind::write_direct_dsync, "write-direct-dsync", "polfv", Precondition::file,
     kBypassesCache | kPersists | kByteVersion, "write_direct_dsync {p} {o} {l} {v}"},
    {Kind::write_uring, "write-uring", "polfv", Precondition::file, kBypassesCache | kPersists,
     "!xfs_io cannot write through io_uring"},
    {Kind::remount_read_only, "remount-ro", "", Precondition::no_open_file, kPersists,
     "mount -o remount,ro . && mount -o remount,rw ."},
    {Kind::access, "access", "ps", Precondition::file, 0, "touch -c -a -d @{s} {p}"},
    {Kind::subvolume, "subvolume", "p", Precondition::new_name, 0, "btrfs -q subvolume create {p}"},
    {Kind::snapshot, "snapshot", "pt", Precondition::subvolume_to_copy, kAcceptsRoot,
     "btrfs -q subvolume snapshot {p} {t}"},
    {Kind::remove_subvolume, "remove-subvolume", "p", Precondition::subvolume_to_remove, 0,
     "btrfs -q subvolume delete {p}"},
    {Kind::crash, "crash", "c", Precondition::no_open_file, 0,
     "!the script supports only one mount"},
    {Kind::write_atomic, "write-atomic", "polfv", Precondition::file, kBypassesCache,
     "!not every version of xfs_io can write with RWF_ATOMIC"},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (kRows.at(i).kind != static_cast<Kind>(i)) return false;
  return true;
}
static_assert(is_in_order(), "row_of() uses the kind as the index");

}  // namespace

std::span<const OperationRow> operation_rows() {
  return kRows;
}

const OperationRow& row_of(Kind kind) {
  return kRows.at(static_cast<std::size_t>(kind));
}

}  // namespace headcrash::workload
