#pragma once
// A disk on which some requests fail, over one on which none do: I/O errors for tests and for the
// lab.
//
// A fault names requests by operation, by the sectors that they touch, and by their number among
// those: from the nth on, `count` of them. Requests are counted as they reach this disk, after the
// driver has concatenated them. What a failed write leaves behind is the fault's choice, since a
// real drive promises
// nothing: nothing, its first half, or all of it. A failed request takes as long as the disk below
// needs for what is left of it.
//
//   driver's queue -> FaultyDisk -+-> disk                     not named by a fault
//                                 +-> disk, less or nothing of it -> the fault's status
//
// Equal faults and equal requests fail equally: a seed that draws the faults repeats a run.

#include <cstdint>
#include <limits>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/block_device.h"
#include "plugin/base/random.h"

namespace headcrash::os {

/// Sectors of 512 bytes, `end` excluded.
struct SectorRange {
  std::uint64_t lba = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

struct DiskFault {
  static constexpr std::uint64_t kForGood = std::numeric_limits<std::uint64_t>::max();
  /// Of a failed write, on the medium.
  enum class Leaves : std::uint8_t { nothing, first_half, everything };

  model::Op op = model::Op::write;  ///< read, write or flush
  SectorRange sectors = {};         ///< requests that touch one of these; of flushes all
  std::uint64_t nth = 1;            ///< the first that fails, counted from 1
  std::uint64_t times = 1;          ///< how many fail; kForGood: all from the nth on
  Leaves leaves = Leaves::nothing;
  model::Status status = model::Status::medium_error;
};

/// "write 7 of sectors 64-128 fails 3 times, first half written, medium_error": for messages.
std::string format(const DiskFault& fault);

/// One fault of a read or a write, in one of `areas` (at least one), early enough for a run of some
/// hundred requests to meet it; one in four lasts for good.
DiskFault draw_fault(Random& random, std::span<const SectorRange> areas);

class FaultyDisk final : public BlockDevice {
 public:
  /// `disk` must outlive it, and it its requests. Without faults it only passes on.
  FaultyDisk(BlockDevice& disk, std::span<const DiskFault> faults = {});

  std::uint64_t sectors() const override { return disk_.sectors(); }
  bool volatile_cache() const override { return disk_.volatile_cache(); }
  void start(const BlockRequest& request, BlockDone& done) override;

  /// From now on; what has been counted for older ones stays.
  void add(const DiskFault& fault) { armed_.push_back({.fault = fault}); }
  /// The disk is repaired: nothing fails any more.
  void clear() { armed_.clear(); }
  std::uint64_t failed() const { return failed_; }  ///< requests so far

 private:
  struct Armed {
    DiskFault fault;
    std::uint64_t seen = 0;
  };
  /// A request that will fail.
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
