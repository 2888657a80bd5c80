#pragma once
// All stages of a server of crash states for guests in virtual time: a calendar for each, since
// each guest has time of its own. Stage N's sockets are those of calendar.h beginning with
// SOCKET.N; a log's disk is SOCKET.N.log.

#include <filesystem>
#include <memory>
#include <vector>

#include "plugin/servers/timetravel/calendar.h"
#include "plugin/servers/timetravel/stage_hardware.h"
#include "plugin/stages/stage_server.h"

namespace headcrash::timetravel {

class ServedStages {
 public:
  /// REQUIRES: there are no other threads yet.
  static Result<std::unique_ptr<ServedStages>> listen(const std::filesystem::path& socket,
                                                      std::size_t stages);

  /// `server` has so many stages, none of them loaded, and outlives this. Error: no thread can be
  /// started.
  Result<void> start(stages::StageServer& server, const Calendar::Log& log);
  /// Guests are disconnected. The sockets' files are gone then.
  void stop();

 private:
  struct Served {
    std::unique_ptr<StageHardware> hardware;
    std::unique_ptr<Calendar> calendar;  ///< ends first
  };
  std::vector<Served> stages_;
};

}  // namespace headcrash::timetravel
