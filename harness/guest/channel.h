#pragma once
// The agent's line-based connection to the host, over a virtio-serial port or, in virtual time,
// over a disk (plugin/servers/timetravel/agent_disk.h).
//
// The host's end of a port may disappear and return when a saved state is restored under another
// QEMU. Reading then waits until a host reconnects. Output that cannot be delivered is dropped,
// because the new host did not request it.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "plugin/base/line_framing.h"

namespace headcrash::guest {

class Channel {
 public:
  /// Opens the port or the disk, whichever the guest has. Waits a limited time for either to
  /// appear. Returns null if the guest has neither.
  static std::unique_ptr<Channel> open();
  virtual ~Channel() = default;

  /// Returns the next line, or nullopt after a timeout.
  std::optional<base::LineFramer::Line> read_line();
  void send(const nlohmann::json& message);

 protected:
  /// Returns the next data from the host, which is valid until the next call. Returns an empty view
  /// after a timeout; a partial line is then discarded.
  virtual std::string_view receive() = 0;
  virtual void send_bytes(std::string_view bytes) = 0;

 private:
  base::LineFramer framer_;
};

}  // namespace headcrash::guest
