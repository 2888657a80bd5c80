#pragma once
// A bench for each of the lab's disks, formatted when it is first wanted.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "harness/explorer/in_process/exploration.h"
#include "harness/explorer/in_process/lab_disks.h"

namespace headcrash::in_process {

class Benches {
 public:
  struct Made {
    explicit Made(FormattedDisk disk) : formatted(std::move(disk)), bench(formatted) {}
    FormattedDisk formatted;
    Bench bench;
  };
  /// Recordings of the making of disks are put into the folder.
  explicit Benches(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// With a journal where the scheme wants one. Errors: an unknown disk; a folder that cannot be written.
  Result<Made*> get(const std::string& disk, const ufs::SchemeVariant& scheme) {
    const bool journal = wants_journal(scheme);
    std::unique_ptr<Made>& made = made_[{disk, journal}];
    if (made) return made.get();
    const auto kind = find_lab_disk(disk);
    if (!kind) return pass_on(kind);
    std::optional<ufs::MountOptions> used_by;
    if (kind->used)
      used_by =
          ufs::MountOptions{.scheme = journal ? ufs::SchemeKind::journal : ufs::SchemeKind::soft_updates};
    auto formatted = format_disk(journal ? kind->bytes_with_journal : kind->bytes,
                                 journal ? kind->mkfs_with_journal : kind->mkfs,
                                 folder_ / (disk + (journal ? "-journal.hcrec" : ".hcrec")), used_by);
    if (!formatted) return pass_on(formatted);
    made = std::make_unique<Made>(std::move(*formatted));
    return made.get();
  }

 private:
  std::filesystem::path folder_;
  std::map<std::pair<std::string, bool>, std::unique_ptr<Made>> made_;
};

}  // namespace headcrash::in_process
