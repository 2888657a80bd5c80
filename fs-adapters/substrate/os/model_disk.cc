// Connects a driver to an emulated device (model_disk.h).
#include "fs-adapters/substrate/os/model_disk.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::os {

std::uint64_t ModelDisk::sectors() const {
  return machine_.device(device_index_).characteristics().sectors;
}

bool ModelDisk::volatile_cache() const {
  return machine_.device(device_index_).characteristics().volatile_cache;
}

void ModelDisk::start(const BlockRequest& request, BlockDone& done) {
  model::Request sent;
  sent.op = request.op;
  sent.lba = request.lba;
  sent.sectors = request.sectors;
  sent.into = request.into;
  sent.data = request.data;
  under_way_.emplace_back(machine_.submit(device_index_, sent, *this), &done);
}

void ModelDisk::completed(const model::Completion& completion) {
  const auto it = std::find_if(under_way_.begin(), under_way_.end(),
                               [&](const auto& pair) { return pair.first == completion.id; });
  invariant(it != under_way_.end(), "a device completed an unknown request");
  BlockDone& done = *it->second;
  under_way_.erase(it);
  done.done(completion.status);
}

}  // namespace headcrash::os
