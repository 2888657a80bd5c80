#pragma once
// Digests of the states by writes at one cut, of one device or of several disks at once.
//
//   hd0   ..W1....W4..F5..|     unflushed, by submission:  1   4   3   7
//   log   ....F2.W3....W7.|     digest of a subset = a sum of each disk's own (content.h)
//
// What the subset is of is counted through all disks; which of them a write is on is this file's
// business.

#include <vector>

#include "plugin/states/state_source.h"

namespace headcrash::states {

class JointCut {
 public:
  static Result<JointCut> create(const SourceContext& context, std::uint64_t event,
                                 std::optional<model::RequestId> lies_from, CutContent::Use use);

  struct Unflushed {
    const RecordedWrite* write = nullptr;  ///< of the run
    std::size_t part = 0;                  ///< on context.chosen[part]
    std::size_t place = 0;                 ///< among the unflushed writes of that device
  };
  const std::vector<Unflushed>& unflushed() const { return unflushed_; }  ///< by submission

  /// `kept`: one for each unflushed write; `torn`: of one of them. One device: the digest of its
  /// content;
  /// several: of all of their contents.
  Result<std::uint64_t> digest(std::span<const std::uint8_t> kept,
                               std::optional<TornPart> torn = {});

 private:
  std::vector<model::DeviceId> devices_;
  std::vector<CutContent> parts_;
  std::vector<Unflushed> unflushed_;
};

}  // namespace headcrash::states
