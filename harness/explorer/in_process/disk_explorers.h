#pragma once
// Creates an explorer for each of the lab's disks when the disk is first requested.

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "harness/explorer/in_process/exploration.h"
#include "harness/explorer/in_process/lab_disks.h"

namespace headcrash::in_process {

class DiskExplorers {
 public:
  struct Entry {
    explicit Entry(FormattedDisk disk) : formatted(std::move(disk)), explorer(formatted) {}
    FormattedDisk formatted;
    DiskExplorer explorer;
  };
  /// Stores a recording of the formatting of each disk in `folder`.
  explicit DiskExplorers(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns the explorer of a disk. Systems share one explorer if they would format the disk in
  /// the same way. Fails if the disk is unknown or the directory cannot be written.
  Result<Entry*> get(const std::string& disk, const adapters::SystemUnderTest& system) {
    TRY(const auto kind, find_lab_disk(disk, system));
    std::unique_ptr<Entry>& made =
        made_[{&system.type(), disk, kind.bytes, kind.mkfs, kind.used_by, kind.cut}];
    if (made) return made.get();
    TRY(auto formatted, format_disk(system.type(), kind,
                                    folder_ / fmt::format("{}-{}-{}.hcrec", system.type().name(),
                                                          disk, made_.size())));
    made = std::make_unique<Entry>(std::move(formatted));
    return made.get();
  }

 private:
  /// All parameters that affect how a disk is formatted.
  using Key = std::tuple<const adapters::FileSystemType*, std::string, std::uint64_t,
                         adapters::Settings, std::string, bool>;
  std::filesystem::path folder_;
  std::map<Key, std::unique_ptr<Entry>> made_;
};

}  // namespace headcrash::in_process
