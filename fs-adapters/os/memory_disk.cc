// The disk without a mechanism (memory_disk.h).
#include "fs-adapters/os/memory_disk.h"

namespace headcrash::os {

void MemoryDisk::start(const BlockRequest& request, BlockDone& done) {
  commands_.push_back({request, &done, !on_});
  simulation_.schedule(simulation_.now() + latency_ns_, *this, 0);
}

void MemoryDisk::power_cut() {
  on_ = false;
  for (Command& command : commands_) command.lost = true;
}

void MemoryDisk::on_event(std::uint64_t /*tag*/) {
  const Command command = commands_.front();
  commands_.pop_front();
  command.done->done(command.lost ? model::Status::power_lost : serve(command.request));
}

model::Status MemoryDisk::serve(const BlockRequest& request) {
  using model::Op;
  if (request.lba > sectors() || request.sectors > sectors() - request.lba)
    return model::Status::out_of_range;
  Result<void> result;
  if (request.op == Op::read && !request.into.empty()) {
    result = store_.read(request.lba, request.into);
  } else if (request.op == Op::write && !request.data.empty()) {
    result = store_.write(request.lba, request.data);
  } else if (request.op == Op::trim || request.op == Op::write_zeroes) {
    result = store_.write_zeroes(request.lba, request.sectors);
  }
  return result ? model::Status::ok : model::Status::store_error;
}

}  // namespace headcrash::os
