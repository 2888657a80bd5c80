#pragma once
// Checks that an image is consistent at its newest checkpoint. Recomputes all redundant
// information: owners of sectors, live bytes of each segment, link counts, the checkpoint's totals,
// and the summaries' entries for live blocks. A sound file system has no findings, whether it was
// unmounted, was recovered, or lost power at any moment, because data to which a checkpoint refers
// is not overwritten before the next checkpoint is durable.
//
// A Checker that is given digests of the sectors (Contents) can check successive states
// efficiently. It rereads an inode with its blocks, a directory's names or a segment's summaries
// only if their sectors have changed. If any of them has changed, the Checker repeats all
// comparisons between inodes, names and summaries.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/lfs/contents.h"
#include "fs-adapters/lfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

enum class FindingKind : std::uint8_t {
  inode,        ///< an inode is invalid, or is not at the address in the inode map
  pointer,      ///< a pointer is invalid, or an inode's sector count is wrong
  doubly_used,  ///< a sector has two owners
  usage,        ///< a segment's live bytes are wrong
  segment,      ///< a segment's state is wrong
  name,         ///< a dangling entry, a wrong entry type, or a wrong "." or ".."
  links,        ///< a wrong link count
  unreachable,  ///< an allocated inode has no name
  summary,      ///< a live block's summary entry is wrong or missing
  totals,       ///< wrong totals in the checkpoint
  recovery      ///< the log after the checkpoint cannot be followed
};
std::string_view name_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::inode;
  std::string text;
};

struct CheckReport {
  std::vector<Finding> findings;  ///< at most kFindingsMax
  bool clean = false;             ///< the checkpoint was written by an unmount
  std::uint64_t live_bytes = 0;
  std::uint32_t files = 0, directories = 0;
  static constexpr std::size_t kFindingsMax = 100;
  bool nothing_found() const { return findings.empty(); }
  std::string text() const;  ///< one line per finding
};

class Checker {
 public:
  Checker();
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  /// `contents` describes the current state of `store`. Sectors with equal digests must have equal
  /// bytes, even if the digests were passed in different calls. Without digests, everything is
  /// read; the findings are the same. Fails if there is no file system or no checkpoint.
  Result<CheckReport> check(const model::SectorStore& store, const Contents& contents = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Checks a single image. Fails under the same conditions as Checker::check().
Result<CheckReport> check(const model::SectorStore& store);

}  // namespace headcrash::lfs
