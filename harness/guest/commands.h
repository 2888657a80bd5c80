#pragma once
// The agent's commands: one JSON request in, events and one answer out (PROTOCOL.md). Knows nothing
// of the port the text comes through, so it is tested on the host.

#include <functional>
#include <nlohmann/json.hpp>

#include "plugin/base/line_framing.h"

namespace headcrash::guest {

using Sender = std::function<void(const nlohmann::json& message)>;

/// Answers one line, whatever it holds: exactly one message with "ok" goes to `send`, after the
/// events.
void answer_line(const base::LineFramer::Line& line, const Sender& send);

}  // namespace headcrash::guest
