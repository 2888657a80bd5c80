// Performs the steps of a replay (journal_replay.h).

#include "fs-adapters/ufs/schemes/journal_replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fs-adapters/ufs/schemes/journal_area.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;

// --- pending fragments

void Redo::add(const std::vector<JournalTransaction>& transactions) {
  const std::size_t unit = geometry_.fragment_bytes();
  for (const JournalTransaction& transaction : transactions) {
    for (const Extent& run : transaction.revoked)
      fragments_.erase(fragments_.lower_bound(run.at),
                       fragments_.lower_bound(run.at + run.fragments));
    for (const JournalImage& image : transaction.images)
      for (std::size_t at = 0; at < image.bytes.size(); at += unit)
        fragments_[image.home + static_cast<FragmentAddress>(at / unit)] =
            std::span(image.bytes).subspan(at, unit);
  }
}

void Redo::put(FragmentAddress at, std::span<const std::byte> bytes) {
  const std::size_t unit = geometry_.fragment_bytes();
  const auto& kept = kept_.emplace_back(bytes.begin(), bytes.end());
  for (std::size_t from = 0; from < kept.size(); from += unit)
    fragments_[at + static_cast<FragmentAddress>(from / unit)] =
        std::span(kept).subspan(from, unit);
}

void Redo::patch(std::uint64_t lba, std::span<std::byte> bytes) const {
  const std::uint64_t begin = lba * kSectorBytes, end = begin + bytes.size();
  const auto first = static_cast<FragmentAddress>(begin / geometry_.fragment_bytes());
  for (auto at = fragments_.lower_bound(first); at != fragments_.end(); ++at) {
    const std::uint64_t from = geometry_.byte_of(at->first);
    if (from >= end) return;
    const std::uint64_t start = std::max(begin, from),
                        stop = std::min(end, from + at->second.size());
    std::memcpy(bytes.data() + (start - begin), at->second.data() + (start - from), stop - start);
  }
}

Result<void> Redo::read(FragmentAddress at, std::span<std::byte> into) const {
  TRY(store_.read(geometry_.lba_of(at), into));
  patch(geometry_.lba_of(at), into);
  return {};
}

std::vector<JournalImage> Redo::images() const {
  std::vector<JournalImage> runs;
  FragmentAddress next = 0;
  for (const auto& [at, bytes] : fragments_) {
    if (runs.empty() || at != next || at % geometry_.fragments_per_block() == 0)
      runs.push_back({.home = at, .bytes = {}});
    runs.back().bytes.insert(runs.back().bytes.end(), bytes.begin(), bytes.end());
    next = at + 1;
  }
  return runs;
}

// --- orphans

Result<void> Redo::write_to(model::SectorStore& store) const {
  for (const JournalImage& image : images())
    TRY(store.write(geometry_.lba_of(image.home), image.bytes));
  return {};
}

template <typename Change>
Result<void> Redo::change_group(std::uint32_t group, Change change) {
  std::vector<std::byte> header(geometry_.block_bytes());
  const FragmentAddress at = geometry_.header(group);
  TRY(read(at, header));
  if (std::string problem = CylinderGroup::problem_of(geometry_, header, group); !problem.empty())
    return fail("ufs", fmt::format("group {}: its header {}", group, problem), "run fsck on it");
  CylinderGroup map(geometry_, header, group);
  if (change(map)) put(at, header);
  return {};
}

Result<void> Redo::release_run(FragmentAddress at, std::uint32_t fragments, bool& was_used) {
  was_used = false;
  const std::uint32_t width = geometry_.fragments_per_block();
  if (fragments == 0 || at % width + fragments > width) return {};
  if (!geometry_.is_data(at) || !geometry_.is_data(at + fragments - 1)) return {};
  const std::uint32_t index = geometry_.index_in_group(at);
  return change_group(geometry_.group_of_fragment(at), [&](CylinderGroup& map) {
    if (index + fragments > map.fragments() || !map.run_used(index, fragments)) return false;
    map.free(index, fragments);
    was_used = true;
    return true;
  });
}

