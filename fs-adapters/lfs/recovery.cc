// Mounts (store.h): reads the newest checkpoint and the log after it.
//
// First pass: follows the log from the end recorded in the checkpoint, region by region, as long as
// each region is complete and has the next sequence number and the checkpoint's epoch. The newest
// copy of each inode is entered in the map. The usage table is updated by the difference between
// the blocks of this copy and those of the copy that the checkpoint knows.
//
// Second pass: for each directory log record, compares the record's position in the log with the
// positions of its inode and its directory. If the inode or the directory was written before the
// record, it lacks the change, so the change is applied. If it was written with the record or
// later, it already has the change.
//
// Before anything is written to the log, the other checkpoint region records that a mount has
// begun. The mount's number, the epoch, is stored in each region that the mount writes. Regions
// that an earlier mount left after the end of the log are therefore never mistaken for a part of
// it.
//
// Source: Rosenblum 1992, section 4.5.1.3. If a created inode is not in the log, the paper undoes
// its creation. We recreate the inode from its record, as an empty file, so that names always match
// the last record.
#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/lfs/image_reader.h"
#include "fs-adapters/lfs/store.h"
#include "fs-adapters/lfs/summarized_blocks.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/little_endian.h"

namespace headcrash::lfs {
using namespace little_endian;

namespace {

tl::unexpected<Error> unreadable(const char* what) {
  return fail(std::string("lfs ") + what, "cannot be read", "check the device");
}

}  // namespace

/// Recovers a store that was loaded from a checkpoint.
class Recovery {
 public:
  explicit Recovery(Store& store) : st_(store), s_(store.s_), budget_(4 * s_.log_sectors()) {}

  VfsResult<void> roll_forward(std::uint64_t epoch) {
    TRY(follow_log(epoch));
    for (const auto& [number, written] : written_) TRY(make_known(written));
    count_files();
    for (const auto& [sequence, record] : records_) TRY(apply(sequence, record));
    return {};
  }

  void count_files() {
    st_.files_ = 0;
    for (InodeNumber i = kRootInode; i < s_.inodes; ++i) {
      st_.taken_[i] = st_.map_[i].allocated();
      if (st_.taken_[i]) ++st_.files_;
    }
  }

  /// Removes files that were open when their last name was removed.
  VfsResult<void> remove_unlinked() {
    for (InodeNumber i = kRootInode + 1; i < s_.inodes; ++i) {
      if (!st_.map_[i].unlinked || !st_.map_[i].allocated()) continue;
      const auto handle = st_.get_core(i, nullptr);
      if (!handle) return forward_errno(handle);
    }
    return {};
  }

 private:
  struct Written {
    Inode inode;
    SectorAddress address = 0;
    std::uint8_t slot = 0;
    std::uint64_t sequence = 0;
  };

  // First pass.

  VfsResult<void> follow_log(std::uint64_t epoch) {
    for (;;) {
      TRY(const auto here, region_at(st_.segment_, st_.offset_, epoch));
      if (here) continue;
      TRY(const auto next, region_at(st_.next_segment_, 0, epoch));
      if (!next) return {};
    }
  }

  /// Processes the region at `offset` in a segment. Returns false if the log does not continue
  /// there.
  VfsResult<bool> region_at(SegmentNumber segment, std::uint32_t offset, std::uint64_t epoch) {
    if (offset + 2 > s_.segment_sectors) return false;
    const std::uint32_t room = s_.segment_sectors - offset;
    const SectorAddress address = s_.segment_start(segment) + offset;
    // Most summaries fit in a block. Reading a whole block at once therefore usually saves a
    // revolution.
    const std::uint32_t first = std::min(room, s_.block_sectors());
    std::vector<std::byte> bytes(std::size_t{first} * kSectorBytes);
    if (auto read = st_.read_sectors(address, bytes); !read) return forward_errno(read);
    const auto own = summary_sectors(bytes, s_);
    if (!own || *own > room) return false;
    bytes.resize(std::size_t{*own} * kSectorBytes);
    if (*own > first) {
      const auto rest = std::span(bytes).subspan(std::size_t{first} * kSectorBytes);
      if (auto read = st_.read_sectors(address + first, rest); !read) return forward_errno(read);
    }
    const auto summary = decode_summary(bytes, s_, room);
    if (!summary || summary->sequence != st_.sequence_ + 1 || summary->epoch != epoch) return false;
    if (summary->next_segment == segment) return false;
    bytes.resize(std::size_t{summary->sectors} * kSectorBytes);
    if (auto read = read_region(*summary, address, bytes); !read) return forward_errno(read);
    if (!region_complete(*summary, s_, bytes)) return false;
    const auto records = records_of(*summary, bytes);
    if (!records) return false;
    take_records(*summary, *records);
    take_blocks(*summary, address);
    take_inodes(*summary, address, bytes);
    take_index_blocks(*summary, address, bytes);
    move_end(segment, offset, *summary, address);
    ++st_.counters_.regions_rolled_forward;
    return true;
  }

