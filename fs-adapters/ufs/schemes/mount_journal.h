#pragma once
// What a mount does about a journal, before anything else is believed (journal_replay.h): brings to
// its places what was committed, and makes the journal empty, for a scheme that uses it or one that
// does not.

#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/format/journal_format.h"

namespace headcrash::ufs {

/// `superblock` is what is on the disk when this returns: clean if a journal could make it so.
/// Without a journal, and a scheme that wants none, nothing happens.
Result<JournalSuperblock> prepare_journal(os::System& system, const MountOptions& options,
                                          Superblock& superblock);

}  // namespace headcrash::ufs
