// One command after the other (block_command.h). Data are copied: the guest could change them while the disk
// looks at them.
#include "plugin/vhost/block_command.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "plugin/base/little_endian.h"

namespace headcrash::vhost {
namespace {

using model::kSectorBytes;

constexpr std::uint32_t kIn = 0, kOut = 1, kFlush = 4, kGetId = 8, kDiscard = 11, kWriteZeroes = 13;
constexpr std::byte kOk{0}, kIoError{1}, kUnsupported{2};
constexpr std::size_t kCommandHeaderBytes = 16, kIdBytes = 20, kRangeBytes = 16;
constexpr std::uint64_t kDataBytesMax = std::uint64_t{kSegmentsMax} * kSegmentBytesMax;
constexpr std::uint32_t kRangeSectorsMax = 1U << 22, kRangesMax = 16;
constexpr std::uint32_t kUnmap = 1;

struct Range {
  std::uint64_t sector;
  std::uint32_t sectors, flags;
};
static_assert(sizeof(Range) == kRangeBytes);

std::uint64_t total(const std::vector<Segment>& segments) {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) bytes += segment.bytes;
  return bytes;
}

/// Between `bytes` and the segments from `offset` on: `copy(segment's bytes, ours, how many)`.
template <typename Bytes, typename Copy>
Result<void> transfer(const GuestMemory& memory, const std::vector<Segment>& segments, std::uint64_t offset,
                      Bytes bytes, Copy copy) {
  for (const Segment& segment : segments) {
    if (bytes.empty()) break;
    if (offset >= segment.bytes) {
      offset -= segment.bytes;
      continue;
    }
    std::byte* there = memory.at_guest(segment.guest_address, segment.bytes);
    if (there == nullptr) return fail("memory", "a region went while a request was in flight");
    const auto part = std::min<std::size_t>(segment.bytes - offset, bytes.size());
    copy(there + offset, bytes.data(), part);
    bytes = bytes.subspan(part);
    offset = 0;
  }
  return memory.intact();
}

Result<void> fetch(const GuestMemory& memory, const Chain& chain, std::uint64_t offset,
                   std::span<std::byte> into) {
  return transfer(memory, chain.readable, offset, into,
                  [](std::byte* there, std::byte* ours, std::size_t n) { std::memcpy(ours, there, n); });
}
Result<void> put(const GuestMemory& memory, const Chain& chain, std::uint64_t offset,
                 std::span<const std::byte> from) {
  return transfer(
      memory, chain.writable, offset, from,
      [](std::byte* there, const std::byte* ours, std::size_t n) { std::memcpy(there, ours, n); });
}

bool is_inside(const Disk& disk, std::uint64_t sector, std::uint64_t sectors) {
  return sector <= disk.sectors && sectors <= disk.sectors - sector;
}

struct Outcome {
  std::byte status = kOk;
  std::uint32_t written = 0;
};

class Command {
 public:
  Command(const GuestMemory& memory, const Chain& chain, const Disk& disk)
      : memory_(memory), chain_(chain), disk_(disk) {}

  Result<std::uint32_t> run() {
    const std::uint64_t readable = total(chain_.readable), writable = total(chain_.writable);
    if (readable < kCommandHeaderBytes) return fail("ring", "a command has no header");
    if (writable < 1) return fail("ring", "a command has no room for its status");
    std::array<std::byte, kCommandHeaderBytes> header = {};
    if (auto got = fetch(memory_, chain_, 0, header); !got) return pass_on(got);
    const std::uint32_t type = little_endian::load32(header, 0);
    sector_ = little_endian::load64(header, 8);
    out_bytes_ = readable - kCommandHeaderBytes;
    in_bytes_ = writable - 1;
    const Result<Outcome> outcome =
        std::max(out_bytes_, in_bytes_) > kDataBytesMax ? Result<Outcome>(Outcome{kIoError}) : dispatch(type);
    if (!outcome) return pass_on(outcome);
    if (auto told = put(memory_, chain_, in_bytes_, {&outcome->status, 1}); !told) return pass_on(told);
    // The status is the last byte: what lies before it counts only when all of it was written.
    return outcome->written == in_bytes_ ? outcome->written + 1 : outcome->written;
  }

 private:
  Result<Outcome> dispatch(std::uint32_t type) {
    switch (type) {
      case kIn:
        return read();
      case kOut:
        return write();
      case kFlush:
        return served({.op = model::Op::flush});
      case kGetId:
        return tell_id();
      case kDiscard:
      case kWriteZeroes:
        return clear(type);
      default:
        return Outcome{kUnsupported};
    }
  }

  Outcome served(const model::Request& request) const { return {disk_.serve(request) == 0 ? kOk : kIoError}; }