  /// Moves the records of complete operations to `records_`. If an operation's last record is
  /// missing, the power failed before that record was written.
  void take_records(const Summary& summary, const std::vector<NameRecord>& records) {
    for (const NameRecord& record : records) {
      unfinished_.push_back(record);
      if (record.more_follows) continue;
      for (NameRecord& one : unfinished_) records_.emplace_back(summary.sequence, std::move(one));
      unfinished_.clear();
    }
  }

  /// Returns true if the checkpoint has an older copy of the inode. Blocks to which only the older
  /// copy refers are dead, and recovery must find these blocks.
  bool had_copy(InodeNumber number) const {
    return number < s_.inodes && st_.map_[number].allocated();
  }

  void take_blocks(const Summary& summary, SectorAddress start) {
    SectorAddress address = start + summary.summary_sectors();
    for (const SummaryEntry& entry : summary.entries) {
      if (entry.of_file() && !had_copy(entry.inode)) blocks_.add(entry, address);
      address += entry.sectors;
    }
  }

  bool is_wanted_index(const SummaryEntry& entry) const {
    const bool is_index = entry.of_file() && entry.content != Content::data;
    return is_index && (had_copy(entry.inode) || st_.options_.recovery_reads_index);
  }

  /// Keeps the index blocks of a region in memory. They are needed to update the usage table, and
  /// reading each of them separately would cost a disk access. If the log is long, the index blocks
  /// of later regions are not kept and must be read again.
  void take_index_blocks(const Summary& summary, SectorAddress start,
                         std::span<const std::byte> bytes) {
    constexpr std::size_t kMostBytes = 4 << 20;
    std::uint32_t at = summary.summary_sectors();
    for (const SummaryEntry& entry : summary.entries) {
      const auto block =
          bytes.subspan(std::size_t{at} * kSectorBytes, std::size_t{entry.sectors} * kSectorBytes);
      if (is_wanted_index(entry) && block.size() == s_.block_bytes &&
          (index_blocks_.size() + 1) * s_.block_bytes <= kMostBytes)
        index_blocks_[start + at].assign(block.begin(), block.end());
      at += entry.sectors;
    }
  }

  VfsResult<void> read_index(SectorAddress address, std::span<std::byte> into) {
    const auto known = index_blocks_.find(address);
    if (known == index_blocks_.end()) return st_.read_sectors(address, into);
    std::copy(known->second.begin(), known->second.end(), into.begin());
    return {};
  }

  /// Reads the rest of the region into `bytes`, which already contains the summary. If the region's
  /// checksum must be verified, reads all of it. Otherwise, reads only inodes, records and the
  /// trailer, and skips data.
  VfsResult<void> read_region(const Summary& summary, SectorAddress address,
                              std::span<std::byte> bytes) {
    std::vector<Store::Piece> pieces;
    const auto read = [&](std::uint32_t from, std::uint32_t end) {
      if (from == end) return;
      const std::size_t length = std::size_t{end - from} * kSectorBytes;
      pieces.push_back({address + from, bytes.subspan(std::size_t{from} * kSectorBytes, length)});
    };
    std::uint32_t at = summary.summary_sectors(), begun = at;
    for (const SummaryEntry& entry : summary.entries) {
      const bool wanted = s_.checksums || entry.content == Content::directory_log ||
                          entry.content == Content::inodes || is_wanted_index(entry);
      if (!wanted) {
        read(begun, at);
        begun = at + entry.sectors;
      }
      at += entry.sectors;
    }
    read(begun, summary.sectors);
    return st_.read_pieces(pieces);
  }

