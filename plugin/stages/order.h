#pragma once
// Control-socket requests about stages (plugin/servers/nbd/CONTROL.md, "A server of crash states"):
// one line of JSON in each direction. Parsing is separate from execution, so that untrusted input
// is handled only by functions without side effects.

#include <string>
#include <string_view>
#include <variant>

#include "plugin/stages/stage_server.h"

namespace headcrash::stages {

struct SealOrder {
  std::size_t stage = 0;
};
struct MarkOrder {
  std::size_t stage = 0;
  std::string text;
};
struct StatusOrder {
  std::size_t stage = 0;
};
struct DigestOrder {
  std::size_t stage = 0;
};
using Order = std::variant<LoadOrder, SealOrder, MarkOrder, StatusOrder, DigestOrder>;

Result<Order> parse_order(std::string_view line);

/// Parses and executes a request. Always returns one line of JSON, without the newline.
std::string answer(StageServer& server, std::string_view line);

}  // namespace headcrash::stages
