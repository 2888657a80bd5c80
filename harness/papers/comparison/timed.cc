// Implements the parts for the devices, and the part `aged` for aged disks (session.h).
#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/session.h"

namespace headcrash::experiment::compare {
namespace {

std::vector<ClaimAnswer> answers_of(const TimedTable* table, const std::string& part,
                                    const std::string& id) {
  std::vector<ClaimAnswer> answers;
  if (table == nullptr) return answers;
  for (std::size_t column = 0; column < table->columns.size(); ++column)
    answers.push_back(answer_of(*table, column, part, id));
  return answers;
}

}  // namespace

std::vector<ClaimAnswer> drive(Context& context) {
  return answers_of(Session::of(context).on(context, Device::drive), "drive", "drive");
}
std::vector<ClaimAnswer> drive_cache(Context& context) {
  return answers_of(Session::of(context).on(context, Device::drive_cache), "drive-cache", "cache");
}
std::vector<ClaimAnswer> fast_drive(Context& context) {
  return answers_of(Session::of(context).on(context, Device::fast_drive), "fast-drive", "fast");
}
std::vector<ClaimAnswer> raid5(Context& context) {
  return answers_of(Session::of(context).on(context, Device::raid5), "raid5", "raid5");
}
std::vector<ClaimAnswer> raid5_nvram(Context& context) {
  return answers_of(Session::of(context).on(context, Device::raid5_nvram), "raid5-nvram", "nvram");
}

std::vector<ClaimAnswer> aged(Context& context) {
  std::vector<ClaimAnswer> answers;
  for (const AgedOn& on : kAgedOn)
    for (ClaimAnswer& each : answers_of(Session::of(context).aged(context, on), "aged", on.id()))
      answers.push_back(std::move(each));
  return answers;
}

}  // namespace headcrash::experiment::compare