  std::optional<std::vector<NameRecord>> records_of(const Summary& summary,
                                                    std::span<const std::byte> bytes) const {
    std::vector<NameRecord> all;
    std::size_t at = std::size_t{summary.summary_sectors()} * kSectorBytes;
    for (const SummaryEntry& entry : summary.entries) {
      const std::size_t length = std::size_t{entry.sectors} * kSectorBytes;
      if (entry.content == Content::directory_log) {
        auto records = decode_directory_log(bytes.subspan(at, length));
        if (!records) return std::nullopt;
        all.insert(all.end(), records->begin(), records->end());
      }
      at += length;
    }
    return all;
  }

  void take_inodes(const Summary& summary, SectorAddress start, std::span<const std::byte> bytes) {
    std::uint32_t at = summary.summary_sectors();
    for (const SummaryEntry& entry : summary.entries) {
      // Adds the inodes to the cache, because the second pass reads each of them (4.5.1.3).
      for (std::uint32_t i = 0; entry.content == Content::inodes && i < entry.sectors; ++i)
        st_.keep_inode_sector(start + at + i,
                              bytes.subspan(std::size_t{at + i} * kSectorBytes, kSectorBytes));
      for (std::uint32_t i = 0;
           entry.content == Content::inodes && i < entry.sectors * kInodesPerSector; ++i) {
        const std::size_t byte = std::size_t{at} * kSectorBytes + std::size_t{i} * kInodeBytes;
        const auto raw = bytes.subspan(byte, kInodeBytes);
        const Inode inode = decode_inode(raw);
        if (inode.number < kRootInode || inode.number >= s_.inodes || !inode.allocated()) continue;
        if (!inode_intact(raw, s_) || inode.size_bytes > s_.file_bytes_max()) continue;
        written_[inode.number] = {inode, start + at + i / kInodesPerSector,
                                  static_cast<std::uint8_t>(i % kInodesPerSector),
                                  summary.sequence};
        blocks_.inode_follows(inode.number);
      }
      at += entry.sectors;
    }
  }

  /// Moves the end of the log to the end of this region. The segments in which the log continued
  /// after the checkpoint were clean in the checkpoint, so their states are updated here.
  void move_end(SegmentNumber segment, std::uint32_t offset, const Summary& summary,
                SectorAddress address) {
    st_.usage_[st_.segment_].state = SegmentState::dirty;
    st_.usage_[st_.next_segment_].state = SegmentState::dirty;
    st_.segment_ = segment;
    st_.offset_ = offset + summary.sectors;
    st_.next_segment_ = summary.next_segment;
    st_.usage_[segment].state = SegmentState::active;
    st_.usage_[st_.next_segment_].state = SegmentState::active;
    st_.sequence_ = summary.sequence;
    st_.sectors_since_checkpoint_ += summary.sectors;
    st_.last_summary_ = address;
  }

  /// Returns true if the file is unchanged except that its blocks have moved.
  static bool only_moved(const Inode& before, const Inode& after) {
    return before.changed == after.changed && before.modified == after.modified &&
           before.size_bytes == after.size_bytes && before.pointers != after.pointers;
  }

  VfsResult<void> make_known(const Written& written) {
    MapEntry& entry = st_.map_[written.inode.number];
    Inode before;
    const bool is_new = !entry.allocated();
    if (!is_new) {
      // The inode is loaded without a Handle. If the inode has no links, releasing a Handle would
      // remove it.
      CoreInode known(st_.executor, written.inode.number);
      TRY(st_.load(known));
      before = known.disk;
      st_.drop_live(entry.address, kInodeBytes);
      if (only_moved(before, written.inode)) ++st_.counters_.inodes_moved;
    }
    ++st_.counters_.inodes_rolled_forward;
    const std::int64_t modified = std::int64_t{written.inode.modified.seconds} * model::kSecondNs +
                                  written.inode.modified.nanoseconds;
    modified_ns_ = modified;
    const auto* known_blocks =
        is_new && !st_.options_.recovery_reads_index ? blocks_.all_of(written.inode) : nullptr;
    if (known_blocks != nullptr) {
      for (const auto& [block, place] : *known_blocks)
        st_.add_live(place.address, place.sectors * kSectorBytes, modified);
    }
    for (std::uint32_t i = 0; known_blocks == nullptr && i < kPointers; ++i) {
      TRY(account(block_of_pointer(i), before, before.pointers[i], written.inode,
                  written.inode.pointers[i]));
    }
    st_.add_live(written.address, kInodeBytes, modified);
    entry = {.address = written.address,
             .slot = written.slot,
             .unlinked = written.inode.links == 0,
             .version = std::max(entry.version, written.inode.version),
             .accessed = static_cast<std::uint32_t>(written.inode.accessed.seconds)};
    st_.dirty_map_blocks_.insert(written.inode.number / s_.map_entries_per_block());
    return {};
  }

