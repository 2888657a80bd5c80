// Stores repairs and repeats them (remembered_checks.h).
#include "harness/explorer/in_process/remembered_checks.h"

#include "plugin/model/core/store.h"

namespace headcrash::in_process {
namespace {

// Maximum number of stored sectors. Limits the memory used.
constexpr std::size_t kContentsMost = 100'000;

}  // namespace

void RememberedChecks::keep_repair() {
  if (contents_.size() >= kContentsMost) {
    repair.forget();
    contents_.clear();
  }
  std::vector<Write> writes;
  for (const std::uint32_t sector : disk_->changed_sectors()) {
    const std::uint64_t digest = disk_->digests()[sector];
    std::vector<std::byte>& bytes = contents_[digest];
    if (bytes.empty()) {
      const auto now = disk_->content(sector, model::kSectorBytes);
      bytes.assign(now.begin(), now.end());
    }
    writes.push_back({sector, digest, bytes});
  }
  repair.keep(std::move(writes));
}

void RememberedChecks::repeat(const std::vector<Write>& writes) {
  for (const Write& write : writes) disk_->write_known(write.sector, write.bytes, write.digest);
}

}  // namespace headcrash::in_process
