// The cleaner (store.h; Rosenblum 1992, sections 4.4.2 and 4.4.3). It reads whole segments and
// marks their live data dirty, as a user's write would; a checkpoint then writes the data
// elsewhere. The cache has only one copy of each block, so an older copy never replaces a newer
// one.
#include <algorithm>
#include <cstring>

#include "fs-adapters/lfs/store.h"

namespace headcrash::lfs {

namespace {

// Sprite started cleaning at a few tens of clean segments and stopped at 50 to 100. Small disks
// have fewer segments.
constexpr std::uint32_t kStartMax = 20, kStopMax = 50;
constexpr std::uint32_t kPanic = 3;
constexpr std::uint64_t kLiveAtOnce = 10 << 20;
// A pass cleans at most this number of segments, or clean_stop() segments if that is more.
constexpr std::uint32_t kReadAtOnceFactor = 8;

}  // namespace

std::uint32_t Store::clean_start() const {
  if (options_.clean_start != 0) return options_.clean_start;
  return std::clamp(s_.segments / 20, 3U, kStartMax);
}

std::uint32_t Store::clean_stop() const {
  if (options_.clean_stop != 0) return options_.clean_stop;
  return std::clamp(s_.segments / 10, 5U, kStopMax);
}

/// Returns the number of bytes that a checkpoint writes in addition to file blocks. Includes the
/// unused ends of segments.
std::uint64_t Store::overhead_bytes() const {
  const std::uint64_t tables = dirty_map_blocks_.size() + s_.usage_blocks() + 2;
  const std::uint64_t inodes = to_write_.size() * (kInodeBytes + kSummaryEntryBytes);
  return tables * (s_.block_bytes + kSummaryEntryBytes) + inodes + records_.size() +
         dirty_bytes_ / 24 + s_.segment_bytes() / 8;
}

/// Returns the log space that is reserved for the cleaner.
///
/// A pass frees the dead data of the segments that it reads, and with more space it can read more
/// segments. However, the pass ends with a checkpoint, which rewrites the changed blocks of the map
/// and the table: in the worst case all of them, however few segments were cleaned. Let `tables` be
/// the size of all these blocks, and `dead` the fraction of each segment that is dead. A pass with
/// `tables / dead` bytes of space then frees only as much as it writes. The result is twice that
/// amount.
std::uint64_t Store::pass_room_bytes() const {
  const std::uint64_t tables = (std::uint64_t{map_blocks_in_log_} + s_.usage_blocks()) *
                               (s_.block_bytes + kSummaryEntryBytes);
  const double all = static_cast<double>(s_.segment_bytes()) * s_.segments;
  const double dead = std::max(1 - static_cast<double>(live_bytes_) / all, 1. / s_.segments);
  const auto wanted = static_cast<std::uint64_t>(2 * static_cast<double>(tables) / dead);
  // Two segments are added, because the space at the end of this segment and at the end of the next
  // one is lost.
  const std::uint64_t most = s_.reserve_segments / 2 * s_.segment_bytes();
  return 2 * s_.segment_bytes() + std::min(wanted, most);
}

/// Returns the free space at the end of the log and in clean segments.
std::uint64_t Store::log_room_bytes() const {
  const std::uint64_t lost = 4ULL * s_.block_bytes + s_.segment_bytes() / 64;
  const std::uint64_t segment = s_.segment_bytes() - lost;
  const std::uint64_t here = std::uint64_t{room_in_segment()} * kSectorBytes;
  // `clean_segments_` does not count the segment after the current one.
  return here - std::min(here, lost) + segment * clean_segments_;
}

/// For the control that breaks Rule::newest_copy_wins: overwrites a block with the copy in the
/// segment that is being cleaned, even if that copy is outdated.
VfsResult<void> Store::overwrite(CoreInode& inode, BlockId block,
                                 std::span<const std::byte> bytes) {
  if (block.level != 0 || !inode.disk.is_regular()) return {};
  const auto buffer = read_block(inode, block.index);
  if (!buffer || !*buffer) return {};
  std::memcpy(buffer->bytes().data(), bytes.data(), std::min(bytes.size(), buffer->bytes().size()));
  mark_dirty(inode, block);
  return mark_index_dirty(inode, block);
}

VfsResult<void> Store::move_block(const SummaryEntry& entry, SectorAddress address,
                                  std::span<const std::byte> bytes) {
  const BlockId block = entry.block();
  if (block.level > 0 ? block.index >= s_.blocks_of_level(block.level)
                      : block.index >= s_.blocks_per_file_max())
    return {};
  // If the version differs, the file has been deleted or truncated to 0, so the inode need not be
  // read.
  if (entry.inode >= s_.inodes || !map_[entry.inode].allocated() ||
      map_[entry.inode].version != entry.version)
    return {};
  TRY(auto handle, get_core(entry.inode, nullptr));
  CoreInode& inode = *handle;
  const tree::InodeLock lock(inode);
  if (inode.removed) return {};
  if (!keeps(Rule::newest_copy_wins)) return overwrite(inode, block, bytes);
  if (inode.dirty.contains(block)) return {};  // a newer copy is about to be written
  TRY(const auto now_at, address_of(inode, block));
  if (now_at != address) return {};
  os::HeldBuffer buffer = cache.cached(key_of(inode, block));
  if (!buffer) {
    buffer = cache.get(key_of(inode, block), os::Content::data, address, bytes.size());
    std::memcpy(buffer.bytes().data(), bytes.data(), bytes.size());
  }
  mark_dirty(inode, block);
  ++counters_.blocks_moved;
  cache.release(std::move(buffer));
  return mark_index_dirty(inode, block);
}

VfsResult<void> Store::move_inodes(SectorAddress address, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size() / kInodeBytes; ++i) {
    const InodeNumber number = decode_inode(bytes.subspan(i * kInodeBytes)).number;
    if (number >= s_.inodes || number < kRootInode) continue;
    const auto is_here = [&] {
      return map_[number].address == address + i / kInodesPerSector &&
             map_[number].slot == i % kInodesPerSector;
    };
    if (!is_here()) continue;
    TRY(auto handle, get_core(number, nullptr));
    const tree::InodeLock lock(*handle);
    if (is_here()) mark_changed(*handle);
  }
  return {};
}

