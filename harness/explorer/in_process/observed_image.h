#pragma once
// The tree of an image as the oracle wants it, read by the reader that shares no code with the
// mounted file system (adapters::ImageReader).

#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/state_disk.h"
#include "harness/oracle/history.h"
#include "harness/oracle/observed_tree.h"
#include "harness/workload/stamp.h"

namespace headcrash::in_process {

/// For the states of one run. What a sector that the run wrote holds is looked at once: stamps cost
/// as much as everything else here together.
class Observer {
 public:
  /// Both must outlive it.
  Observer(const adapters::FileSystemType& type, const StateDisk& disk,
           const oracle::Aspects& aspects = {})
      : type_(&type), disk_(&disk), aspects_(aspects), known_(disk.written_sectors()) {}

  /// Everything but the root. Errors: an image that is invalid, after a check that found nothing.
  Result<std::vector<oracle::ObservedObject>> observe();
  /// One object. `data`, if there is one, is given the sectors of its content, which the reader
  /// does not read.
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
  oracle::Aspects aspects_;  ///< of inodes, besides: what is not judged is not observed
  std::vector<std::optional<workload::BlockContent>> known_;
};

}  // namespace headcrash::in_process
