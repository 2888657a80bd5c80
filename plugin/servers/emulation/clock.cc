#include "plugin/servers/emulation/clock.h"

#include <cmath>

namespace headcrash::emulation {
namespace {

/// Maximum wall time since the anchor. Prevents overflows of sums; never reached in practice.
constexpr WallNs kFarthest = model::kNever / 4;

}  // namespace

model::TimeNs ClockAnchor::model_at(WallNs when) const {
  if (slowdown == 1) return model + (when - wall);
  return model +
         static_cast<model::TimeNs>(std::floor(static_cast<long double>(when - wall) / slowdown));
}

WallNs ClockAnchor::wall_at(model::TimeNs when) const {
  const long double passed =
      slowdown == 1 ? when - model : std::ceil(static_cast<long double>(when - model) * slowdown);
  return wall + (passed > kFarthest ? kFarthest : static_cast<WallNs>(passed));
}

}  // namespace headcrash::emulation
