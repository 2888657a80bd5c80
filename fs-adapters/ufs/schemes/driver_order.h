#pragma once
// Code shared by the two schemes whose order the driver enforces (scheduler_flag.h,
// scheduler_chains.h).
//
// If a write fails, the driver also fails the requests that depend on it (disk_queue.h). Once these
// are complete, the driver forgets them, so it cannot hold back later requests. Therefore the
// volume stops at the first failed write on which other writes depend: a metadata write, or a data
// write to moved fragments (on which the new pointer depends). If other data cannot be written, it
// just stays dirty. Failures are reported before further requests can be issued.

#include <set>

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

class DriverOrder : public Scheme {
 public:
  using Scheme::Scheme;
  void after_write(const os::BufferKey& key, os::RequestId, model::Status status) override {
    // If another write of the block is in flight, the completed write may have been sent to the old
    // address.
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
  /// Data blocks that have not been written to their new addresses yet.
  std::set<os::BufferKey> moved_;
};

}  // namespace headcrash::ufs
