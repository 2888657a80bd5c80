#include "plugin/model/array/member_commands.h"

#include "plugin/base/invariant.h"

namespace headcrash::model {

MemberCommands::Command& MemberCommands::take() {
  if (free_.empty()) {
    pool_.emplace_back(*this);
    free_.push_back(&pool_.back());
  }
  Command& command = *free_.back();
  free_.pop_back();
  return command;
}

void MemberCommands::power_cut() {
  for (Command& command : pool_) command.batch = nullptr;
}

void MemberCommands::completed(Command& command, const Completion& completion) {
  Batch* const batch = command.batch;
  command.batch = nullptr;
  invariant(in_flight_[command.member] > 0, "array: a member must complete each command only once");
  --in_flight_[command.member];
  free_.push_back(&command);
  if (batch == nullptr) return;  // the command was issued before a power cut
  batch->add(command.member, command.op, completion);
  invariant(batch->pending > 0, "array: a batch must have at most one completion per command");
  if (--batch->pending > 0 || !batch->waiter_) return;
  runner_.make_ready(batch->waiter_);
  batch->waiter_ = nullptr;
  runner_.run();
}

void MemberCommands::Batch::add(std::uint32_t member, Op op, const Completion& completion) {
  const std::uint64_t bit = 1ULL << member;
  switch (completion.status) {
    case Status::ok:
      break;
    case Status::medium_error:
      (op == Op::read ? unreadable : dead) |= bit;
      break;
    case Status::device_failed:
    // Only this member has lost power. A power cut of the whole array detaches the commands from
    // their batch, so completions of those commands do not reach this code.
    case Status::power_lost:
      dead |= bit;
      break;
    case Status::store_error:
    case Status::out_of_range:
      store_error = true;
      break;
  }
  breakdown = completion.breakdown;
}

void MemberCommands::Batch::submit(std::uint32_t member, Request& request) {
  Command& command = commands_.take();
  command.batch = this;
  command.member = member;
  command.op = request.op;
  request.id = commands_.simulation_.new_request_id();
  ++pending;
  ++commands_.in_flight_[member];
  if (request.sectors > 0) commands_.next_lba_[member] = request.lba + request.sectors;
  commands_.members_[member]->submit(request, command);
}

void MemberCommands::Batch::read(std::uint32_t member, std::uint64_t lba, std::uint32_t sectors,
                                 std::byte* into) {
  Request request;
  request.op = Op::read;
  request.lba = lba;
  request.sectors = sectors;
  if (into != nullptr) request.into = {into, std::size_t{sectors} * kSectorBytes};
  submit(member, request);
}

void MemberCommands::Batch::write(std::uint32_t member, std::uint64_t lba, std::uint32_t sectors,
                                  const std::byte* from, bool fua) {
  Request request;
  request.op = Op::write;
  request.fua = fua;
  request.lba = lba;
  request.sectors = sectors;
  if (from != nullptr) request.data = {from, std::size_t{sectors} * kSectorBytes};
  submit(member, request);
}

void MemberCommands::Batch::other(Op op, std::uint32_t member, std::uint64_t lba,
                                  std::uint32_t sectors, bool fua) {
  Request request;
  request.op = op;
  request.fua = fua;
  request.lba = lba;
  request.sectors = sectors;
  submit(member, request);
}

}  // namespace headcrash::model
