#pragma once
// Cleans busy groups one after another, so that a fast check has few groups to examine (Peacock,
// Kamaraju and Agrawal 1998, section 5.2). In each interval it begins with the group in front of
// the hot spot, continues in a circle, and stops when its share of the interval is used; one write
// at a time. It is a work item of the syncer, and delays other items for that time. It is not
// scheduled while no group is busy.

#include <cstdint>

#include "fs-adapters/ufs/netra/busy_groups.h"

namespace headcrash::ufs {

class GroupFlusher {
 public:
  GroupFlusher(Volume& volume, BusyGroups& busy, const NetraOptions& options)
      : volume_(volume), busy_(busy), options_(options) {}

  /// Schedules the flusher. Call when a group may have become busy.
  void arm();

 private:
  void flush();

  Volume& volume_;
  BusyGroups& busy_;
  NetraOptions options_;
  bool armed_ = false;
};

}  // namespace headcrash::ufs
