#pragma once
// The commands of the control socket (CONTROL.md): one line of JSON in, one out. Parsing is apart
// from doing, so that hostile input meets a function without side effects.

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
struct AskPower {};
struct WaitCut {
  std::chrono::milliseconds timeout;
};
struct SetClock {
  Clock clock;
};
struct PutMark {
  std::string text;
};
struct AskStatistics {
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
using Command = std::variant<CutNow, ArmCut, Disarm, PowerOn, AskPower, WaitCut, SetClock, PutMark,
                             AskStatistics, AddFault, ClearFaults, ListFaults, ArrayOrder>;

Result<Command> parse_command(std::string_view line);

/// Parses and does it; always one line of JSON without the newline. A command that waits asks
/// `given_up` at least every 100 ms whether anybody still listens.
std::string answer(Emulation& emulation, std::string_view line,
                   const std::function<bool()>& given_up);

}  // namespace headcrash::emulation
