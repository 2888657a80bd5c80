// Where on a ufs requests fail (io_errors.h).
#include "harness/explorer/in_process/io_errors.h"

#include <span>

#include "fs-adapters/ufs/geometry.h"
#include "harness/explorer/in_process/state_disk.h"
#include "plugin/base/random.h"

namespace headcrash::in_process {

Result<std::vector<os::DiskFault>> draw_faults(const FormattedDisk& formatted, std::uint64_t seed) {
  constexpr std::uint64_t kAnywhereOneIn = 3, kAnywhereNthMax = 120, kSecondOneIn = 3;
  const StateDisk disk(formatted.bytes);
  std::vector<std::byte> bytes(ufs::kSuperblockBytes);
  if (auto read = disk.read(ufs::kSuperblockByte / ufs::kSectorBytes, bytes); !read) return pass_on(read);
  const auto super = ufs::decode_superblock(bytes, formatted.bytes.size());
  if (!super) return pass_on(super);
  const ufs::Geometry geometry(*super);
  const auto range = [&](ufs::FragmentAddress from, ufs::FragmentAddress end) {
    return os::SectorRange{geometry.lba_of(from), geometry.lba_of(end)};
  };
  std::vector<os::SectorRange> areas;
  areas.push_back({0, geometry.lba_of(geometry.header(0))});  // the superblock
  areas.push_back(range(geometry.header(0), geometry.inode_table(0)));
  areas.push_back(range(geometry.inode_table(0), geometry.data_start(0)));
  areas.push_back({geometry.lba_of(geometry.data_start(0))});
  if (super->journal.fragments > 0)
    areas.push_back(range(super->journal.at, super->journal.at + super->journal.fragments));
  const std::vector<os::SectorRange> anywhere(1);

  Random random(seed);
  std::vector<os::DiskFault> faults;
  do {
    const bool in_an_area = random.below(kAnywhereOneIn) != 0;
    faults.push_back(os::draw_fault(random, in_an_area ? areas : anywhere));
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
