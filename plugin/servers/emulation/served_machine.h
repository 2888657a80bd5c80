#pragma once
// The life of an emulated machine that is served, whatever protocol its disks are served by.
//
//   open()    control socket, store and recording: whatever can be refused       no thread yet
//   start()   model time begins, commands are answered                           the face serves its clients
//   shut_down()   requests that wait end at once, later ones are refused         clients' connections end
//   stop()    no commands any more; the machine is parked, the recording handed over

#include <memory>
#include <optional>

#include "plugin/servers/emulation/control_socket.h"
#include "plugin/servers/emulation/emulation.h"

namespace headcrash::emulation {

/// The socket that the settings name, or none. Error: as said about the parameter.
Result<std::unique_ptr<ControlSocket>> listen_for_control(const Settings& settings);

class ServedMachine {
 public:
  /// Errors name the parameter.
  static Result<std::unique_ptr<ServedMachine>> open(const Settings& settings, Hardware hardware);
  ~ServedMachine() { static_cast<void>(stop()); }
  ServedMachine(const ServedMachine&) = delete;
  ServedMachine& operator=(const ServedMachine&) = delete;

  Emulation& emulation() { return *emulation_; }
  void start(Way way);
  void shut_down() { emulation_->shut_down(); }
  /// Error: the recording lacks its end.
  Result<void> stop();

 private:
  ServedMachine() = default;

  std::unique_ptr<Emulation> emulation_;
  std::unique_ptr<ControlSocket> control_;
};

}  // namespace headcrash::emulation
