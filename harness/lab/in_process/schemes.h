#pragma once
// The schemes that the lab knows, what each may leave behind, and which of them are controls: the one table.
//
// What fsck finds has a weight (ufs::weight_of): `stale` is what every power cut leaves, `residue` what
// updates in the right order may leave (leaked blocks and inodes, link counts that are too high), `damage`
// the rest. Every scheme of the paper writes the maps of free blocks and inodes whenever it likes, since fsck
// makes them anew from the inodes (Ganger and Patt 1994, section 1 names no rule about them): a block that is
// somebody's and marked free is then no damage, but no file system may be used before fsck has run.
//
// A directory that is renamed has two names between the writes of the new and the old one (rule R1 wants it
// so); fsck takes one away. An exchange of names goes through a third one, which a cut may leave behind.
//
// A control keeps none of the rules. It has to be caught: a lab in which it comes out fine judges nothing.

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/os/disk_queue.h"
#include "fs-adapters/promises.h"
#include "fs-adapters/ufs/file_system.h"
#include "fs-adapters/ufs/fsck.h"

namespace headcrash::in_process {

struct SchemeUnderTest {
  std::string name;
  std::string title;
  ufs::MountOptions mount;
  os::DiskQueueOptions queue;
  bool block_copy = false;  ///< -CB
  ufs::Weight may_leave = ufs::Weight::residue;
  bool maps_lag = true;  ///< maps may say "free" of what is somebody's
  bool control = false;  ///< must be caught
};

/// Every name once.
std::vector<SchemeUnderTest> schemes_under_test();
/// For tests' messages.
void PrintTo(const SchemeUnderTest& scheme, std::ostream* out);
/// Errors suggest the nearest name.
Result<SchemeUnderTest> find_scheme(std::string_view name);

/// What the oracle may ask of it.
adapters::Promises promises_of(const SchemeUnderTest& scheme);

/// The name that stands for one of the two during an exchange (fs-adapters/ufs/rename.cc).
bool is_name_of_exchange(std::string_view path);

/// True when the scheme may leave this.
bool permitted(const SchemeUnderTest& scheme, ufs::FindingKind kind);

}  // namespace headcrash::in_process
