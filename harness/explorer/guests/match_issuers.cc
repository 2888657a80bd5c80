// Tracks the block layer's queue of each device (match_issuers.h).
#include "harness/explorer/guests/match_issuers.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "harness/explorer/explain/byte_order.h"

namespace headcrash::explorer {
namespace {

using TracedOp = BlockEvent::Op;

struct SectorRange {
  std::uint64_t first = 0, end = 0;
  bool empty() const { return first >= end; }
};

SectorRange range_of(const BlockEvent& event) {
  return {event.sector, event.sector + event.sectors};
}

SectorRange common(const SectorRange& one, const SectorRange& other) {
  return {std::max(one.first, other.first), std::min(one.end, other.end)};
}

/// A queued request, and the part of it that has not been issued yet.
struct Queued {
  const BlockEvent* event = nullptr;
  std::uint64_t left = 0;  ///< number of sectors that have not been issued
  /// True if the flush before the data (preflush) or after the data (postflush) has not been
  /// issued.
  bool preflush = false, postflush = false;
};

struct Issued {
  TracedOp op = TracedOp::write;
  SectorRange range;
  std::vector<const BlockEvent*> issuers, dirtied;
};

/// The last event that dirtied each range of a disk.
class DirtyMap {
 public:
  void add(const SectorRange& range, const BlockEvent& event) {
    // Replace the entries that begin in this range. There is usually at most one, because all
    // blocks of a disk have the same size. While a file system probes block sizes, there may be
    // more.
    auto at = last_.lower_bound(range.first);
    while (at != last_.end() && at->first < range.end) at = last_.erase(at);
    last_[range.first] = {range, &event};
  }
  void add_overlapping(const SectorRange& range, std::vector<const BlockEvent*>& events) const {
    auto at = last_.upper_bound(range.first);
    if (at != last_.begin()) --at;
    for (; at != last_.end() && at->first < range.end; ++at)
      if (!common(at->second.first, range).empty()) events.push_back(at->second.second);
  }

 private:
  std::map<std::uint64_t, std::pair<SectorRange, const BlockEvent*>> last_;
};

/// Maps the dirty pages of files to sectors. A page may become dirty before or after its place on
/// the disk is known.
class FilePages {
 public:
  explicit FilePages(const FileSystemBlocks& blocks)
      : blocks_(blocks), per_page_(blocks.sectors == 0 ? 0 : kPageSectors / blocks.sectors) {}

  void dirty(const BlockEvent& event, DirtyMap& map) {
    if (per_page_ == 0) return;
    pages_[{event.inode, event.at}] = &event;
    for (std::uint64_t i = 0; i < per_page_; ++i) {
      const std::uint64_t block = event.at * per_page_ + i;
      auto place = places_.upper_bound({event.inode, block});
      if (place == places_.begin()) continue;
      --place;
      const auto& [file, first] = place->first;
      if (file == event.inode && block - first < place->second->blocks)
        map.add(sectors_of(place->second->block + (block - first)), event);
    }
  }
  void place(const BlockEvent& event, DirtyMap& map) {
    if (per_page_ == 0 || event.blocks == 0) return;
    places_[{event.inode, event.at}] = &event;
    const std::uint64_t end = event.at + event.blocks;
    for (auto page = pages_.lower_bound({event.inode, event.at / per_page_});
         page != pages_.end() && page->first.first == event.inode; ++page) {
      const std::uint64_t first = page->first.second * per_page_;
      if (first >= end) break;
      for (std::uint64_t block = std::max(first, event.at);
           block < std::min(first + per_page_, end); ++block)
        map.add(sectors_of(event.block + (block - event.at)), *page->second);
    }
  }

 private:
  static constexpr std::uint32_t kPageSectors = 8;
  /// inode number, and page or block number
  using FilePlace = std::pair<std::uint64_t, std::uint64_t>;

  SectorRange sectors_of(std::uint64_t block) const {
    if (blocks_.group_blocks != 0) {
      const std::uint64_t group = block >> blocks_.group_bits;
      block = group * blocks_.group_blocks + (block - (group << blocks_.group_bits));
    }
    return {block * blocks_.sectors, (block + 1) * blocks_.sectors};
  }

