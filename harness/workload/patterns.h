#pragma once
// The patterns in which applications write to keep their data safe. Each step relies on a promise
// of the file system.
//
//   replace-by-rename           editors, package managers: write a new file, fsync it, rename it
//                               over the old one; fsync the directory in every second round
//   replace-by-rename-unsynced  the same without fsync of the file; a synced log next to it
//                               provides the persistence points
//   append-log                  append records to a log, call fdatasync after every few records;
//                               rotate the log by rename
//   mail-spool                  maildir: messages are written and synced in tmp, linked into new,
//                               moved to cur, and removed
//   sqlite-rollback             SQLite's rollback journal: the journal is synced, pages are written
//                               in place and synced, and the journal is removed
//   sqlite-wal                  SQLite's write-ahead log: frames are appended and synced; at a
//                               checkpoint, they are copied to the database and the log restarts
//   overwrite-fsync             a database's table: overwritten in place; each write is synced
//   append-fsync                a server's files: created and appended to; each change and each
//                               name is synced
//
// Two further patterns come from tests in xfstests, each of which found a defect in btrfs:
//
//   fsync-unlinked              generic/764: a file loses its last name while it is open, and is
//                               synced
//   fsync-renamed-symlink       generic/779: a symbolic link is renamed; its directory is synced
//
// The patterns for journaling kernels (commit_patterns.h) follow these.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct Pattern {
  std::string_view name, title;
};
const std::vector<Pattern>& patterns();

struct PatternOptions {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 60;  ///< number of steps, such as replacements, records or messages
};

/// Returns the pattern with this name, or nullopt if the name is unknown. The same options always
/// give the same list.
std::optional<std::vector<Operation>> pattern(std::string_view name, const PatternOptions& options);

}  // namespace headcrash::workload
