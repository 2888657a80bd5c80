// Member states of an array, and the consequences of command failures (member_commands.h).
//
//   device_failed, or a write     the member is marked as failed in the other members' superblocks
//   that failed                   before a write that it missed is acknowledged
//   medium_error on a read        sectors are reconstructed from the other members and rewritten
//   store_error                   returned to the host: the run's results are invalid
#include <fmt/core.h>

#include <bit>

#include "plugin/model/array/array_controller.h"

namespace headcrash::model {

Breakdown ArrayController::sum_of(const Breakdown& a, const Breakdown& b) {
  Breakdown sum = b;
  sum.overhead_ns += a.overhead_ns;
  sum.seek_ns += a.seek_ns;
  sum.rotation_ns += a.rotation_ns;
  sum.transfer_ns += a.transfer_ns;
  sum.seek_cylinders += a.seek_cylinders;
  return sum;
}

std::uint64_t ArrayController::alive_members(std::uint64_t stripe) const {
  std::uint64_t living = 0;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (alive(m, stripe)) living |= 1ULL << m;
  }
  return living;
}

std::uint64_t ArrayController::lost_roles(std::uint64_t stripe) const {
  std::uint64_t lost = 0;
  if (!any_lost()) return lost;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (!alive(m, stripe)) lost |= 1ULL << layout.role_of(stripe, m);
  }
  return lost;
}

bool ArrayController::broken() const {
  return lost_members_ > layout.parity;
}

void ArrayController::incident(const std::string& text) {
  observer_.incident(device_, simulation_.now(), text);
}

/// Marks members as failed. Members without redundancy (all members of a RAID-0 array, the last
/// mirror of a RAID-1 array) stay active, and their errors are returned to the host.
void ArrayController::members_failed(std::uint64_t mask) {
  if (layout.parity == 0) return;
  bool news = false;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if ((mask >> m & 1) == 0 || states_[m] == MemberState::failed) continue;
    const bool was_rebuilding = states_[m] == MemberState::rebuilding;
    if (layout.mirrored() && !was_rebuilding && lost_members_ + 1 == layout.members) continue;
    if (!was_rebuilding) ++lost_members_;
    if (was_rebuilding) abort_background_ = true;
    states_[m] = MemberState::failed;
    incident(fmt::format("member {} failed", m));
    if (broken()) incident("more members are lost than the array tolerates");
    news = true;
  }
  if (!news) return;
  cache_.clear();
  write_metadata_soon();
}

}  // namespace headcrash::model
