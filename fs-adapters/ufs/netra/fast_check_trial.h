#pragma once
// The fast check (fsck_fast.cc) against the full one, on one image after the other: whatever a
// power cut has left, both leave the same bytes, and so does a fast check that was cut itself and
// begun again. Only link tags may differ, which nobody needs any more.

#include <memory>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/fsck/fsck.h"

namespace headcrash::ufs {

class FastCheckTrial final : public adapters::RecoveryTrial {
 public:
  std::string difference(const model::SectorStore& image) override;
  adapters::Counters counts() const override;

 private:
  Fsck fast_, full_;
  std::uint64_t images_ = 0, declined_ = 0, cuts_ = 0;
};

}  // namespace headcrash::ufs