  /// Counts the block of the old copy as dead and the block of the new copy as live. Does the same
  /// for the blocks to which these two blocks lead.
  VfsResult<void> account(BlockId id, const Inode& before, SectorAddress old_address,
                          const Inode& after, SectorAddress new_address) {
    const std::uint32_t old_bytes = s_.stored_bytes(before.size_bytes, id);
    const std::uint32_t new_bytes = s_.stored_bytes(after.size_bytes, id);
    if (old_address == new_address && old_bytes == new_bytes) return {};
    for (const auto& [address, bytes] :
         {std::pair{old_address, old_bytes}, std::pair{new_address, new_bytes}})
      if (address != 0 && (!s_.holds(address, bytes / kSectorBytes) || !budget_.take()))
        return refuse(EIO);
    if (old_address != 0) st_.drop_live(old_address, old_bytes);
    if (new_address != 0) st_.add_live(new_address, new_bytes, modified_ns_);
    if (id.level == 0) return {};
    std::vector<std::byte> old_index(s_.block_bytes), new_index(s_.block_bytes);
    if (old_address != 0) TRY(read_index(old_address, old_index));
    if (new_address != 0) TRY(read_index(new_address, new_index));
    const std::uint32_t p = s_.pointers_per_block();
    const auto level = static_cast<std::uint8_t>(id.level - 1);
    const std::uint64_t first = std::uint64_t{id.index} * p + (level == 0 ? kDirectPointers : 1U);
    for (std::uint32_t i = 0; i < p; ++i) {
      const SectorAddress was = load32(old_index, std::size_t{i} * kPointerBytes);
      const SectorAddress is = load32(new_index, std::size_t{i} * kPointerBytes);
      if (was == is || first + i >= s_.blocks_of_level(level)) continue;
      TRY(account({level, static_cast<std::uint32_t>(first + i)}, before, was, after, is));
    }
    return {};
  }

  // Second pass.

  /// Returns true if the newest copy of the inode lacks the record's change, because the copy was
  /// written before the record.
  bool backward(InodeNumber number, std::uint64_t sequence) const {
    const auto at = written_.find(number);
    return at == written_.end() || at->second.sequence < sequence;
  }

  /// Returns the inode if it still has that generation. Returns an empty handle if the inode was
  /// removed or was never written.
  VfsResult<Store::Handle> find(InodeNumber number, std::uint32_t generation) {
    if (number < kRootInode || number >= s_.inodes) return Store::Handle{};
    if (!st_.map_[number].allocated() && !st_.inodes_.contains(number)) return Store::Handle{};
    auto handle = st_.get_core(number, nullptr);
    if (!handle) return handle;
    if (!(*handle)->disk.allocated() || (*handle)->disk.generation != generation)
      return Store::Handle{};
    return handle;
  }

  VfsResult<Store::Handle> make_again(const NameRecord& record) {
    const InodeNumber number = record.target;
    if (number < kRootInode || number >= s_.inodes || st_.taken_[number]) return Store::Handle{};
    auto handle = st_.get_core(number, nullptr);
    if (!handle) return handle;
    CoreInode& inode = **handle;
    st_.taken_[number] = true;
    ++st_.files_;
    ++st_.counters_.inodes_made_again;
    inode.disk.number = number;
    inode.disk.mode = record.mode;
    inode.disk.links = record.target_links;
    inode.disk.user = record.user;
    inode.disk.group = record.group;
    inode.disk.generation = record.target_generation;
    inode.disk.accessed = inode.disk.modified = inode.disk.changed = record.time;
    MapEntry& entry = st_.map_[number];
    entry.version = std::max(entry.version, record.target_generation);
    st_.mark_changed(inode);
    VfsResult<void> filled;
    if (inode.disk.is_directory()) {
      std::array<std::byte, tree::kChunkBytes> names{};
      tree::format_directory(names, number, record.directory);
      const auto block = st_.block_for_writing(
          operation_, inode, {.bytes = tree::kChunkBytes, .first_contents = names});
      if (!block) return forward_errno(block);
      inode.disk.size_bytes = tree::kChunkBytes;
    } else if (inode.disk.is_symlink()) {
      filled = st_.write_target(operation_, inode, record.symlink_target);
    }
    if (!filled) return forward_errno(filled);
    return handle;
  }

