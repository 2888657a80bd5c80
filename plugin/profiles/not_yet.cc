// Stand-ins until the branches `array` and `nvram` are merged here.
#include <cstdlib>
#include "plugin/model/flash.h"
namespace headcrash::model {
struct Flash::State {};
Flash::Flash(const FlashOptions&) {
  std::abort();
}
Flash::~Flash() = default;
const Characteristics& Flash::characteristics() const {
  std::abort();
}
DeviceCounters Flash::counters() const {
  std::abort();
}
void Flash::submit(const Request&, Initiator&) {
  std::abort();
}
void Flash::power_cut() {}
void Flash::power_on() {}
}  // namespace headcrash::model
