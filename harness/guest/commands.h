#pragma once
// The agent's commands: one JSON request in, events and one answer out (PROTOCOL.md). They do not
// depend on the channel, so they can be tested on the host.

#include <functional>
#include <nlohmann/json.hpp>

#include "plugin/base/line_framing.h"

namespace headcrash::guest {

using Sender = std::function<void(const nlohmann::json& message)>;

/// Answers one line, whatever it contains. Passes any events, and then exactly one message with
/// "ok", to `send`.
void answer_line(const base::LineFramer::Line& line, const Sender& send);

}  // namespace headcrash::guest
