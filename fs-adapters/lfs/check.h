#pragma once
// Says whether an image is consistent at its newest checkpoint. Everything that is kept twice is
// computed
// again: who refers to which sector, live bytes of each segment, link counts, the totals of the
// checkpoint, and the summaries' words about each live block. A file system that was unmounted or
// recovered has no finding at all, and neither has a disk at any moment of its life: what a
// checkpoint names is not written over before the next one is durable.
//
// Who checks one state after the other has a Checker and tells it what the sectors hold: an inode
// with its blocks, a directory's names, a segment's summaries are read again only where their
// sectors hold something else. All of them are compared with each other again whenever any of it is
// another.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/lfs/contents.h"
#include "fs-adapters/lfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

enum class FindingKind : std::uint8_t {
  inode,        ///< is not where the map says, or makes no sense
  pointer,      ///< leads nowhere, or a count of sectors is wrong
  doubly_used,  ///< a sector with two owners
  usage,        ///< live bytes of a segment
  segment,      ///< its state
  name,         ///< an entry that leads to nothing, or to another type; "." and ".."
  links,        ///< a count
  unreachable,  ///< allocated, and no name leads to it
  summary,      ///< no summary, or a wrong one, describes a live block
  totals,       ///< of the checkpoint
  recovery      ///< the log since then cannot be followed
};
std::string_view name_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::inode;
  std::string text;
};

struct CheckReport {
  std::vector<Finding> findings;  ///< at most kFindingsMax
  bool clean = false;             ///< the image says that it was unmounted
  std::uint64_t live_bytes = 0;
  std::uint32_t files = 0, directories = 0;
  static constexpr std::size_t kFindingsMax = 100;
  bool nothing_found() const { return findings.empty(); }
  std::string text() const;  ///< a line each
};

class Checker {
 public:
  Checker();
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  /// `contents` of `store`; equal digests mean equal bytes as long as the checker lives. When
  /// nothing is known everything is read. What is found does not depend on it. An Error: there is
  /// no file system, or no checkpoint, to be checked.
  Result<CheckReport> check(const model::SectorStore& store, const Contents& contents = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Of one image. Errors as above.
Result<CheckReport> check(const model::SectorStore& store);

}  // namespace headcrash::lfs
