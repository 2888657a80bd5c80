#pragma once
// Compares the fast check (fsck_fast.cc) with the full one on a series of images. After any power
// cut, both must leave the same bytes, even if the fast check is itself interrupted and then
// restarted. Only link tags may differ, because they are not needed after a check.

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