/// Frees a tree of blocks. Does not follow a block that is already free, so the function terminates
/// even if the tree is damaged.
Result<void> Redo::release_tree(FragmentAddress at, std::uint32_t levels) {
  bool was_used = false;
  std::vector<std::byte> pointers;
  if (levels > 0 && geometry_.is_data(at)) {
    pointers.resize(geometry_.block_bytes());
    if (at % geometry_.fragments_per_block() != 0) return {};
    TRY(read(at, pointers));
  }
  if (auto done = release_run(at, geometry_.fragments_per_block(), was_used); !done || !was_used)
    return done;
  for (std::size_t i = 0; i + 4 <= pointers.size(); i += 4)
    if (const FragmentAddress child = load32(pointers, i); child != 0)
      TRY(release_tree(child, levels - 1));
  return {};
}

Result<void> Redo::release(InodeNumber number) {
  const InodePlace place = geometry_.place_of(number);
  const std::uint32_t unit = geometry_.fragment_bytes();
  const FragmentAddress at = place.block + place.offset / unit;
  std::vector<std::byte> bytes(unit);
  TRY(read(at, bytes));
  const auto own = std::span(bytes).subspan(place.offset % unit, kInodeBytes);
  const Inode inode = decode_inode(own);
  if (!inode.allocated() || inode.links != 0) return {};
  if (!pointers_are_text(inode, geometry_.inline_target_max())) {
    for (std::uint32_t block = 0; block < kDirectPointers; ++block) {
      bool was_used = false;
      if (inode.direct[block] == 0) continue;
      const std::uint32_t fragments = geometry_.fragments_of_block(inode.size_bytes, block);
      TRY(release_run(inode.direct[block], fragments, was_used));
    }
    for (std::uint32_t level = 1; level <= kIndirectPointers; ++level)
      if (inode.indirect[level - 1] != 0) TRY(release_tree(inode.indirect[level - 1], level));
  }
  encode_inode({{.generation = inode.generation}}, own);
  put(at, bytes);
  return change_group(geometry_.group_of_inode(number), [&](CylinderGroup& map) {
    const std::uint32_t index = geometry_.inode_index_in_group(number);
    if (!map.inode_used(index)) return false;
    map.free_inode(index, inode.is_directory());
    return true;
  });
}

Result<std::vector<InodeNumber>> orphans_of(const JournalContents& contents,
                                            const Superblock& superblock, const Redo& disk) {
  if (contents.transactions.empty()) return std::vector<InodeNumber>();
  const JournalTransaction& last = contents.transactions.back();
  if (!last.too_many_orphans) return last.orphans;
  std::vector<InodeNumber> found;
  const Geometry geometry(superblock);
  std::vector<std::byte> block(geometry.block_bytes());
  for (InodeNumber number = kRootInode; number < geometry.inodes(); ++number) {
    const InodePlace place = geometry.place_of(number);
    if (place.offset == 0 || number == kRootInode) TRY(disk.read(place.block, block));
    const Inode inode = decode_inode(std::span(block).subspan(place.offset, kInodeBytes));
    if (inode.allocated() && inode.links == 0) found.push_back(number);
  }
  return found;
}

// --- counts

Result<void> Redo::count(Superblock& superblock) {
  const std::uint32_t unit = geometry_.fragment_bytes();
  std::vector<std::byte> area(std::size_t{geometry_.fragments_of(superblock.summary_bytes)} * unit);
  TRY(read(superblock.summary_address, area));
  Summary all;
  for (std::uint32_t group = 0; group < geometry_.groups(); ++group) {
    const auto counted = change_group(group, [&](CylinderGroup& map) {
      const Summary totals = map.totals();
      all.directories += totals.directories, all.free_blocks += totals.free_blocks;
      all.free_inodes += totals.free_inodes, all.free_fragments += totals.free_fragments;
      encode_summary(totals,
                     std::span(area).subspan(std::size_t{group} * kSummaryBytes, kSummaryBytes));
      return false;
    });
    if (!counted) return counted;
  }
  put(superblock.summary_address, area);
  superblock.total = all;
  return {};
}

// --- the replay

namespace {

class Replay {
 public:
  Replay(model::SectorStore& store, Superblock& superblock)
      : store_(store), superblock_(superblock), ring_(superblock) {}

