#include "plugin/servers/timetravel/served_stages.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace headcrash::timetravel {
namespace {

// Name of the first disk. The name of the disk's socket does not contain this name.
constexpr const char* kDisk = "disk";

/// Returns a list of `first` and the names of the other disks.
template <typename Name>
std::vector<Name> disks_after(Name first) {
  std::vector<Name> names{std::move(first)};
  for (const char* other : virtual_guest::kOtherDisks) names.emplace_back(other);
  return names;
}

}  // namespace

Result<std::unique_ptr<ServedStages>> ServedStages::listen(const std::filesystem::path& socket,
                                                           std::size_t stages) {
  auto self = std::make_unique<ServedStages>();
  for (std::size_t i = 0; i < stages; ++i) {
    TRY(auto calendar, Calendar::listen(base::socket_beside(socket, std::to_string(i)),
                                        disks_after<std::string>(kDisk)));
    self->stages_.push_back({nullptr, std::move(calendar)});
  }
  return self;
}

Result<void> ServedStages::start(stages::StageServer& server, const Calendar::Log& log) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    TRY(const auto stage, server.stage(i));
    Served& served = stages_[i];
    served.hardware = std::make_unique<StageHardware>(
        *stage, disks_after<std::optional<std::string>>(std::nullopt));
    const auto reported = [log, i](const std::string& line) {
      log(fmt::format("stage {}: {}", i, line));
    };
    TRY(served.calendar->start(*served.hardware, {}, reported));
  }
  return {};
}

void ServedStages::stop() {
  for (const Served& served : stages_) served.calendar->stop();
}

}  // namespace headcrash::timetravel
