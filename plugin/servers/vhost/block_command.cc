// Executes commands (block_command.h). Data is copied, because the guest could change it while the
// disk is using it.
#include "plugin/servers/vhost/block_command.h"

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

/// Copies between `bytes` and the segments, starting at `offset` within the segments. Calls `copy`
/// for each piece, with the piece's place in a segment, its place in `bytes`, and its size.
template <typename Bytes, typename Copy>
Result<void> transfer(const GuestMemory& memory, const std::vector<Segment>& segments,
                      std::uint64_t offset, Bytes bytes, Copy copy) {
  for (const Segment& segment : segments) {
    if (bytes.empty()) break;
    if (offset >= segment.bytes) {
      offset -= segment.bytes;
      continue;
    }
    std::byte* there = memory.at_guest(segment.guest_address, segment.bytes);
    if (there == nullptr)
      return fail("memory", "a region was removed while a request was in flight");
    const auto part = std::min<std::size_t>(segment.bytes - offset, bytes.size());
    copy(there + offset, bytes.data(), part);
    bytes = bytes.subspan(part);
    offset = 0;
  }
  return memory.intact();
}

Result<void> fetch(const GuestMemory& memory, const Chain& chain, std::uint64_t offset,
                   std::span<std::byte> into) {
  return transfer(
      memory, chain.readable, offset, into,
      [](std::byte* there, std::byte* ours, std::size_t n) { std::memcpy(ours, there, n); });
}
Result<void> put(const GuestMemory& memory, const Chain& chain, std::uint64_t offset,
                 std::span<const std::byte> from) {
  return transfer(
      memory, chain.writable, offset, from,
      [](std::byte* there, const std::byte* ours, std::size_t n) { std::memcpy(there, ours, n); });
}

bool zeroes_by_trim(const Disk& disk) {
  return disk.trim && disk.trim_zeroes;
}

bool is_inside(const Disk& disk, std::uint64_t sector, std::uint64_t sectors) {
  return sector <= disk.sectors && sectors <= disk.sectors - sector;
}

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
  set(56, static_cast<std::uint8_t>(zeroes_by_trim(disk)));
  return config;
}

Result<Command> Command::begin(std::shared_ptr<const GuestMemory> memory, Chain chain,
                               const Disk& disk) {
  Command command(std::move(memory), std::move(chain), disk);
  const std::uint64_t readable = total(command.chain_.readable),
                      writable = total(command.chain_.writable);
  if (readable < kCommandHeaderBytes) return fail("ring", "a command has no header");
  if (writable < 1) return fail("ring", "a command has no room for its status");
  std::array<std::byte, kCommandHeaderBytes> header = {};
  TRY(fetch(*command.memory_, command.chain_, 0, header));
  command.type_ = little_endian::load32(header, 0);
  command.sector_ = little_endian::load64(header, 8);
  command.out_bytes_ = readable - kCommandHeaderBytes;
  command.in_bytes_ = writable - 1;
  if (std::max(command.out_bytes_, command.in_bytes_) > kDataBytesMax) {
    command.status_ = kIoError;
    return command;
  }
  TRY(command.prepare());
  return command;
}

Result<void> Command::prepare() {
  switch (type_) {
    case kIn:
      prepare_read();
      return {};
    case kOut:
      return prepare_write();
    case kFlush:
      requests_.push_back({.op = model::Op::flush});
      return {};
    case kGetId:
      bytes_.resize(std::min<std::size_t>(in_bytes_, kIdBytes));
      std::memcpy(bytes_.data(), disk_->name.data(), std::min(disk_->name.size(), bytes_.size()));
      return {};
    case kDiscard:
    case kWriteZeroes:
      return prepare_ranges();
    default:
      status_ = kUnsupported;
      return {};
  }
}

void Command::prepare_read() {
  if (in_bytes_ % kSectorBytes != 0 || !is_inside(*disk_, sector_, in_bytes_ / kSectorBytes)) {
    status_ = kIoError;
    return;
  }
  if (in_bytes_ == 0) return;
  bytes_.resize(in_bytes_);
  requests_.push_back({.op = model::Op::read,
                       .lba = sector_,
                       .sectors = static_cast<std::uint32_t>(in_bytes_ / kSectorBytes),
                       .into = bytes_});
}

Result<void> Command::prepare_write() {
  if (out_bytes_ % kSectorBytes != 0 || !is_inside(*disk_, sector_, out_bytes_ / kSectorBytes)) {
    status_ = kIoError;
    return {};
  }
  if (out_bytes_ == 0) return {};
  bytes_.resize(out_bytes_);
  TRY(fetch(*memory_, chain_, kCommandHeaderBytes, bytes_));
  requests_.push_back({.op = model::Op::write,
                       .lba = sector_,
                       .sectors = static_cast<std::uint32_t>(out_bytes_ / kSectorBytes),
                       .data = bytes_});
  return {};
}

/// Checks all ranges before any of them is trimmed or zeroed.
Result<void> Command::prepare_ranges() {
  const auto refused = [this](std::byte status) {
    status_ = status;
    requests_.clear();
    return Result<void>();
  };
  if (type_ == kDiscard && !disk_->trim) return refused(kUnsupported);
  if (out_bytes_ == 0 || out_bytes_ % kRangeBytes != 0 || out_bytes_ / kRangeBytes > kRangesMax)
    return refused(kIoError);
  std::vector<Range> ranges(out_bytes_ / kRangeBytes);
  TRY(fetch(*memory_, chain_, kCommandHeaderBytes, std::as_writable_bytes(std::span(ranges))));
  for (const Range& range : ranges) {
    const std::uint32_t known = type_ == kWriteZeroes ? kUnmap : 0;
    if ((range.flags & ~known) != 0) return refused(kUnsupported);
    if (range.sectors > kRangeSectorsMax || !is_inside(*disk_, range.sector, range.sectors))
      return refused(kIoError);
    if (range.sectors == 0) continue;
    const bool by_trim =
        type_ == kDiscard || (zeroes_by_trim(*disk_) && (range.flags & kUnmap) != 0);
    requests_.push_back({.op = by_trim ? model::Op::trim : model::Op::write_zeroes,
                         .lba = range.sector,
                         .sectors = range.sectors});
  }
  return {};
}

const model::Request* Command::next() const {
  return status_ == kOk && asked_ < requests_.size() ? &requests_[asked_] : nullptr;
}

void Command::answered(int error) {
  ++asked_;
  if (error != 0) status_ = kIoError;
}

Result<std::uint32_t> Command::finish() const {
  std::uint64_t written = 0;
  if (status_ == kOk && (type_ == kIn || type_ == kGetId)) {
    TRY(put(*memory_, chain_, 0, bytes_));
    written = bytes_.size();
  }
  TRY(put(*memory_, chain_, in_bytes_, {&status_, 1}));
  // The returned length covers a prefix of the chain's buffers. It includes the status, which is
  // the chain's last byte, only if all bytes before the status have been written.
  return static_cast<std::uint32_t>(written == in_bytes_ ? written + 1 : written);
}

Result<std::uint32_t> execute(const std::shared_ptr<const GuestMemory>& memory, Chain chain,
                              const Disk& disk) {
  TRY(auto command, Command::begin(memory, std::move(chain), disk));
  while (const model::Request* request = command.next()) command.answered(disk.serve(*request));
  return command.finish();
}

}  // namespace headcrash::vhost
