#pragma once
// Content digests of the states by writes at one cut, for one device or for several disks together.
//
//   hd0   ..W1....W4..F5..|     unflushed, by submission:  1   4   3   7
//   log   ....F2.W3....W7.|     digest of a subset = a sum of each disk's own (content.h)
//
// Unflushed writes are numbered across all disks; the mapping from write to disk is handled here.

#include <vector>

#include "plugin/states/state_source.h"

namespace headcrash::states {

class JointCut {
 public:
  static Result<JointCut> create(const SourceContext& context, std::uint64_t event,
                                 std::optional<model::RequestId> lies_from,
                                 CutContent::Queries use);

  struct Unflushed {
    const RecordedWrite* write = nullptr;  ///< the write, owned by the run
    std::size_t part = 0;                  ///< index into context.chosen of the write's device
    std::size_t place = 0;                 ///< index into the unflushed writes of that device
  };
  const std::vector<Unflushed>& unflushed() const { return unflushed_; }  ///< in submission order

  /// Returns the digest of one device's content, or the combined digest of several. `kept` has one
  /// flag for each unflushed write; `torn` refers to one of them.
  Result<std::uint64_t> digest(std::span<const std::uint8_t> kept,
                               std::optional<TornPart> torn = {});

 private:
  std::vector<model::DeviceId> devices_;
  std::vector<CutContent> parts_;
  std::vector<Unflushed> unflushed_;
};

}  // namespace headcrash::states
