#pragma once
// What the two schemes have in common whose order the driver keeps (scheduler_flag.h,
// scheduler_chains.h).
//
// The driver fails what it has been told to write after a failed write (disk_queue.h). It forgets
// both when they are complete: what is issued later could not be held back by a write that has
// failed. So the volume stops with the first one that others rely on: metadata, and data of
// fragments that have moved, which the new pointer comes after. Other data only stay dirty.
// Completions are reported before anybody can issue more.

#include <set>

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

class DriverOrder : public Scheme {
 public:
  using Scheme::Scheme;
  void after_write(const os::BufferKey& key, os::RequestId, model::Status status) override {
    // An older write of the block, to its old place, is not the one.
    if (status == model::Status::ok && !moved_.empty() && volume_.cache.being_written(key) == 0)
      moved_.erase(key);
  }
  void write_failed(const os::BufferKey& key, os::Content content) override {
    if (content == os::Content::metadata || moved_.contains(key)) volume_.stop();
    Scheme::write_failed(key, content);
  }

 protected:
  /// Before the first write to its new place.
  void moves(const os::BufferKey& data) { moved_.insert(data); }

 private:
  std::set<os::BufferKey> moved_;  ///< data whose new place has not been written
};

}  // namespace headcrash::ufs
