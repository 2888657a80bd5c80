#pragma once
// The commands of the agent. A command takes a JSON request and returns one answer, possibly after
// several events (PROTOCOL.md). Commands do not depend on the channel, so they can be tested on the
// host.

#include <functional>
#include <nlohmann/json.hpp>

#include "plugin/base/line_framing.h"

namespace headcrash::guest {

using Sender = std::function<void(const nlohmann::json& message)>;

/// Answers one line, whatever it contains. Passes to `send` any events, and then exactly one
/// message with the field "ok".
void answer_line(const base::LineFramer::Line& line, const Sender& send);

}  // namespace headcrash::guest
