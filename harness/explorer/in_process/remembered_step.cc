// Records which sectors a step reads (remembered_step.h).
#include "harness/explorer/in_process/remembered_step.h"

namespace headcrash::in_process {

StepReads::StepReads(StateDisk& disk) : disk_(&disk), read_(disk.all_sectors()) {
  disk.watch(read_);
}

StepReads::~StepReads() {
  disk_->unwatch(read_);
}

std::uint64_t StepReads::key(std::uint64_t also) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  return read_.sum() + also * kOdd;
}

void StepReads::begin() {
  disk_->begin_step(read_);
}

bool StepReads::end() {
  disk_->end_step();
  return read_.take_growth();
}

}  // namespace headcrash::in_process
