#pragma once
// Injects I/O errors into the requests to another disk.
//
// A fault applies to requests of one operation that touch certain sectors. It fails `times` of
// these requests, beginning with the nth. Requests are counted as they reach this disk, after
// concatenation by the driver. A failed write leaves nothing, its first half, or all of it on the
// medium. The fault selects one of these, because a real drive guarantees nothing. A failed request
// takes as long as the disk below needs for the part that is written.
//
//   driver's queue -> FaultyDisk -+-> disk                           no fault matches
//                                 +-> disk, with part of the write or nothing -> the fault's status
//
// Faults are deterministic: the same seed and the same requests reproduce the same failures.

#include <cstdint>
#include <limits>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/block_device.h"
#include "plugin/base/random.h"

namespace headcrash::os {

/// A range of 512-byte sectors; `end` is excluded.
struct SectorRange {
  std::uint64_t lba = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

struct DiskFault {
  static constexpr std::uint64_t kForGood = std::numeric_limits<std::uint64_t>::max();
  /// The part of a failed write that reaches the medium.
  enum class Leaves : std::uint8_t { nothing, first_half, everything };

  model::Op op = model::Op::write;  ///< read, write or flush
  /// The fault covers requests that overlap this range. If `op` is flush, it covers every flush.
  SectorRange sectors = {};
  std::uint64_t nth = 1;  ///< first request that fails, counted from 1
  /// Number of requests that fail. With kForGood, request `nth` and all later requests fail.
  std::uint64_t times = 1;
  Leaves leaves = Leaves::nothing;
  model::Status status = model::Status::medium_error;
};

/// Returns text such as "write 7 of sectors 64-128 fails 3 times, first half written,
/// medium_error".
std::string format(const DiskFault& fault);

/// Draws one fault for reads or writes in one of `areas`, which must not be empty. The first
/// request to fail is one of the first 10 that the fault covers, so that a run of a few hundred
/// requests reaches it. One fault in four is permanent.
DiskFault draw_fault(Random& random, std::span<const SectorRange> areas);

class FaultyDisk final : public BlockDevice {
 public:
  /// `disk` must outlive this object. No request may be pending when this object is destroyed.
  /// Without faults, all requests are forwarded.
  FaultyDisk(BlockDevice& disk, std::span<const DiskFault> faults = {});

  std::uint64_t sectors() const override { return disk_.sectors(); }
  bool volatile_cache() const override { return disk_.volatile_cache(); }
  void start(const BlockRequest& request, BlockDone& done) override;

  /// Adds a fault. The counts of existing faults are not reset.
  void add(const DiskFault& fault) { armed_.push_back({.fault = fault}); }
  /// Removes all faults, as if the disk were repaired.
  void clear() { armed_.clear(); }
  std::uint64_t failed() const { return failed_; }  ///< requests failed so far

 private:
  struct Armed {
    DiskFault fault;
    std::uint64_t seen = 0;
  };
  /// A request that is in progress and will be reported as failed.
  struct Failing final : BlockDone {
    explicit Failing(FaultyDisk& its_owner) : owner(its_owner) {}
    void done(model::Status status) override;
    FaultyDisk& owner;
    BlockDone* listener = nullptr;
    model::Status status = model::Status::medium_error;
    std::list<Failing>::iterator self;
  };
  const DiskFault* fault_of(const BlockRequest& request);

  BlockDevice& disk_;
  std::vector<Armed> armed_;
  std::list<Failing> failing_;
  std::uint64_t failed_ = 0;
};

}  // namespace headcrash::os