  Result<Outcome> read() {
    if (in_bytes_ % kSectorBytes != 0 || !is_inside(disk_, sector_, in_bytes_ / kSectorBytes))
      return Outcome{kIoError};
    if (in_bytes_ == 0) return Outcome{};
    std::vector<std::byte> bytes(in_bytes_);
    Outcome outcome = served({.op = model::Op::read,
                              .lba = sector_,
                              .sectors = static_cast<std::uint32_t>(in_bytes_ / kSectorBytes),
                              .into = bytes});
    if (outcome.status != kOk) return outcome;
    if (auto done = put(memory_, chain_, 0, bytes); !done) return pass_on(done);
    outcome.written = static_cast<std::uint32_t>(in_bytes_);
    return outcome;
  }

  Result<Outcome> write() {
    if (out_bytes_ % kSectorBytes != 0 || !is_inside(disk_, sector_, out_bytes_ / kSectorBytes))
      return Outcome{kIoError};
    if (out_bytes_ == 0) return Outcome{};
    std::vector<std::byte> bytes(out_bytes_);
    if (auto got = fetch(memory_, chain_, kCommandHeaderBytes, bytes); !got) return pass_on(got);
    return served({.op = model::Op::write,
                   .lba = sector_,
                   .sectors = static_cast<std::uint32_t>(out_bytes_ / kSectorBytes),
                   .data = bytes});
  }

  Result<Outcome> tell_id() {
    std::array<std::byte, kIdBytes> id = {};
    std::memcpy(id.data(), disk_.name.data(), std::min(disk_.name.size(), id.size()));
    const auto room = std::min<std::size_t>(in_bytes_, id.size());
    if (auto done = put(memory_, chain_, 0, std::span<const std::byte>(id).first(room)); !done)
      return pass_on(done);
    return Outcome{kOk, static_cast<std::uint32_t>(room)};
  }

  /// All ranges are checked before the first one is carried out.
  Result<Outcome> clear(std::uint32_t type) {
    if (type == kDiscard && !disk_.trim) return Outcome{kUnsupported};
    if (out_bytes_ == 0 || out_bytes_ % kRangeBytes != 0 || out_bytes_ / kRangeBytes > kRangesMax)
      return Outcome{kIoError};
    std::vector<Range> ranges(out_bytes_ / kRangeBytes);
    if (auto got = fetch(memory_, chain_, kCommandHeaderBytes, std::as_writable_bytes(std::span(ranges)));
        !got)
      return pass_on(got);
    for (const Range& range : ranges) {
      const std::uint32_t known = type == kWriteZeroes ? kUnmap : 0;
      if ((range.flags & ~known) != 0) return Outcome{kUnsupported};
      if (range.sectors > kRangeSectorsMax || !is_inside(disk_, range.sector, range.sectors))
        return Outcome{kIoError};
    }
    for (const Range& range : ranges) {
      if (range.sectors == 0) continue;
      const bool by_trim = disk_.trim && (type == kDiscard || (range.flags & kUnmap) != 0);
      const Outcome outcome = served({.op = by_trim ? model::Op::trim : model::Op::write_zeroes,
                                      .lba = range.sector,
                                      .sectors = range.sectors});
      if (outcome.status != kOk) return outcome;
    }
    return Outcome{};
  }

  const GuestMemory& memory_;
  const Chain& chain_;
  const Disk& disk_;
  std::uint64_t sector_ = 0, out_bytes_ = 0, in_bytes_ = 0;
};

}  // namespace

std::uint64_t device_features(const Disk& disk) {
  constexpr std::uint64_t kBits[] = {1 /*SIZE_MAX*/,      2 /*SEG_MAX*/,        6 /*BLK_SIZE*/,
                                     9 /*FLUSH*/,         10 /*TOPOLOGY*/,      12 /*MQ*/,
                                     14 /*WRITE_ZEROES*/, 28 /*INDIRECT_DESC*/, 32 /*VERSION_1*/};
  std::uint64_t features = disk.trim ? std::uint64_t{1} << 13 : 0;
  for (const std::uint64_t bit : kBits) features |= std::uint64_t{1} << bit;
  return features;
}

std::array<std::byte, kConfigBytes> device_config(const Disk& disk, std::uint16_t queues) {
  std::array<std::byte, kConfigBytes> config = {};
  const auto set = [&](std::size_t offset, auto value) {
    little_endian::store(std::span(config), offset, value);
  };
  const std::uint32_t physical = std::max(1U, disk.physical_sector_sectors);
  set(0, disk.sectors);
  set(8, kSegmentBytesMax);
  set(12, kSegmentsMax);
  set(20, std::uint32_t{kSectorBytes});
  set(24, static_cast<std::uint8_t>(std::countr_zero(physical)));
  set(26, static_cast<std::uint16_t>(physical));
  set(34, queues);
  if (disk.trim) {
    set(36, kRangeSectorsMax);
    set(40, kRangesMax);
    set(44, physical);
  }
  set(48, kRangeSectorsMax);
  set(52, kRangesMax);
  set(56, static_cast<std::uint8_t>(disk.trim));
  return config;
}

Result<std::uint32_t> execute(const GuestMemory& memory, const Chain& chain, const Disk& disk) {
  return Command(memory, chain, disk).run();
}

}  // namespace headcrash::vhost
