#pragma once
// The virtio-serial port to the host, as lines.
//
// The host's end may go away and come back (a saved state is restored under another QEMU): reading then waits
// for the next host, and what cannot be delivered is dropped rather than kept for somebody who did not ask.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plugin/base/line_framing.h"

namespace headcrash::guest {

/// The device of the port with this name, looked up in /sys/class/virtio-ports; nothing if there is none.
std::optional<std::string> find_port(const std::string& name);

class Channel {
 public:
  /// Takes the descriptor over.
  explicit Channel(int port) : port_(port) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// The next line; nothing when none came for a second.
  std::optional<base::LineFramer::Line> read_line();
  void send(const nlohmann::json& message);

 private:
  int port_;
  base::LineFramer framer_;
};

}  // namespace headcrash::guest
