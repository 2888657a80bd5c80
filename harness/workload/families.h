#pragma once
// Families of workloads, numbered: each aims at one kind of mistake in the order of writes, and
// every number of it is another list. They are short, so that a lab can try all their crash states,
// and small: most belong on a disk of a few hundred kilobytes, where space is used again at once
// (in_process/lab_disks.h).
//
//   reuse          files go and others take their blocks and inodes in the next breath
//   nearly-full    files, their ends, holes and directories go on a disk without a free block, and others
//                  take their place: what is used again is what has just been freed
//   crumbs         the same, and what is given back goes to files of one fragment each
//   no-room        more is asked for than a full disk has: what is refused has not been done
//   full-users     three users at once on a disk with little room: one takes what another one gives back
//   truncation     files are cut, punched and grown again, while others write
//   indirect       writes and cuts on both sides of where single, double and triple indirect blocks begin
//                  (blocks of 512 bytes: at 6 KiB, 70 KiB and 8.07 MiB)
//   fragments      files grow by half kilobytes side by side, so that their last fragments move
//   regrowth       files grow, are cut below where that began and grow again, while neighbours take what
//                  was given up and are synced
//   directories    long names: directories grow beyond a block, empty and go, and files take their blocks
//   renames        over files, over directories and across them, of what was synced and what was not
//   exchanges      directories and files change places across directories
//   long-renames   directories with names of 193 bytes move and change places dozens of times without a sync: more
//                  than what tells of it fits into one write of a log
//   moves          directories are emptied by renames into old and new ones, and removed
//   replacements   synced files and new ones are renamed over others, while their neighbours are synced
//   large-directories
//                  synced files move where a directory grows; with blocks of 512 bytes that is
//                  where its indirect block begins
//   journal-wrap   a hundred and more changes of names and few files: a small journal goes round
//   open-files     files lose their last names while they are open, and are written and synced without one
//   overwrites     synced files are written over: a block, and more than a transaction of a journal holds
//   crowded        names of all lengths come and go in a directory, and move within its chunks
//   appends        files that stay open grow by less than a block, and are synced
//   paths          directories are renamed, by one user or by three, and what is below them is synced at once
//   holes          in files with indirect blocks holes are filled and made, and other users take what was
//                  freed
//   syncs          three users call sync at once, each with little to write
//   fsyncs         two users change files with indirect blocks and fsync them, while a third one calls sync
//   rests          files, records and names change, and a rest follows, while another user may go on: what was
//                  done before it is on the disk without a sync, where the age of what is lost is
//                  bounded
//   many-users     three users at once (random_operations.h), who meet every few operations
//   attributes     three users change modes, owners and times, between files that come, grow, move and go:
//                  is what the disk shows of one point of the history?
//   transactions   three users do several operations as one, where the file system has transactions
//   histories      everything that the language can say (random_operations.h), in small

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

/// Nothing for an unknown name. Equal numbers give equal lists.
std::optional<std::vector<Operation>> family_member(std::string_view name, std::uint64_t number);

}  // namespace headcrash::workload
