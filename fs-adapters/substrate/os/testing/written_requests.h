#pragma once
// Records the writes, trims and flushes that a driver issues, in order.

#include <vector>

#include "fs-adapters/substrate/os/disk_queue.h"

namespace headcrash::os {

class WrittenRequests final : public DiskTracer {
 public:
  struct One {
    model::Op op = model::Op::read;
    std::uint64_t lba = 0;
  };
  void issued(RequestId, const BlockRequest& request, const Ordering&) override {
    if (request.op != model::Op::read) list.push_back({request.op, request.lba});
  }
  void completed(const DiskTrace&) override {}

  std::vector<One> list;
};

}  // namespace headcrash::os
