// Between phases 0 and 1 (fsck.h): applies the journal. A repair replays the journal and empties
// it. A read-only check reads the disk as it would be after a replay. In both cases all phases
// follow.

#include <fmt/format.h>

#include <array>
#include <string>

#include "fs-adapters/ufs/fsck/fsck_state.h"
#include "fs-adapters/ufs/schemes/journal_area.h"

namespace headcrash::ufs {

namespace {

std::string losses(const FsckReport& report, const Superblock& superblock) {
  const std::string given_up = "the log device is abandoned: ";
  if (report.was_clean) return given_up + "the file system was clean, so nothing is lost";
  const std::uint64_t bytes =
      std::uint64_t{superblock.journal.fragments} * superblock.fragment_bytes;
  return fmt::format("{}synced updates that only the log contained are lost, at most {} bytes",
                     given_up, bytes);
}

}  // namespace

void Fsck::State::check_journal() {
  if (superblock.journal.fragments == 0 || stopped()) return;
  std::array<std::byte, kSectorBytes> sector = {};
  const bool external = superblock.features.external_journal;
  if (external && options.without_log) return give_up_journal();
  if (external) {
    if (const auto read = source->read(JournalRing(superblock).superblock_lba(), sector); !read) {
      failure =
          Error{"the log's device", "cannot be read: " + read.error().message(), kExternalLogHint};
      return;
    }
  } else if (!read_sectors(JournalRing(superblock).superblock_lba(), sector)) {
    return;
  }
  const auto decoded = decode_journal_superblock(sector, superblock);
  // The device may belong to another file system, so nothing is written to it. The file system is
  // not repaired either, because its log is missing.
  if (!decoded && external) {
    failure = decoded.error();
    return;
  }
  if (!decoded) {
    find(FindingKind::bad_journal, 0, superblock.journal.at, 0,
         "the journal: " + decoded.error().problem + "; replaced by an empty one");
    if (!repairing()) return;
    if (auto done = remake_journal(*target, superblock); !done) failure = done.error();
    return;
  }
  if (report.was_clean) return;  // was_clean is false if the superblock is a replica
  report.journalled = decoded->in_use;
  if (repairing())
    replay_in_place(Findings::all);
  else
    replay_in_memory();
}

/// Removes the journal, so that only the state on the disk remains. The replicas are written before
/// the superblock. If the repair is interrupted, the superblock therefore still refers to the
/// journal, and the repair resumes only after the user has confirmed again that the journal is
/// lost.
void Fsck::State::give_up_journal() {
  find(FindingKind::lost_journal, 0, 0, superblock.journal.fragments, losses(report, superblock));
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

Result<std::optional<FsckReport>> Fsck::State::recover_log() {
  begin();
  if (!superblock_at(kSuperblockByte, false) || superblock.clean ||
      superblock.journal.fragments == 0 || superblock.features.external_journal)
    return std::nullopt;
  std::array<std::byte, kSectorBytes> sector = {};
  if (read_sectors(JournalRing(superblock).superblock_lba(), sector)) {
    const auto decoded = decode_journal_superblock(sector, superblock);
    if (!decoded) return std::nullopt;
    report.journalled = decoded->in_use;
    replay_in_place(Findings::of_the_log);
  }
  if (failure) return tl::unexpected(*failure);
  return std::move(report);
}

/// A check does not report orphans that cannot be released because of damage. With
/// Findings::of_the_log, they are omitted for this reason.
void Fsck::State::replay_in_place(Findings which) {
  const auto replayed = replay_journal(*target, superblock, ReplayFor::repair);
  if (!replayed) {
    failure = replayed.error();
    return;
  }
  report.replayed = replayed->transactions;
  std::string damage = replayed->damage;
  if (damage.empty() && which == Findings::all) damage = replayed->not_released;
  if (!damage.empty())
    find(FindingKind::bad_journal, 0, superblock.journal.at, 0,
         damage + "; earlier transactions are replayed");
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
         journal.damage + "; earlier transactions are replayed");
  redo.emplace(*source, superblock);
  options.contents = {};  // the digests describe the disk without the replay
  redo->add(journal.transactions);
  // If one of these inodes is invalid, the later phases find and report it.
  if (const auto orphans = orphans_of(journal, superblock, *redo))
    for (const InodeNumber orphan : *orphans) (void)redo->release(orphan);
  (void)redo->count(superblock);
}

}  // namespace headcrash::ufs
