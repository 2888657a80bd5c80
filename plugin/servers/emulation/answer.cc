#include "plugin/servers/emulation/answer.h"

#include <fmt/format.h>

#include "plugin/base/names.h"

namespace headcrash::emulation {
namespace {

const char* name_of(model::Op op) {
  static constexpr auto kNames =
      base::names<model::Op>({"read", "write", "flush", "trim", "write of zeroes"});
  return kNames[op].data();
}

}  // namespace

std::optional<std::string> FailureLog::note(std::string_view disk, const model::Request& request,
                                            std::string_view cause) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++failures_[{std::string(disk), std::string(cause)}];
  if ((number & (number - 1)) != 0) return std::nullopt;
  return fmt::format("{}: {} of {} sectors at {} failed: {} (failure {})", disk,
                     name_of(request.op), request.sectors, request.lba, cause, number);
}

int FailureLog::note(std::string_view disk, const model::Request& request, const Answer& answer,
                     const std::function<void(const std::string&)>& log) {
  if (answer.error != 0)
    if (const auto line = note(disk, request, answer.cause)) log(*line);
  return answer.error;
}

}  // namespace headcrash::emulation
