// Chooses the positions and kinds of failing requests from a seed (io_errors.h).
#include "harness/explorer/in_process/io_errors.h"

#include "harness/explorer/in_process/state_disk.h"
#include "plugin/base/random.h"

namespace headcrash::in_process {

Result<std::vector<os::DiskFault>> draw_faults(const FormattedDisk& formatted, std::uint64_t seed) {
  constexpr std::uint64_t kAnywhereOneIn = 3, kAnywhereNthMax = 120, kSecondOneIn = 3;
  const StateDisk disk(formatted);
  TRY(const auto areas, formatted.type->fault_areas(disk));
  const std::vector<os::SectorRange> anywhere(1);

  Random random(seed);
  std::vector<os::DiskFault> faults;
  do {
    const bool in_an_area = random.below(kAnywhereOneIn) != 0;
    faults.push_back(os::draw_fault(random, in_an_area ? areas : anywhere));
    if (seed % kFaultSeeds >= kFirstReadFaults) faults.back().op = model::Op::read;
    if (!in_an_area) faults.back().nth = 1 + random.below(kAnywhereNthMax);
  } while (faults.size() < 2 && random.below(kSecondOneIn) == 0);
  return faults;
}

std::string format(const std::vector<os::DiskFault>& faults) {
  std::string text;
  for (const os::DiskFault& fault : faults) text += (text.empty() ? "" : "; ") + os::format(fault);
  return text;
}

}  // namespace headcrash::in_process