VfsResult<void> Store::move_live(const SummaryEntry& entry, SectorAddress address,
                                 std::span<const std::byte> bytes) {
  if (entry.of_file()) return move_block(entry, address, bytes);
  if (entry.content == Content::inodes) return move_inodes(address, bytes);
  // A block of a table is only marked here; the next checkpoint writes it to a new address. The
  // same checkpoint makes the records of the directory log obsolete.
  if (entry.content == Content::inode_map && entry.index < s_.map_blocks() &&
      checkpoint_.map_blocks[entry.index] == address)
    dirty_map_blocks_.insert(entry.index);
  if (entry.content == Content::usage && entry.index < s_.usage_blocks() &&
      checkpoint_.usage_blocks[entry.index] == address)
    moving_usage_blocks_.insert(entry.index);
  return {};
}

VfsResult<void> Store::clean_segment(SegmentNumber segment) {
  std::vector<std::byte> bytes(s_.segment_bytes());
  TRY(read_sectors(s_.segment_start(segment), bytes));
  ++counters_.segments_read;
  std::uint64_t last = 0;
  for (std::uint32_t at = 0; at < s_.segment_sectors;) {
    const auto rest = std::span<const std::byte>(bytes).subspan(std::size_t{at} * kSectorBytes);
    const auto summary = decode_summary(rest, s_, s_.segment_sectors - at);
    if (!summary || summary->sequence <= last) break;
    last = summary->sequence;
    std::uint32_t within = summary->summary_sectors();
    for (const SummaryEntry& entry : summary->entries) {
      if (usage_[segment].state != SegmentState::dirty) return {};
      const auto content = rest.subspan(std::size_t{within} * kSectorBytes,
                                        std::size_t{entry.sectors} * kSectorBytes);
      TRY(move_live(entry, s_.segment_start(segment) + at + within, content));
      within += entry.sectors;
    }
    at += summary->sectors;
  }
  return {};
}

