#pragma once
// The agent's conversation with the host, as lines: over a virtio-serial port, or in virtual time
// over a disk (plugin/servers/timetravel/agent_disk.h).
//
// The host's end of a port may go away and come back (a saved state is restored under another
// QEMU): reading then waits for the next host, and what cannot be delivered is dropped rather than
// kept for somebody who did not ask.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "plugin/base/line_framing.h"

namespace headcrash::guest {

class Channel {
 public:
  /// The port or the disk, whichever the guest has; waits a while for one to appear. Null: there is
  /// neither.
  static std::unique_ptr<Channel> open();
  virtual ~Channel() = default;

  /// The next line; nothing when none came for a while.
  std::optional<base::LineFramer::Line> read_line();
  void send(const nlohmann::json& message);

 protected:
  /// What the host has said next, valid until the next call; empty: nothing for a while, and half a
  /// line will not be continued.
  virtual std::string_view receive() = 0;
  virtual void send_bytes(std::string_view bytes) = 0;

 private:
  base::LineFramer framer_;
};

}  // namespace headcrash::guest
