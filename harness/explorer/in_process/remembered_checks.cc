// Stores repairs and repeats them (remembered_checks.h).
#include "harness/explorer/in_process/remembered_checks.h"

#include <algorithm>

#include "plugin/model/core/store.h"

namespace headcrash::in_process {
namespace {

// Maximum number of stored sectors. Limits the memory used.
constexpr std::size_t kContentsMost = 100'000;

}  // namespace

std::vector<RememberedChecks::Write> RememberedChecks::writes() {
  if (contents_.size() >= kContentsMost) {
    recovery.forget();
    repair.forget();
    contents_.clear();
  }
  const auto written = disk_->written_in_step();
  std::vector<std::uint32_t> sectors(written.begin(), written.end());
  std::ranges::sort(sectors);
  const auto twice = std::ranges::unique(sectors);
  sectors.erase(twice.begin(), twice.end());
  std::vector<Write> writes;
  writes.reserve(sectors.size());
  for (const std::uint32_t sector : sectors) {
    const std::uint64_t digest = disk_->digests()[sector];
    std::vector<std::byte>& bytes = contents_[digest];
    if (bytes.empty()) {
      const auto now = disk_->content(sector, model::kSectorBytes);
      bytes.assign(now.begin(), now.end());
    }
    writes.push_back({sector, digest, bytes});
  }
  return writes;
}

void RememberedChecks::repeat(const std::vector<Write>& writes) {
  for (const Write& write : writes) disk_->write_known(write.sector, write.bytes, write.digest);
}

}  // namespace headcrash::in_process
