// Splits subsets across all disks into one per disk (joint_cut.h).
#include "plugin/states/joint_cut.h"

#include <algorithm>

namespace headcrash::states {

Result<JointCut> JointCut::create(const SourceContext& context, std::uint64_t event,
                                  std::optional<model::RequestId> lies_from,
                                  CutContent::Queries use) {
  JointCut cut;
  cut.devices_ = context.chosen;
  for (std::size_t part = 0; part < context.chosen.size(); ++part) {
    TRY(auto content, CutContent::create(*context.written[part], event, lies_from, use));
    const auto& writes = context.run->writes(context.chosen[part]);
    for (std::size_t place = 0; place < content.unflushed().size(); ++place)
      cut.unflushed_.push_back({&writes[content.unflushed()[place]], part, place});
    cut.parts_.push_back(std::move(content));
  }
  std::sort(cut.unflushed_.begin(), cut.unflushed_.end(),
            [](const Unflushed& one, const Unflushed& other) {
              return one.write->submitted_event < other.write->submitted_event;
            });
  return cut;
}

Result<std::uint64_t> JointCut::digest(std::span<const std::uint8_t> kept,
                                       std::optional<TornPart> torn) {
  if (parts_.size() == 1) return parts_.front().digest(kept, torn);
  std::uint64_t sum = 0;
  std::vector<std::uint8_t> own;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    own.assign(parts_[part].unflushed().size(), 0);
    for (std::size_t i = 0; i < unflushed_.size(); ++i)
      if (unflushed_[i].part == part) own[unflushed_[i].place] = kept[i];
    std::optional<TornPart> own_torn;
    if (torn && unflushed_[torn->unflushed].part == part)
      own_torn = TornPart{unflushed_[torn->unflushed].place, torn->first, torn->count};
    const auto digest = parts_[part].digest(own, own_torn);
    if (!digest) return digest;
    sum += share_of(devices_[part], *digest);
  }
  return sum;
}

}  // namespace headcrash::states
