#pragma once
// Control-socket requests (CONTROL.md): one line of JSON in each direction. Parsing is separate
// from execution, so that untrusted input is handled only by functions without side effects.

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "plugin/servers/emulation/emulation.h"

namespace headcrash::emulation {

struct CutNow {};
struct ArmCut {
  std::string text;
  model::CutTrigger trigger;
};
struct Disarm {};
struct PowerOn {};
struct QueryPower {};
struct WaitCut {
  std::chrono::milliseconds timeout;
};
struct SetClock {
  Clock clock;
};
struct RecordMark {
  std::string text;
};
struct QueryStatistics {
  Emulation::Interval afterwards;
};
struct AddFault {
  model::FaultSpec fault;
};
struct ClearFaults {
  std::optional<std::string> device;
  std::optional<model::FaultKind> kind;
};
struct ListFaults {};
using Command =
    std::variant<CutNow, ArmCut, Disarm, PowerOn, QueryPower, WaitCut, SetClock, RecordMark,
                 QueryStatistics, AddFault, ClearFaults, ListFaults, ArrayOrder>;

Result<Command> parse_command(std::string_view line);

/// Parses and executes a request. Always returns one line of JSON, without the newline. While a
/// request has to wait, `given_up` is called at least every 100 ms, to detect that the client has
/// disconnected.
std::string answer(Emulation& emulation, std::string_view line,
                   const std::function<bool()>& given_up);

}  // namespace headcrash::emulation