/// Runs a pass unless one is already running, because two concurrent passes would read the same
/// segments and rely on the same free space. A caller that finds a pass running waits for it and
/// returns its result.
VfsResult<std::int64_t> Store::clean() {
  const std::uint64_t passes = passes_done_;
  const tree::FiberLockGuard one_at_a_time(clean_lock_);
  if (stopped_) return refuse(EIO);
  if (passes_done_ != passes) return given_by_last_pass_;
  const auto given = clean_now();
  ++passes_done_;
  given_by_last_pass_ = given.value_or(0);
  return given;
}

VfsResult<std::int64_t> Store::clean_now() {
  const std::uint32_t before = clean_segments_;
  // This pass must not use the space that the users' changes need.
  const std::uint64_t spoken_for = dirty_bytes_ + overhead_bytes();
  const std::uint64_t room = log_room_bytes() - std::min(log_room_bytes(), spoken_for);
  const std::uint64_t budget = std::min({room, kLiveAtOnce, cache.size_bytes() / 4});
  std::vector<Candidate> candidates;
  for (SegmentNumber i = 0; i < s_.segments; ++i) {
    const SegmentUsage& usage = usage_[i];
    // Segments without live data are not candidates, because a checkpoint is enough to free them.
    if (usage.state != SegmentState::dirty || usage.live_bytes == 0 || usage.live_bytes > budget)
      continue;
    const std::int64_t age = std::max<std::int64_t>(executor.now() - usage.youngest_ns, 0);
    candidates.push_back({i, usage.live_bytes, static_cast<std::uint64_t>(age)});
  }
  CleaningOptions how{.selection = options_.selection, .order = options_.order};
  how.segment_size = s_.segment_bytes();
  // If space is short, selects the segments whose cleaning gains the most space now.
  if (clean_segments_ < kPanic || room < pass_room_bytes() + s_.segment_bytes())
    how.selection = Selection::greedy;
  how.live_at_once = budget;
  how.segments_at_once = std::max(kReadAtOnceFactor, clean_stop());
  SegmentSelector selector(how);
  const auto chosen = selector.choose(candidates);
  const std::vector<Candidate> segments(chosen.begin(), chosen.end());
  std::size_t cleaned_now = 0;
  for (const Candidate& one : segments) {
    // The index blocks and inodes that refer to moved blocks must be rewritten, too.
    // overhead_bytes() is their total size for the segments cleaned so far. Their size for this
    // segment is estimated as half of the segment's live data.
    if (dirty_bytes_ + overhead_bytes() + one.live + one.live / 2 > log_room_bytes()) break;
    if (usage_[one.segment].state != SegmentState::dirty) continue;
    const std::uint32_t live = usage_[one.segment].live_bytes;
    if (auto cleaned = clean_segment(one.segment); !cleaned) {
      // A segment that cannot be read completely is skipped.
      if (stopped_) return forward_errno(cleaned);
      continue;
    }
    ++counters_.segments_cleaned;
    ++cleaned_now;
    ++cleaned_unfinished_;
    counters_.cleaned_live_bytes += live;
  }
  ++counters_.cleaner_passes;
  // A checkpoint that frees no segments would only use up log space.
  if (cleaned_now == 0 && has_no_pending_changes() && emptied_segments().empty()) return 0;
  if (auto done = checkpoint(); !done) return forward_errno(done);
  return std::int64_t{clean_segments_} - std::int64_t{before};
}

/// Starts a daemon that cleans until enough segments are clean.
void Store::wake_cleaner() {
  if (cleaner_runs_ || !options_.background_cleaner || recovering_ || abandoned_ || closing_)
    return;
  cleaner_runs_ = true;
  executor.spawn(os::Executor::Kind::daemon, cleaner_account_, [this] {
    while (!stopped_ && !closing_ && !executor.halted() && clean_segments_ < clean_stop()) {
      const auto more = clean();
      if (!more || *more <= 0) break;
    }
    cleaner_runs_ = false;
    gate_.wake_all();
  });
}

}  // namespace headcrash::lfs
