// Injects I/O errors (faulty_disk.h).
#include "fs-adapters/substrate/os/faulty_disk.h"

#include "plugin/base/invariant.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {
namespace {

const char* name_of(model::Op op) {
  if (op == model::Op::read) return "read";
  return op == model::Op::flush ? "flush" : "write";
}

const char* name_of(model::Status status) {
  return status == model::Status::medium_error ? "medium_error" : "device_failed";
}

bool touches(const BlockRequest& request, const DiskFault& fault) {
  if (request.op != fault.op) return false;
  if (request.op == model::Op::flush) return true;
  return request.lba < fault.sectors.end && fault.sectors.lba < request.lba + request.sectors;
}

/// Returns the request to send to the underlying disk in place of a failing request: the part of
/// the write that still takes effect, or a flush if no part does.
BlockRequest rest_of(const BlockRequest& request, DiskFault::Leaves leaves) {
  if (request.op != model::Op::write || leaves == DiskFault::Leaves::nothing)
    return {model::Op::flush};
  BlockRequest rest = request;
  if (leaves == DiskFault::Leaves::everything) return rest;
  rest.sectors /= 2;
  rest.data = rest.data.first(std::size_t{rest.sectors} * model::kSectorBytes);
  return rest.sectors == 0 ? BlockRequest{model::Op::flush} : rest;
}

}  // namespace

std::string format(const DiskFault& fault) {
  std::string text = std::string(name_of(fault.op)) + " " + std::to_string(fault.nth);
  if (fault.op != model::Op::flush &&
      (fault.sectors.lba != 0 || fault.sectors.end != SectorRange().end))
    text += " of sectors " + std::to_string(fault.sectors.lba) + "-" +
            std::to_string(fault.sectors.end);
  text += fault.times == DiskFault::kForGood ? " fails permanently"
          : fault.times == 1                 ? " fails once"
                                             : " fails " + std::to_string(fault.times) + " times";
  if (fault.leaves == DiskFault::Leaves::first_half) text += ", first half written";
  if (fault.leaves == DiskFault::Leaves::everything) text += ", all of it written";
  return text + ", " + name_of(fault.status);
}

DiskFault draw_fault(Random& random, std::span<const SectorRange> areas) {
  constexpr std::uint64_t kReadOneIn = 8, kForGoodOneIn = 4, kDeviceFailedOneIn = 3;
  constexpr std::uint64_t kNthMax = 10, kTimesMax = 4;
  invariant(!areas.empty(), "a fault needs at least one area");
  DiskFault fault;
  fault.sectors = areas[random.below(areas.size())];
  if (random.below(kReadOneIn) == 0) fault.op = model::Op::read;
  // Small numbers are more likely than large ones, because some areas see few requests.
  fault.nth = 1 + random.below(1 + random.below(kNthMax));
  fault.times =
      random.below(kForGoodOneIn) == 0 ? DiskFault::kForGood : 1 + random.below(kTimesMax);
  fault.leaves = static_cast<DiskFault::Leaves>(random.below(3));
  if (random.below(kDeviceFailedOneIn) == 0) fault.status = model::Status::device_failed;
  return fault;
}

FaultyDisk::FaultyDisk(BlockDevice& disk, std::span<const DiskFault> faults) : disk_(disk) {
  for (const DiskFault& fault : faults) add(fault);
}

/// Returns the first fault that makes this request fail, or null. Counts the request for each fault
/// that covers it.
const DiskFault* FaultyDisk::fault_of(const BlockRequest& request) {
  const DiskFault* decides = nullptr;
  for (Armed& one : armed_) {
    if (!touches(request, one.fault)) continue;
    const std::uint64_t number = ++one.seen;
    const bool fails = number >= one.fault.nth && number - one.fault.nth < one.fault.times;
    if (fails && decides == nullptr) decides = &one.fault;
  }
  return decides;
}

void FaultyDisk::start(const BlockRequest& request, BlockDone& done) {
  const DiskFault* const fault = armed_.empty() ? nullptr : fault_of(request);
  if (fault == nullptr) {
    disk_.start(request, done);
    return;
  }
  ++failed_;
  Failing& failing = failing_.emplace_back(*this);
  failing.listener = &done;
  failing.status = fault->status;
  failing.self = std::prev(failing_.end());
  disk_.start(rest_of(request, fault->leaves), failing);
}

void FaultyDisk::Failing::done(model::Status below) {
  BlockDone& finished = *listener;
  const model::Status answer = below == model::Status::ok ? status : below;
  owner.failing_.erase(self);
  finished.done(answer);
}

}  // namespace headcrash::os
