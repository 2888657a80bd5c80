#pragma once
// The log-structured file system as a system under test (fs-adapters/system_under_test.h).
//
//   roll-forward      what it is meant to be: checksums, and the log since the checkpoint is taken in
//   checkpoint-only   a mount takes the newest checkpoint as it is (Rosenblum 1992, section 4.5.2.2): sync
//                     persists, fsync promises nothing
//   eager-cleaner     roll-forward with a cleaner that starts early
//   small-transfers   roll-forward through a driver that makes several requests of a region, in any order
//
// and controls: one for each rule that the log stands on (store.h, Rule), and `sprite92`, the
// paper's format, which relies on a region's last sector being written last, with small transfers
// that keep no such order.
//
// Checking: an image has to be without a fault at its newest checkpoint, and again when its log has
// been rolled forward, which is done apart unless it is to be repaired. Damage is told, and not
// repaired.

#include "fs-adapters/lfs/check.h"
#include "fs-adapters/lfs/store.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::lfs {

/// Made when it is first wanted.
const adapters::FileSystemType& file_system_type();

/// A way to run it that is none of those.
std::unique_ptr<const adapters::SystemUnderTest> system_of(std::string name,
                                                           const MountOptions& mount);

}  // namespace headcrash::lfs
