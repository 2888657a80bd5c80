#pragma once
// The life cycle of a served emulated machine, for any disk protocol.
//
//   open()        control socket, storage, recording: everything that can fail     no thread yet
//   start()       model time begins, control requests are answered                 clients accepted
//   shut_down()   waiting requests end at once, later ones are rejected            connections end
//   stop()        control requests end; the machine is shut down, the recording completed

#include <memory>
#include <optional>

#include "plugin/servers/emulation/control_socket.h"
#include "plugin/servers/emulation/emulation.h"

namespace headcrash::emulation {

/// Opens the control socket, or returns null if the settings name no control socket. Errors name
/// the parameter.
Result<std::unique_ptr<ControlSocket>> listen_for_control(const Settings& settings);

class ServedMachine {
 public:
  /// Errors name the parameter.
  static Result<std::unique_ptr<ServedMachine>> open(const Settings& settings, Hardware hardware);
  ~ServedMachine() { static_cast<void>(stop()); }
  ServedMachine(const ServedMachine&) = delete;
  ServedMachine& operator=(const ServedMachine&) = delete;

  Emulation& emulation() { return *emulation_; }
  void start(Transport transport);
  void shut_down() { emulation_->shut_down(); }
  /// Fails if the recording is incomplete.
  Result<void> stop();

 private:
  ServedMachine() = default;

  std::unique_ptr<Emulation> emulation_;
  std::unique_ptr<ControlSocket> control_;
};

}  // namespace headcrash::emulation
