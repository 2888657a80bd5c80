#pragma once
// Patterns by which applications keep their data safe. Each step relies on a promise of the file
// system.
//
//   replace-by-rename           editors, package managers: new file, fsync, rename over the old
//                               one, fsync of the directory every other time
//   replace-by-rename-unsynced  the same without fsync of the file; a synced log next to it
//                               provides the persistence points
//   append-log                  records appended to a log, fdatasync after every few; rotation by
//                               rename
//   mail-spool                  maildir: written and synced in tmp, linked into new, moved to cur,
//                               removed
//   sqlite-rollback             SQLite's rollback journal: journal synced, pages written in place,
//                               synced, journal removed
//   sqlite-wal                  SQLite's write-ahead log: frames appended and synced, copied to the
//                               database at a checkpoint, the log restarted
//   overwrite-fsync             a database's table: overwritten in place, each write synced
//   append-fsync                a server's files: created and appended to; each change and name is
//                               synced
//
// Two more come from the xfstests that found a defect of btrfs:
//
//   fsync-unlinked              generic/764: a file loses its last name while it is open, and is
//                               synced
//   fsync-renamed-symlink       generic/779: a symbolic link is renamed, and its directory is
//                               synced

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
  std::uint32_t rounds = 60;  ///< number of replacements, records, mails or transactions
};

/// Returns a pattern by name, or nullopt if the name is unknown. Equal options give equal lists.
std::optional<std::vector<Operation>> pattern(std::string_view name, const PatternOptions& options);

}  // namespace headcrash::workload
