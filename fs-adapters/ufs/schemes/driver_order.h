#pragma once
// The code shared by the two schemes whose order the driver enforces (scheduler_flag.h,
// scheduler_chains.h).
//
// The driver fails requests that depend on a failed write (disk_queue.h). Once these requests are
// complete, the driver forgets them, so it could not hold back later requests. The volume therefore
// stops at the first failed write that other writes depend on, namely a metadata write, or a data
// write to moved fragments (on which the new pointer depends). Other data simply stays dirty.
// Completions are reported before further requests can be issued.

#include <set>

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

class DriverOrder : public Scheme {
 public:
  using Scheme::Scheme;
  void after_write(const os::BufferKey& key, os::RequestId, model::Status status) override {
    // A completed write of the block at its old address does not count.
    if (status == model::Status::ok && !moved_.empty() && volume_.cache.being_written(key) == 0)
      moved_.erase(key);
  }
  void write_failed(const os::BufferKey& key, os::Content content) override {
    if (content == os::Content::metadata || moved_.contains(key)) volume_.stop();
    Scheme::write_failed(key, content);
  }

 protected:
  /// Must be called when a data block gets a new address, before its first write there.
  void moves(const os::BufferKey& data) { moved_.insert(data); }

 private:
  std::set<os::BufferKey> moved_;  ///< data blocks that have not been written at their new address
};

}  // namespace headcrash::ufs
