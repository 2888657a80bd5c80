#pragma once
// The stages of a crash-state server, for guests in virtual time. Each stage has its own calendar,
// because each guest has its own time. The sockets of stage N have the names given in calendar.h,
// with SOCKET.N in place of SOCKET. Other disks of the stage, such as a log, have sockets
// SOCKET.N.log, SOCKET.N.hd1 and so on (virtual_guest::kOtherDisks).

#include <filesystem>
#include <memory>
#include <vector>

#include "plugin/servers/timetravel/calendar.h"
#include "plugin/servers/timetravel/stage_hardware.h"
#include "plugin/stages/stage_server.h"

namespace headcrash::timetravel {

class ServedStages {
 public:
  /// REQUIRES: the process has no other threads yet.
  static Result<std::unique_ptr<ServedStages>> listen(const std::filesystem::path& socket,
                                                      std::size_t stages);

  /// Serves the stages of `server`, which must outlive this object. There must be as many stages as
  /// sockets, and no stage may be loaded yet. Fails if no thread can be started.
  Result<void> start(stages::StageServer& server, const Calendar::Log& log);
  /// Disconnects the guests and removes the socket files.
  void stop();

 private:
  struct Served {
    std::unique_ptr<StageHardware> hardware;
    std::unique_ptr<Calendar> calendar;  ///< destroyed first
  };
  std::vector<Served> stages_;
};

}  // namespace headcrash::timetravel
