#include "plugin/model/core/request_intake.h"

namespace headcrash::model {

void RequestIntake::lose(const HostCommand& command) {
  lost_.push_back(command);
  simulation_.schedule(simulation_.now(), *this, 0);
}

void RequestIntake::on_event(std::uint64_t) {
  HostCommand command = lost_.front();
  lost_.pop_front();
  command.breakdown = {};
  answer(command, Status::power_lost);
}

void RequestIntake::answer(const HostCommand& command, Status status) {
  if (status != Status::power_lost) counters_.count(command.request);
  const Completion completion{command.request.id, status, command.submitted_at, simulation_.now(),
                              command.breakdown};
  // Keep this reference, because the host's callback may destroy `command`.
  Initiator& initiator = *command.initiator;
  observer_.acknowledged(device_, completion);
  initiator.completed(completion);
}

void RequestIntake::power_cut() {
  powered_ = false;
  ++generation_;
}

}  // namespace headcrash::model
