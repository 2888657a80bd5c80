#include "plugin/base/wall_clock.h"

#include <fmt/chrono.h>

#include <ctime>

namespace headcrash::base {

std::string now_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace headcrash::base
