// Commands from an array to its members, and what a member's failure means.
//
//   device_failed, or a write     the member is failed; the superblocks of the others say so before any write
//   that could not be done        that it missed is acknowledged
//   medium_error on a read        the sectors are computed from the others and written again
//   store_error                   handed on: the run must not be trusted
#include <fmt/core.h>

#include <bit>

#include "plugin/base/invariant.h"
#include "plugin/model/array_controller.h"

namespace headcrash::model {

ArrayController::MemberCommand& ArrayController::take_command() {
  if (free_commands_.empty()) {
    commands_.emplace_back(*this);
    free_commands_.push_back(&commands_.back());
  }
  MemberCommand& command = *free_commands_.back();
  free_commands_.pop_back();
  return command;
}

void ArrayController::Batch::submit(std::uint32_t member, Request& request) {
  MemberCommand& command = array.take_command();
  command.batch = this;
  command.member = member;
  command.op = request.op;
  request.id = array.simulation_.new_request_id();
  ++pending;
  ++array.in_flight_[member];
  if (request.sectors > 0) array.next_lba_[member] = request.lba + request.sectors;
  array.members[member]->submit(request, command);
}

void ArrayController::Batch::read(std::uint32_t member, std::uint64_t lba, std::uint32_t sectors,
                                  std::byte* into) {
  Request request;
  request.op = Op::read;
  request.lba = lba;
  request.sectors = sectors;
  if (into != nullptr) request.into = {into, std::size_t{sectors} * kSectorBytes};
  submit(member, request);
}

void ArrayController::Batch::write(std::uint32_t member, std::uint64_t lba, std::uint32_t sectors,
                                   const std::byte* from, bool fua) {
  Request request;
  request.op = Op::write;
  request.fua = fua;
  request.lba = lba;
  request.sectors = sectors;
  if (from != nullptr) request.data = {from, std::size_t{sectors} * kSectorBytes};
  submit(member, request);
}

void ArrayController::Batch::other(Op op, std::uint32_t member, std::uint64_t lba, std::uint32_t sectors,
                                   bool fua) {
  Request request;
  request.op = op;
  request.fua = fua;
  request.lba = lba;
  request.sectors = sectors;
  submit(member, request);
}

void ArrayController::member_completed(MemberCommand& command, const Completion& completion) {
  Batch* const batch = command.batch;
  command.batch = nullptr;
  invariant(in_flight_[command.member] > 0, "array: a member completes what it was sent, once");
  --in_flight_[command.member];
  free_commands_.push_back(&command);
  if (batch == nullptr) return;  // from before a power cut
  const std::uint64_t bit = 1ULL << command.member;
  switch (completion.status) {
    case Status::ok:
      break;
    case Status::medium_error:
      (command.op == Op::read ? batch->unreadable : batch->dead) |= bit;
      break;
    case Status::device_failed:
    case Status::power_lost:  // of this member alone, else nobody would be waiting
      batch->dead |= bit;
      break;
    case Status::store_error:
    case Status::out_of_range:
      batch->store_error = true;
      break;
  }
  batch->breakdown = completion.breakdown;
  invariant(batch->pending > 0, "array: a batch has no more completions than commands");
  if (--batch->pending > 0 || !batch->waiter) return;
  make_ready(batch->waiter);
  batch->waiter = nullptr;
  run();
}

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
  witness_.incident(device_, simulation_.now(), text);
}

/// RAID-0 has nothing to fall back to, nor has the last mirror: they go on and hand the errors to the host.
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
    if (broken()) incident("more members are lost than the array can do without");
    news = true;
  }
  if (!news) return;
  cache_.clear();
  write_metadata_soon();
}

}  // namespace headcrash::model
