#pragma once
// Converts an image to a tree for the oracle. The reader (adapters::ImageReader) shares no code
// with the file system.

#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/state_disk.h"
#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/workload/stamp.h"

namespace headcrash::in_process {

/// Observes the states of one run. Classifies each written sector only once, because recognising
/// stamps takes as long as all other work together.
class Observer {
 public:
  /// `type` and `disk` must outlive this object.
  Observer(const adapters::FileSystemType& type, const StateDisk& disk,
           const oracle::Aspects& aspects = {})
      : type_(&type), disk_(&disk), aspects_(aspects), known_(disk.written_sectors()) {}

  /// Returns all objects except the root. Fails if the image is invalid although fsck reported no
  /// error.
  Result<std::vector<oracle::ObservedObject>> observe();
  /// Describes an object and its contents. The contents are read from the disk and not through
  /// `reader`. If `data` is not null, appends to `data` the numbers of the sectors with the
  /// contents.
  oracle::ObservedObject describe(const adapters::ImageReader& reader, const std::string& path,
                                  const adapters::ImageInode& inode,
                                  std::vector<std::uint32_t>* data = nullptr);
  const adapters::FileSystemType& type() const { return *type_; }

 private:
  void read_content(const adapters::ImageReader& reader, const adapters::ImageInode& inode,
                    oracle::ObservedObject& object, std::vector<std::uint32_t>* data);
  workload::BlockContent content_at(std::uint64_t sector, std::size_t bytes);

  const adapters::FileSystemType* type_;
  const StateDisk* disk_;
  oracle::Aspects aspects_;  ///< which inode fields to observe; the others are not judged
  std::vector<std::optional<workload::BlockContent>> known_;
};

}  // namespace headcrash::in_process
