// Caches the results for names and trees, and judges only what is not in the cache
// (repeated_judge.h).
#include "harness/oracle/repeated_judge.h"

#include <cstring>

#include "harness/oracle/oracle_history.h"

namespace headcrash::oracle {
namespace {

// Maximum number of cached trees for each persistence point.
constexpr std::size_t kTreesMax = 4096;
constexpr std::size_t kFineMax = 1U << 16U;

class ObjectDigest {
 public:
  void number(std::uint64_t value) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    sum_ = (sum_ ^ value) * kOdd;
    sum_ ^= sum_ >> 29U;
  }
  void bytes(const void* from, std::size_t count) {
    number(count);
    const auto* at = static_cast<const unsigned char*>(from);
    for (; count >= 8; at += 8, count -= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, 8);
      number(word);
    }
    std::uint64_t rest = 0;
    if (count > 0) std::memcpy(&rest, at, count);
    number(rest);
  }
  void text(const std::string& value) { bytes(value.data(), value.size()); }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0x243f6a8885a308d3U;
};

}  // namespace

std::uint64_t digest_of(const ObservedObject& object) {
  ObjectDigest digest;
  digest.text(object.path);
  digest.text(object.link_target);
  digest.number(static_cast<std::uint64_t>(object.type) | (object.cut ? 256U : 0U) |
                (object.attributes_cut ? 512U : 0U));
  digest.number(static_cast<std::uint64_t>(object.error));
  digest.number(object.links);
  digest.number(object.inode);
  digest.number(object.size_bytes);
  for (const ContentRun& run : object.runs) {
    digest.number(static_cast<std::uint64_t>(run.kind));
    digest.number(run.first_block);
    digest.number(run.blocks);
    digest.number(std::uint64_t{run.file} << 32U | run.version);
    digest.number(run.stamped_block);
    digest.bytes(run.head.data(), run.head.size());
    digest.number(run.digest);
  }
  for (const auto& [name, value] : object.attributes) {
    digest.text(name);
    digest.text(value);
  }
  const auto observed = [&](const auto& value) {
    digest.number(value ? static_cast<std::uint64_t>(*value) : ~std::uint64_t{0});
  };
  observed(object.mode);
  observed(object.user);
  observed(object.group);
  observed(object.flags);
  observed(object.project);
  observed(object.allocated_bytes);
  observed(object.modified_seconds);
  observed(object.accessed_seconds);
  observed(object.born_seconds);
  return digest.sum();
}

LoneName RepeatedJudge::lone_name(const std::string& path) const {
  const auto& names = oracle_->history_->lone_names;
  const auto found = names.find(path);
  return found == names.end() ? kNotLone : found->second;
}

RepeatedJudge::Point& RepeatedJudge::point(std::optional<std::size_t> persisted) {
  const auto known = points_.find(persisted);
  if (known != points_.end()) return known->second;
  const Oracle::History& history = *oracle_->history_;
  Point made{.horizon = history.workload.timeline.at(persisted)};
  made.promised = promised_tokens(history.workload, made.horizon, history.promises);
  return points_.emplace(persisted, std::move(made)).first->second;
}

const std::vector<Finding>& RepeatedJudge::judge(std::optional<std::size_t> persisted,
                                                 std::span<const SeenObject> tree) {
  Point& at = point(persisted);
  ObjectDigest whole;
  for (const SeenObject& seen : tree) whole.number(seen.digest);
  if (const auto known = at.trees.find(whole.sum()); known != at.trees.end()) return known->second;
  if (at.trees.size() >= kTreesMax) at.trees.clear();
  omitted_.clear();
  rest_.clear();
  // If the whole tree must match one point, the names depend on each other and cannot be judged
  // independently.
  const bool by_itself = oracle_->history_->promises.one_point == adapters::OnePoint::none;
  const auto alone = [&](const SeenObject& seen) {
    return by_itself && seen.lone != kNotLone && seen.object->links == 1;
  };
  bool twice = false;  // a directory lists a name twice; all names are then judged
  for (const SeenObject& seen : tree) {
    if (!alone(seen) || !at.fine.contains(seen.digest))
      rest_.push_back(seen.object);
    else
      twice |= !omitted_.add(seen.lone);
  }
  if (twice) {
    omitted_.clear();
    rest_.clear();
    for (const SeenObject& seen : tree) rest_.push_back(seen.object);
  }
  const Oracle::History& history = *oracle_->history_;
  auto findings =
      Judge({history.workload, history.promises, at.horizon, at.promised, omitted_}, rest_).judge();
  if (findings.empty()) {
    if (at.fine.size() >= kFineMax) at.fine.clear();
    for (const SeenObject& seen : tree)
      if (alone(seen)) at.fine.insert(seen.digest);
  }
  return at.trees.emplace(whole.sum(), std::move(findings)).first->second;
}

}  // namespace headcrash::oracle
