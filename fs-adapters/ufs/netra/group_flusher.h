#pragma once
// Writes what is busy in one group after the other, so that a check finds few busy ones (Peacock,
// Kamaraju and Agrawal 1998, section 5.2). Each interval it begins with the group in front of the
// hot spot, continues in a circle, and stops when its share of the interval is over; one write at a
// time. It is a work item of the syncer's, and keeps that from others for so long. While nothing is
// busy it is not there.

#include <cstdint>

#include "fs-adapters/ufs/netra/busy_groups.h"

namespace headcrash::ufs {

class GroupFlusher {
 public:
  GroupFlusher(Volume& volume, BusyGroups& busy, const NetraOptions& options)
      : volume_(volume), busy_(busy), options_(options) {}

  /// Something may have become busy.
  void arm();

 private:
  void flush();

  Volume& volume_;
  BusyGroups& busy_;
  NetraOptions options_;
  bool armed_ = false;
};

}  // namespace headcrash::ufs
