#pragma once
// Families of numbered workloads. Each family targets one kind of error in the order of writes, and
// each number gives a different list. Lists are short, so that all crash states can be tried. Most
// lists fit on a disk of a few hundred kilobytes, where space is reused at once
// (in_process/lab_disks.h).
//
//   reuse          new files take the blocks and inodes of files that were removed just before
//   nearly-full    on a full disk, files, file tails, holes and directories free space, which is
//                  reused at once
//   crumbs         the same, but the freed space goes to files of one fragment each
//   no-room        requests exceed the free space; a refused operation must have no effect
//   full-users     three users on a nearly full disk: one reuses space that another frees
//   edges          on a nearly full disk, ranges begin and end at the edges of blocks and files,
//                  just before or after them, or far behind the end of a file
//   last-blocks    a few free blocks, whose number is that of the list: operations run out of space
//                  at each of their steps
//   truncation     files are truncated, punched and extended while others write
//   indirect       writes and truncations near the start of single, double and triple indirect
//                  blocks (with blocks of 512 bytes: at 6 KiB, 70 KiB and 8.07 MiB)
//   fragments      files grow in turns by half a kilobyte, so that their last fragments move
//   regrowth       files grow, shrink below their old size and grow again, while neighbours reuse
//                  the freed space and are synced
//   directories    directories with long names grow beyond a block, are emptied and removed, and
//                  files reuse their blocks
//   renames        synced and unsynced objects are renamed, over other objects and across
//                  directories
//   exchanges      directories and files are exchanged across directories
//   long-renames   directories with names of 193 bytes are renamed and exchanged dozens of times
//                  without a sync: the records exceed one log write
//   moves          directories are emptied by renames into old and new directories, then removed
//   replacements   synced and new files are renamed over other files, whose neighbours are synced
//   large-directories
//                  synced files move into a growing directory; with blocks of 512 bytes, the
//                  directory then begins to need an indirect block
//   journal-wrap   over a hundred changes of names and few files: a small journal wraps around
//   open-files     files lose their last names while open, and are then written and synced
//   overwrites     synced files are overwritten, by a block or by more than a journal transaction
//   crowded        names of all lengths are added to a directory and removed, and move within its
//                  chunks
//   appends        open files grow by less than a block, and are synced
//   paths          one or three users rename directories, and concurrently sync objects below them
//   holes          in files with indirect blocks, holes are filled and punched, and other users
//                  reuse the freed blocks
//   open-users     three users keep files open that lose their names, and write, sync and close
//                  them while the others sync
//   syncs          three users call sync concurrently, each with little to write
//   fsyncs         two users change files with indirect blocks and fsync them; a third calls sync
//   rests          files, records and names change, and a rest follows, during which another user
//                  may continue: if the file system bounds the age of lost changes, the changes
//                  before the rest reach the disk without a sync
//   many-users     three concurrent users (random_operations.h), with a join every few operations
//   attributes     three users change modes, owners and times while files are created, extended,
//                  moved and removed: does the disk show one point in the history?
//   transactions   three users combine operations into transactions, if these are supported
//   histories      all operations of the language (random_operations.h), in short lists

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct Family {
  std::string_view name, title;
};
const std::vector<Family>& families();

/// Returns the workload with this number of a family, or nullopt if the family is unknown. The same
/// number always gives the same list.
std::optional<std::vector<Operation>> family_member(std::string_view name, std::uint64_t number);

}  // namespace headcrash::workload
