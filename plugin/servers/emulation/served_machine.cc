#include "plugin/servers/emulation/served_machine.h"

#include "plugin/servers/emulation/control.h"

namespace headcrash::emulation {

Result<std::unique_ptr<ControlSocket>> listen_for_control(const Settings& settings) {
  if (!settings.control) return nullptr;
  auto control = ControlSocket::listen(*settings.control);
  if (control) return control;
  Error error = control.error();
  error.subject = "control=" + error.subject;
  return tl::unexpected<Error>(std::move(error));
}

Result<std::unique_ptr<ServedMachine>> ServedMachine::open(const Settings& settings,
                                                           Hardware hardware) {
  std::unique_ptr<ServedMachine> self(new ServedMachine());
  TRY(auto control, listen_for_control(settings));
  self->control_ = std::move(control);
  TRY(auto emulation, Emulation::create(settings, std::move(hardware)));
  self->emulation_ = std::move(emulation);
  return self;
}

void ServedMachine::start(Transport transport) {
  emulation_->start(transport);
  if (control_)
    control_->start([this](std::string_view line, const std::function<bool()>& given_up) {
      return answer(*emulation_, line, given_up);
    });
}

Result<void> ServedMachine::stop() {
  control_.reset();
  return emulation_ ? emulation_->stop() : Result<void>();
}

}  // namespace headcrash::emulation
