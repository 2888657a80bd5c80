#pragma once
// The agent's connection to the host, which carries lines. It uses a virtio-serial port or, in
// virtual time, a disk (plugin/servers/timetravel/agent_disk.h).
//
// When a saved state is restored under another QEMU, the host's end of a port may disappear and
// return. A read then waits until a host has connected again. Output that cannot be delivered is
// dropped, because the new host did not request it.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "plugin/base/line_framing.h"

namespace headcrash::guest {

class Channel {
 public:
  /// Opens the channel to the host: a port or a disk. Waits for a limited time until one of them
  /// appears. Returns null if neither does.
  static std::unique_ptr<Channel> open();
  virtual ~Channel() = default;

  /// Returns the next line, or nullopt after a timeout.
  std::optional<base::LineFramer::Line> read_line();
  void send(const nlohmann::json& message);

 protected:
  /// Returns the next bytes from the host. The returned view is valid until the next call. After a
  /// timeout, returns an empty view and discards any partial line.
  virtual std::string_view receive() = 0;
  virtual void send_bytes(std::string_view bytes) = 0;

 private:
  base::LineFramer framer_;
};

}  // namespace headcrash::guest
