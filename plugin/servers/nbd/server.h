#pragma once
// Error handling, and the state that the plugin's callbacks share (the one server of this process).

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>

#include "plugin/servers/emulation/served_machine.h"
#include "plugin/servers/emulation/settings.h"
#include "plugin/servers/nbd/export.h"
#include "plugin/servers/timetravel/served_stages.h"
#include "plugin/stages/stage_server.h"

namespace headcrash::nbd {

struct Server {
  emulation::Settings settings;
  /// The prepared hardware, which is moved into the machine when the machine is created.
  std::optional<emulation::Hardware> hardware;
  /// The emulated hardware; null if the server serves stages.
  std::unique_ptr<emulation::ServedMachine> machine;
  std::unique_ptr<stages::StageServer> stages;  ///< null if the server has a machine
  /// Virtual-time sockets of the stages; must be destroyed before `stages`.
  std::unique_ptr<timetravel::ServedStages> virtual_stages;
  std::unique_ptr<emulation::ControlSocket> control;  ///< used only if the server serves stages
  std::unique_ptr<ExportTable> exports;
  emulation::FailureLog failures;
  std::thread watcher;
};

/// A plain pointer, so that exit() does not destroy the server. nbdkit forks, and its parent
/// process also calls exit(). The parent must neither flush the recording nor remove the socket,
/// because the child uses both.
extern Server* server;

/// Sets the callbacks for connections and requests (callbacks.cc).
void add_export_callbacks(struct nbdkit_plugin& plugin);

/// Runs the body of a callback and catches all exceptions.
template <typename Body>
auto guarded(Body body) noexcept -> decltype(body()) {
  using Returned = decltype(body());
  try {
    return body();
  } catch (const std::exception& error) {
    nbdkit_error("headcrash: %s", error.what());
  } catch (...) {
    nbdkit_error("headcrash: an unknown exception");
  }
  if constexpr (std::is_pointer_v<Returned>) {
    return nullptr;
  } else if constexpr (!std::is_void_v<Returned>) {
    nbdkit_set_error(ENOMEM);
    return -1;
  }
}

inline int refuse(const Error& error) {
  nbdkit_error("%s", error.message().c_str());
  return -1;
}

inline int answer_errno(int error) {
  if (error == 0) return 0;
  nbdkit_set_error(error);
  return -1;
}

}  // namespace headcrash::nbd
