// Between phase 0 and phase 1 (fsck.h): the file system is what its journal says that it is. A
// repair replays it and empties it; a check that may change nothing looks at the disk through what
// a replay would write. All phases follow either way.

#include <fmt/format.h>

#include <array>
#include <string>

#include "fs-adapters/ufs/fsck/fsck_state.h"
#include "fs-adapters/ufs/schemes/journal_area.h"

namespace headcrash::ufs {

namespace {

std::string what_is_lost(const FsckReport& report, const Superblock& superblock) {
  const std::string given_up = "the log's device is given up: ";
  if (report.was_clean) return given_up + "the file system was unmounted, nothing was only there";
  const std::uint64_t bytes =
      std::uint64_t{superblock.journal.fragments} * superblock.fragment_bytes;
  return fmt::format(
      "{}what was synced and is not in its place yet is lost, {} bytes of log at most", given_up,
      bytes);
}

}  // namespace

void Fsck::State::look_into_journal() {
  if (superblock.journal.fragments == 0 || stopped()) return;
  std::array<std::byte, kSectorBytes> sector = {};
  const bool external = superblock.features.external_journal;
  if (external && options.without_log) return give_up_journal();
  if (external) {
    if (const auto read = source->read(JournalRing(superblock).superblock_lba(), sector); !read) {
      failure = Error{"the log's device", "cannot be read: " + read.error().message(),
                      kExternalLogHint};
      return;
    }
  } else if (!read_sectors(JournalRing(superblock).superblock_lba(), sector)) {
    return;
  }
  const auto decoded = decode_journal_superblock(sector, superblock);
  if (!decoded &&
      external) {  // it may be somebody else's: nothing is written there, nor without it
    failure = decoded.error();
    return;
  }
  if (!decoded) {
    find(FindingKind::bad_journal, 0, superblock.journal.at, 0,
         "the journal: " + decoded.error().problem + "; an empty one is made");
    if (!repairing()) return;
    if (auto done = remake_journal(*target, superblock); !done) failure = done.error();
    return;
  }
  if (report.was_clean) return;  // a replica's flag is mkfs's
  report.journalled = decoded->in_use;
  if (repairing())
    replay_in_place();
  else
    replay_in_memory();
}

/// What the disk holds without it is all that there is. The replicas are first: as long as the
/// superblock names the journal, somebody has to say again that it is gone.
void Fsck::State::give_up_journal() {
  find(FindingKind::lost_journal, 0, 0, superblock.journal.fragments,
       what_is_lost(report, superblock));
  superblock.features.external_journal = false;
  superblock.journal = {};
  superblock.journal_id = 0;
  geometry = Geometry(superblock);
  for (std::uint32_t group = superblock.groups; repairing() && group-- > 0;) {
    const std::uint64_t byte = geometry.byte_of(geometry.replica(group));
    if (auto done = write_superblock(*target, superblock, byte); !done) {
      failure = done.error();
      return;
    }
  }
}

void Fsck::State::replay_in_place() {
  const auto replayed = replay_journal(*target, superblock, ReplayFor::repair);
  if (!replayed) {
    failure = replayed.error();
    return;
  }
  report.replayed = replayed->transactions;
  if (!replayed->damage.empty())
    find(FindingKind::bad_journal, 0, superblock.journal.at, 0,
         replayed->damage + "; what comes before it is replayed");
}

void Fsck::State::replay_in_memory() {
  auto read = read_journal(*source, superblock);
  if (!read) {
    failure = read.error();
    return;
  }
  if (!read->super.in_use) return;
  journal = std::move(*read);
  report.replayed = journal.transactions.size();
  if (!journal.damage.empty())
    find(FindingKind::bad_journal, 0, superblock.journal.at, 0,
         journal.damage + "; what comes before it is replayed");
  redo.emplace(*source, superblock);
  options.contents = {};  // of the disk as it is
  redo->add(journal.transactions);
  // What is invalid here is met again, and named, by the phases.
  if (const auto orphans = orphans_of(journal, superblock, *redo))
    for (const InodeNumber orphan : *orphans) (void)redo->release(orphan);
  (void)redo->count(superblock);
}

}  // namespace headcrash::ufs
