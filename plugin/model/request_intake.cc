#include "plugin/model/request_intake.h"

#include "plugin/base/invariant.h"

namespace headcrash::model {

std::optional<HostCommand> RequestIntake::enter(const Request& request, Initiator& initiator,
                                                std::uint64_t sectors) {
  invariant(request.lba <= sectors && request.sectors <= sectors - request.lba,
            "a request lies on its device");
  const TimeNs now = simulation_.now();
  observer_.submitted(device_, now, request);
  const HostCommand command{.request = request, .initiator = &initiator, .submitted_at = now};
  if (powered_) return command;
  lose(command);
  return {};
}

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
  Initiator& initiator = *command.initiator;  // `command` may go with what the host does next
  observer_.acknowledged(device_, completion);
  initiator.completed(completion);
}

void RequestIntake::power_cut() {
  powered_ = false;
  ++generation_;
}

}  // namespace headcrash::model
