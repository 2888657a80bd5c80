// Stand-ins until the branches `array` and `nvram` are merged here.
#include "plugin/model/array.h"
#include "plugin/model/flash.h"
#include "plugin/model/nvram.h"
namespace headcrash::model {
namespace {
std::uint64_t data_members(const ArrayProfile& p) {
  switch (p.level) {
    case RaidLevel::raid0:
      return p.members;
    case RaidLevel::raid1:
      return 1;
    case RaidLevel::raid6:
      return p.members - 2;
    default:
      return p.members - 1;
  }
}
}  // namespace
struct Array::State {};
Array::~Array() = default;
const Characteristics& Array::characteristics() const {
  std::abort();
}
DeviceCounters Array::counters() const {
  std::abort();
}
void Array::submit(const Request&, Initiator&) {
  std::abort();
}
void Array::power_cut() {}
void Array::power_on() {}
Result<std::unique_ptr<Array>> Array::create(ArrayOptions) {
  return fail("array", "not yet");
}
std::uint64_t Array::member_sectors(const ArrayProfile& p, std::uint64_t data) {
  const std::uint64_t row = data_members(p) * p.stripe_unit_sectors;
  return p.prewrite_sectors + (data + row - 1) / row * p.stripe_unit_sectors;
}
std::uint64_t Array::data_sectors(const ArrayProfile& p, std::uint64_t member) {
  return member < p.prewrite_sectors ? 0
                                     : (member - p.prewrite_sectors) / p.stripe_unit_sectors *
                                           p.stripe_unit_sectors * data_members(p);
}
std::pair<std::uint64_t, std::uint64_t> Array::prewrite_range(const ArrayProfile& p) {
  return {0, p.prewrite_sectors};
}
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