  const FileSystemBlocks blocks_;
  /// Blocks in a page; 0 if unknown or if a block is larger than a page.
  const std::uint64_t per_page_;
  std::map<FilePlace, const BlockEvent*> pages_, places_;
};

class Queue {
 public:
  explicit Queue(const FileSystemBlocks& blocks) : pages_(blocks) {}
  void take(const BlockEvent& event) {
    switch (event.kind) {
      case BlockEvent::Kind::queued:
        queued_.push_back({.event = &event,
                           .left = event.sectors,
                           .preflush = event.preflush,
                           .postflush = event.fua && event.sectors > 0});
        return;
      case BlockEvent::Kind::dirtied:
        dirty_.add(range_of(event), event);
        return;
      case BlockEvent::Kind::page_dirtied:
        pages_.dirty(event, dirty_);
        return;
      case BlockEvent::Kind::placed:
        pages_.place(event, dirty_);
        return;
      case BlockEvent::Kind::issued:
        issue(event);
        return;
    }
  }
  std::vector<Issued>& issued() { return issued_; }

 private:
  void issue(const BlockEvent& event) {
    Issued issued{.op = event.op, .range = range_of(event)};
    if (event.op == TracedOp::flush) {
      flush(issued);
    } else {
      transfer(issued);
    }
    // If the driver rejects a request, the kernel issues the request again. This second issue
    // matches no queued request.
    if (!issued.issuers.empty()) issued_.push_back(std::move(issued));
  }

  /// One flush serves all queued requests that wait for a flush.
  void flush(Issued& issued) {
    for (auto at = queued_.begin(); at != queued_.end();) {
      bool& awaited = at->preflush ? at->preflush : at->postflush;
      const bool after_data = !at->preflush && at->postflush && at->left == 0;
      if (at->preflush || after_data) {
        issued.issuers.push_back(at->event);
        awaited = false;
      }
      at = is_done(*at) ? queued_.erase(at) : std::next(at);
    }
  }

  void transfer(Issued& issued) {
    for (auto at = queued_.begin(); at != queued_.end();) {
      const SectorRange part = common(range_of(*at->event), issued.range);
      if (at->event->op != issued.op || at->left == 0 || part.empty()) {
        ++at;
        continue;
      }
      issued.issuers.push_back(at->event);
      at->left -= std::min(at->left, part.end - part.first);
      // If the disk has no cache, the kernel sends no flush before the data.
      at->preflush = false;
      at = is_done(*at) ? queued_.erase(at) : std::next(at);
    }
    if (issued.op == TracedOp::write) dirty_.add_overlapping(issued.range, issued.dirtied);
  }

  static bool is_done(const Queued& queued) {
    return queued.left == 0 && !queued.preflush && !queued.postflush;
  }