  Result<ReplayReport> run(ReplayFor whom) {
    TRY(auto contents, read_journal(store_, superblock_));
    report_.was_in_use = contents.super.in_use;
    if (!report_.was_in_use) return report_;
    report_.damage = contents.damage;
    if (!report_.damage.empty() && whom == ReplayFor::mount)
      return fail("journal", report_.damage,
                  "run `fsck.headcrash-ufs -y` to replay the transactions before it");
    report_.transactions = contents.transactions.size();
    Redo redo(store_, superblock_);
    redo.add(contents.transactions);
    TRY(redo.write_to(store_));
    TRY(const auto orphans, orphans_of(contents, superblock_, redo));
    report_.orphans = orphans.size();
    if (!orphans.empty()) TRY(release(contents, orphans));
    Redo counts(store_, superblock_);
    if (auto done = counts.count(superblock_); !done) {
      if (whom == ReplayFor::mount) return forward_error(done);
    } else
      TRY(counts.write_to(store_));
    superblock_.clean = whom == ReplayFor::mount;
    TRY(write_superblock(store_, superblock_, kSuperblockByte));
    TRY(reset_journal(store_, superblock_, contents.super, false));
    return std::move(report_);
  }

 private:
  /// Appends a transaction to the journal. The images of all earlier transactions are in place, so
  /// the new one becomes the tail.
  Result<void> commit(JournalContents& contents, JournalTransaction transaction) {
    transaction.epoch = contents.super.epoch;
    transaction.sequence = contents.transactions.back().sequence + 1;
    const auto bytes = encode_transaction(transaction, ring_.fragment_bytes());
    const auto count = static_cast<std::uint32_t>(bytes.size() / ring_.fragment_bytes());
    const std::uint32_t used =
        (contents.head + ring_.fragments() - contents.starts.back()) % ring_.fragments();
    if (count + used > ring_.fragments())
      // Only a damaged journal is this full. Omitting the short transaction is safe: if a cut
      // interrupts the release of the orphans, fsck completes the release.
      return {};
    contents.super.tail = contents.starts.back();
    contents.super.tail_sequence = contents.transactions.back().sequence;
    TRY(write_journal_superblock(store_, superblock_, contents.super));
    const auto body =
        std::span<const std::byte>(bytes).first(bytes.size() - ring_.fragment_bytes());
    TRY(write_to_ring(store_, ring_, contents.head, body));
    const std::uint32_t record = ring_.after(contents.head, count - 1);
    TRY(write_to_ring(store_, ring_, record, std::span(bytes).subspan(body.size())));
    contents.starts.push_back(contents.head);
    contents.head = ring_.after(contents.head, count);
    contents.transactions.push_back({.epoch = transaction.epoch, .sequence = transaction.sequence});
    return {};
  }

  /// Releases the orphans. First commits a transaction that contains only the list of orphans, so
  /// that the release of a long file can use the whole ring.
  Result<void> release(JournalContents& contents, std::vector<InodeNumber> orphans) {
    const bool too_many = contents.transactions.back().too_many_orphans;
    const auto listed = [&] { return too_many ? std::vector<InodeNumber>() : orphans; };
    TRY(commit(contents, {.orphans = listed(), .too_many_orphans = too_many}));
    while (!orphans.empty()) {
      Redo step(store_, superblock_);
      while (!orphans.empty() && step.size() < ring_.fragments() / 4) {
        if (auto done = step.release(orphans.back()); !done && report_.not_released.empty())
          report_.not_released = done.error().message();
        orphans.pop_back();
      }
      const bool more = too_many && !orphans.empty();
      if (auto done = commit(
              contents, {.images = step.images(), .orphans = listed(), .too_many_orphans = more});
          !done)
        return done;
      TRY(step.write_to(store_));
    }
    return {};
  }

  model::SectorStore& store_;
  Superblock& superblock_;
  JournalRing ring_;
  ReplayReport report_;
};

}  // namespace

Result<ReplayReport> replay_journal(model::SectorStore& store, Superblock& superblock,
                                    ReplayFor whom) {
  return Replay(store, superblock).run(whom);
}

}  // namespace headcrash::ufs