  VfsResult<void> set_name(CoreInode& directory, CoreInode& target, const std::string& name) {
    TRY(const auto found, tree::find_name(st_, directory, name));
    if (found && found->inode == target.number) return {};
    if (found)
      return tree::replace_name(st_, operation_, directory, target,
                                {.name = name, .at = *found, .replaced = {}});
    TRY(const auto room, tree::make_room(st_, operation_, directory, name));
    return tree::add_name(st_, operation_, directory, target,
                          {.name = name, .block = room, .cause = tree::NameCause::link});
  }

  VfsResult<void> remove_name(CoreInode& directory, const std::string& name) {
    TRY(const auto found, tree::find_name(st_, directory, name));
    if (!found) return {};
    return tree::remove_name(
        st_, operation_, directory,
        {.name = name, .at = *found, .cause = tree::NameCause::unlink, .dropped = {}});
  }

  VfsResult<void> apply(std::uint64_t sequence, const NameRecord& record) {
    auto target = find(record.target, record.target_generation);
    if (!target) return forward_errno(target);
    // The inode may be missing because it lost its last name later, or because its number was
    // reused. In both cases a later part of the log contains the inode, so the inode must not be
    // recreated here.
    if (!*target && record.operation == NameOperation::create && backward(record.target, sequence))
      if (target = make_again(record); !target) return forward_errno(target);
    TRY(auto directory, record.operation == NameOperation::links
                            ? VfsResult<Store::Handle>(Store::Handle{})
                            : find(record.directory, record.directory_generation));
    const auto set_links = [&](CoreInode& inode, std::uint16_t links) {
      if (inode.disk.links == links) return;
      inode.disk.links = links;
      st_.mark_changed(inode);
    };
    if (*target && backward(record.target, sequence)) {
      set_links(**target, record.target_links);
      ++st_.counters_.records_applied;
    }
    if (!directory || !backward(record.directory, sequence)) return {};
    ++st_.counters_.records_applied;
    set_links(*directory, record.directory_links);
    if (!directory->disk.is_directory()) return refuse(EIO);
    if (record.removes_name()) return remove_name(*directory, record.name);
    if (*target) return set_name(*directory, **target, record.name);
    return {};
  }