  std::list<Queued> queued_;
  DirtyMap dirty_;
  FilePages pages_;
  std::vector<Issued> issued_;
};

struct RecordedRequest {
  std::uint64_t event = 0;
  model::RequestId request = 0;
  TracedOp op = TracedOp::write;
  SectorRange range;
};

std::optional<TracedOp> traced_op(model::Op op) {
  switch (op) {
    case model::Op::write:
      return TracedOp::write;
    case model::Op::write_zeroes:
      return TracedOp::zero;
    case model::Op::trim:
      return TracedOp::trim;
    case model::Op::flush:
      return TracedOp::flush;
    case model::Op::read:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Returns the requests of a device in the order of submission.
std::vector<RecordedRequest> requests_of(const states::RunHistory& run, model::DeviceId device) {
  std::vector<RecordedRequest> requests;
  for (const states::RecordedWrite& write : run.writes(device))
    if (const auto op = traced_op(write.op))
      requests.push_back(
          {write.submitted_event, write.request, *op, {write.lba, write.lba + write.sectors}});
  for (const states::RecordedFlush& flush : run.flushes(device))
    requests.push_back({flush.submitted_event, flush.request, TracedOp::flush, {}});
  std::ranges::sort(requests, {}, &RecordedRequest::event);
  return requests;
}

/// Requests that the kernel has issued to a device and that have not been matched with recorded
/// requests yet.
class Unmatched {
 public:
  explicit Unmatched(std::vector<Issued> issued) : issued_(std::move(issued)) {
    for (std::size_t i = 0; i < issued_.size(); ++i) {
      const Issued& each = issued_[i];
      by_place_.emplace(std::tuple{each.op, each.range.first, i}, each.range.end);
    }
  }
  /// Removes and returns the issued requests that make up the recorded request. Takes the first
  /// issued request with exactly the recorded sectors, if there is one. Otherwise, takes the first
  /// issued requests that together cover the recorded sectors, in ascending order and without gaps.
  std::vector<const Issued*> take(const RecordedRequest& recorded) {
    const TracedOp op = recorded.op;
    const SectorRange& range = recorded.range;
    auto at = by_place_.lower_bound({op, range.first, 0});
    for (auto same = at; same != by_place_.end() && starts_at(*same, op, range.first); ++same)
      if (same->second == range.end) return take_one(same);
    std::vector<Places::iterator> parts;
    std::uint64_t next = range.first;
    while (next < range.end) {
      at = by_place_.lower_bound({op, next, 0});
      if (at == by_place_.end() || !starts_at(*at, op, next) || at->second <= next ||
          at->second > range.end)
        return {};
      parts.push_back(at);
      next = at->second;
    }
    std::vector<const Issued*> taken;
    for (const auto part : parts) {
      taken.push_back(&issued_[std::get<2>(part->first)]);
      by_place_.erase(part);
    }
    return taken;
  }

 private:
  /// Maps (operation, first sector, index in issued_) of each issued request to the end of its
  /// range.
  using Places = std::map<std::tuple<TracedOp, std::uint64_t, std::size_t>, std::uint64_t>;

  static bool starts_at(const Places::value_type& place, TracedOp op, std::uint64_t first) {
    return std::get<0>(place.first) == op && std::get<1>(place.first) == first;
  }
  std::vector<const Issued*> take_one(Places::iterator at) {
    const Issued* const taken = &issued_[std::get<2>(at->first)];
    by_place_.erase(at);
    return {taken};
  }

  std::vector<Issued> issued_;
  Places by_place_;
};

void match_device(const states::RunHistory& run, const TracedDevice& device,
                  const std::vector<BlockEvent>& events, MatchedIssuers& matched) {
  Queue queue(device.blocks);
  for (const BlockEvent& event : events)
    if (event.device == device.number) queue.take(event);
  Unmatched unmatched(std::move(queue.issued()));
  for (const RecordedRequest& recorded : requests_of(run, device.device)) {
    ++matched.requests;
    const auto parts = unmatched.take(recorded);
    if (!parts.empty()) ++matched.matched;
    for (const Issued* part : parts) {
      for (const BlockEvent* event : part->issuers)
        matched.issuers.add_issued(device.device, recorded.request, {event->task, event->stack});
      for (const BlockEvent* event : part->dirtied)
        matched.issuers.add_dirtied(device.device, recorded.request, {event->task, event->stack});
    }
  }
}

}  // namespace

FileSystemBlocks file_system_blocks(std::span<const std::byte> beginning) {
  constexpr std::uint64_t kXfsMagic = 0x58465342, kExtMagic = 0xef53, kF2fsMagic = 0xf2f52010;
  constexpr std::size_t kSecondSuper = 1024;
  constexpr std::uint64_t kBlockBytesMost = 65536, kGroupBitsMost = 31;
  FileSystemBlocks blocks;
  if (beginning.size() < kFileSystemBlocksBytes) return blocks;
  const auto super = beginning.subspan(kSecondSuper);
  std::uint64_t bytes = 0;
  if (big(beginning, 0, 4) == kXfsMagic) {
    bytes = big(beginning, 4, 4);
    blocks.group_blocks = static_cast<std::uint32_t>(big(beginning, 84, 4));
    blocks.group_bits = static_cast<std::uint32_t>(big(beginning, 124, 1));
  } else if (little(super, 56, 2) == kExtMagic) {
    bytes = std::uint64_t{1024} << std::min<std::uint64_t>(little(super, 24, 4), 10);
  } else if (little(super, 0, 4) == kF2fsMagic) {
    bytes = std::uint64_t{1} << std::min<std::uint64_t>(little(super, 16, 4), 31);
  }
  if (bytes > kBlockBytesMost || blocks.group_bits > kGroupBitsMost) return {};
  blocks.sectors = static_cast<std::uint32_t>(bytes / model::kSectorBytes);
  return blocks;
}

MatchedIssuers match_issuers(const states::RunHistory& run,
                             const std::vector<TracedDevice>& devices,
                             const std::vector<BlockEvent>& events) {
  MatchedIssuers matched;
  for (const TracedDevice& device : devices) match_device(run, device, events, matched);
  return matched;
}

}  // namespace headcrash::explorer
