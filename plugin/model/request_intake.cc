#include "plugin/model/request_intake.h"

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

void RequestIntake::power_cut() {
  powered_ = false;
  ++generation_;
}

}  // namespace headcrash::model