  Store& st_;
  const Superblock& s_;
  Operation operation_;
  std::map<InodeNumber, Written> written_;
  std::vector<std::pair<std::uint64_t, NameRecord>> records_;  ///< records of complete operations
  /// Records of an operation whose last record has not been found yet.
  std::vector<NameRecord> unfinished_;
  SummarizedBlocks blocks_;  ///< blocks of those files that the checkpoint lacks
  /// Index blocks found in the log, by address.
  std::map<SectorAddress, std::vector<std::byte>> index_blocks_;
  std::int64_t modified_ns_ = 0;
  /// Limits the total number of blocks that a recovery visits, in old and new copies of files.
  tree::BlockBudget budget_;
};

Result<void> Store::load_tables(const Checkpoint& c) {
  std::vector<std::byte> block(s_.block_bytes);
  for (std::uint32_t i = 0; i < s_.map_blocks(); ++i) {
    if (c.map_blocks[i] == 0) continue;
    ++map_blocks_in_log_;
    if (!read_sectors(c.map_blocks[i], block)) return unreadable("inode map");
    if (!table_block_intact(block, s_))
      return fail("lfs inode map", fmt::format("block {} is damaged", i));
    const std::uint32_t first = i * s_.map_entries_per_block();
    for (std::uint32_t k = 0; k < s_.map_entries_per_block() && first + k < s_.inodes; ++k) {
      map_[first + k] = decode_map_entry(std::span(block).subspan(std::size_t{k} * kMapEntryBytes));
      const SectorAddress address = map_[first + k].address;
      if (address != 0 && !s_.holds(address, 1))
        return fail("lfs inode map", fmt::format("inode {} is outside of all segments", first + k));
    }
  }
  for (std::uint32_t i = 0; i < s_.usage_blocks(); ++i) {
    if (!read_sectors(c.usage_blocks[i], block)) return unreadable("usage table");
    if (!table_block_intact(block, s_))
      return fail("lfs usage table", fmt::format("block {} is damaged", i));
    const std::uint32_t first = i * s_.usage_entries_per_block();
    for (std::uint32_t k = 0; k < s_.usage_entries_per_block() && first + k < s_.segments; ++k) {
      SegmentUsage& usage = usage_[first + k];
      usage = decode_usage(std::span(block).subspan(std::size_t{k} * kUsageEntryBytes));
      live_bytes_ += usage.live_bytes;
    }
  }
  usage_in_log_ = usage_;
  settle_states(s_, c, usage_);
  for (const SectorAddress address : c.usage_blocks) add_live(address, s_.block_bytes, 0);
  for (SegmentNumber i = 0; i < s_.segments; ++i)
    if (usage_[i].live_bytes > s_.segment_bytes())
      return fail("lfs usage table",
                  fmt::format("segment {} has more live bytes than it can hold", i));
  return {};
}

Result<std::unique_ptr<Store>> Store::mount(os::System& system, const MountOptions& options) {
  const std::uint64_t device_sectors = system.queue.sectors();
  if (device_sectors <= kSuperblockAddress) return fail("lfs", "the device is too small");
  std::vector<std::byte> bytes(kSectorBytes);
  os::BlockRequest request{model::Op::read, kSuperblockAddress, 1};
  request.into = bytes;
  if (system.queue.transfer(request) != model::Status::ok) return unreadable("superblock");
  TRY(const auto superblock, decode_superblock(bytes, device_sectors));
  std::unique_ptr<Store> store(new Store(system, superblock, options));
  if (auto ready = store->start_up(); !ready) {
    store->abandon();
    return forward_error(ready);
  }
  return store;
}

/// Completes a mount. The superblock must have been read already.
Result<void> Store::start_up() {
  std::array<std::optional<Checkpoint>, 2> regions;
  std::vector<std::byte> bytes(std::size_t{s_.checkpoint_sectors} * kSectorBytes);
  for (std::size_t i = 0; i < 2; ++i)
    if (read_sectors(s_.checkpoints[i], bytes)) regions[i] = decode_checkpoint(bytes, s_);
  const auto found = newest(std::move(regions[0]), std::move(regions[1]));
  if (!found) return fail("lfs", "no valid checkpoint region", "the file system cannot be mounted");
  checkpoint_ = *found;
  TRY(load_tables(*found));
  segment_ = found->segment;
  next_segment_ = found->next_segment;
  offset_ = found->offset;
  sequence_ = found->region_sequence;
  last_summary_ = found->last_summary;
  epoch_ = keeps(Rule::mounts_have_numbers) ? found->next_epoch : found->epoch;
  // From now on, the mount uses a new epoch, and the file system is not clean. The disk records
  // both facts even if the mount fails later.
  ++checkpoint_.sequence;
  ++checkpoint_.next_epoch;
  checkpoint_.clean = false;
  if (!write_sectors(checkpoint_region(checkpoint_.sequence), encode(checkpoint_, s_)) ||
      !flush_device())
    return fail("lfs", "cannot write to the device");
  for (const SegmentNumber i : {segment_, next_segment_})
    if (usage_[i].state == SegmentState::clean) usage_[i].state = SegmentState::active;
  recovering_ = coming_up_ = true;
  Recovery recovery(*this);
  recovery.count_files();
  if (options_.roll_forward && found->log_counts && !recovery.roll_forward(found->epoch))
    return fail("lfs", "cannot read the log after the checkpoint",
                "mount without roll-forward; this discards everything after the checkpoint");
  clean_segments_ = static_cast<std::uint32_t>(
      std::count_if(usage_.begin(), usage_.end(),
                    [](const SegmentUsage& usage) { return usage.state == SegmentState::clean; }));
  const auto removed = recovery.remove_unlinked();
  recovering_ = false;
  if (!removed || !checkpoint()) return fail("lfs", "recovery failed");
  coming_up_ = false;
  const auto root = get_core(kRootInode, nullptr);
  if (!root || !(*root)->disk.is_directory()) return fail("lfs", "there is no root directory");
  return {};
}

}  // namespace headcrash::lfs
