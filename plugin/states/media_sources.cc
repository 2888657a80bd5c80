// Sources of states from the contents of the media: physical, member (state_source.h).
//
//   members of an array     A  ..a1......a2.........   media events
//   do not stop together    B  ......b1......b2.....   m: A stops before a1, B continues to b1 (one
//                                          ^promise    behind by 1), to b2 (by 2), ... but not
//                                                      beyond a promise: no flush is acknowledged
//                                                      without A
//
// The controller waits for its members. Once A has stopped, A acknowledges no requests, so the
// controller does not send the requests that must follow an acknowledgement by A. If an array
// writes a log before the data, the log therefore also precedes the data in these states.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "plugin/states/state_source.h"

namespace headcrash::states {
namespace {

/// Returns the combined digest of all relevant devices. A device that stopped early contributes its
/// digest at the event at which it stopped.
std::uint64_t combined(const SourceContext& context, const CrashState& state) {
  std::uint64_t sum = 0;
  for (const model::DeviceId device : context.contents) {
    std::uint64_t event = state.event;
    for (const auto& [stopped, at] : state.stopped)
      if (stopped == device) event = at;
    sum += share_of(device, context.by_media->digest(device, event));
  }
  return sum;
}

Candidate media_candidate(const SourceContext& context, CrashState state) {
  const std::uint64_t all = combined(context, state);
  const bool one =
      !context.of_all_disks() && context.run->header().devices[context.options.device].medium;
  std::uint64_t event = state.event;
  for (const auto& [stopped, at] : state.stopped)
    if (stopped == context.options.device) event = at;
  // Two states with the same contents must have the same identity, so the identity is computed as
  // for states that are built from the host's writes.
  if (!one) return {std::move(state), all, all};
  const std::uint64_t own = context.by_media->digest(context.options.device, event);
  const std::uint64_t others = all - share_of(context.options.device, own);
  return {std::move(state), own, own + others};
}

class PhysicalSource final : public StateSource {
 public:
  explicit PhysicalSource(const SourceContext& context) : context_(context) {
    const RunHistory& run = *context.run;
    std::vector<std::uint64_t> marks, promises, media;
    const auto add = [&](std::vector<std::uint64_t>& cuts, std::uint64_t event) {
      if (context.in_range(event)) cuts.push_back(event);
    };
    for (const RecordedMark& mark : run.marks()) add(marks, mark.event + 1);
    for (const model::DeviceId device : context.chosen) {
      for (const RecordedFlush& flush : run.flushes(device)) {
        add(promises, flush.submitted_event);
        if (!flush.acked_event) continue;
        add(promises, *flush.acked_event);
        add(promises, *flush.acked_event + 1);
      }
    }
    if (context.of_all_disks()) std::sort(promises.begin(), promises.end());
    for (const model::DeviceId device : context.contents)
      for (const MediaContent::Step& step : context.by_media->steps(device))
        add(media, step.event + 1);
    std::sort(media.begin(), media.end());
    order_.add(marks);
    order_.add(promises);
    order_.add(media);
  }
  Result<std::optional<Candidate>> next() override {
    if (next_ == order_.cuts().size()) return std::nullopt;
    return media_candidate(context_,
                           {.base = CrashState::Base::physical, .event = order_.cuts()[next_++]});
  }
  double space() const override { return static_cast<double>(order_.cuts().size()); }

 private:
  const SourceContext& context_;
  CutOrder order_;
  std::size_t next_ = 0;
};

class MemberSource final : public StateSource {
 public:
  explicit MemberSource(const SourceContext& context) : context_(context) {
    const RunHistory& run = *context.run;
    for (const model::DeviceId device : context.media)
      for (const MediaContent::Step& step : context.by_media->steps(device))
        if (context.in_range(step.event + 1)) steps_.push_back({step.event, device});
    std::sort(steps_.begin(), steps_.end(),
              [](const Step& a, const Step& b) { return a.event < b.event; });
    for (const RecordedMark& mark : run.marks()) promises_.push_back(mark.event);
    for (const RecordedFlush& flush : run.flushes(context.options.device))
      if (flush.acked_event) promises_.push_back(*flush.acked_event);
    for (const RecordedWrite& write : run.writes(context.options.device))
      if (write.fua && write.acked_event) promises_.push_back(*write.acked_event);
    std::sort(promises_.begin(), promises_.end());
    positions_.resize(run.header().devices.size());
    for (const model::DeviceId device : context.media)
      for (const RecordedWrite& write : run.writes(device)) sent_.push_back(write.submitted_event);
    std::sort(sent_.begin(), sent_.end());
    for (std::size_t i = 0; i < steps_.size(); ++i) positions_[steps_[i].device].push_back(i);
    order_ = spread(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i)
      space_ += static_cast<double>(others_until_limit(steps_[i])) + (two_behind(i) ? 1 : 0);
  }

  Result<std::optional<Candidate>> next() override {
    for (; round_ < kRounds; ++round_, next_ = 0) {
      while (next_ < order_.size()) {
        const std::size_t from = order_[next_++];
        auto state = round_ == kPairs ? two_behind(from) : one_behind(from, kBehind[round_]);
        if (state) return media_candidate(context_, std::move(*state));
      }
    }
    return std::nullopt;
  }
  double space() const override { return space_; }
  std::string bound() const override {
    if (steps_.empty()) return {};
    return "states in which one member lags the others by 1, 2, 4 or 8 media writes, or two "
           "members lag by 1; the cut precedes every event that shows that a stopped member was "
           "still running: a promise to the host, or a request that the array sent after the "
           "member's next reply";
  }

 private:
  struct Step {
    std::uint64_t event = 0;
    model::DeviceId device = 0;
  };
  static constexpr std::size_t kRounds = 5;
  static constexpr std::size_t kPairs = 1;
  static constexpr std::array<std::size_t, kRounds> kBehind = {1, 0, 2, 4, 8};

  /// Returns the first event that proves that the member was still running after `step`. Such an
  /// event is a mark, the acknowledgement of a flush or a FUA write, or the first request that the
  /// array sent after the member's next answer.
  std::uint64_t limit_of(const Step& step) const {
    const auto first_from = [](const std::vector<std::uint64_t>& events, std::uint64_t from,
                               std::uint64_t otherwise) {
      const auto found = std::upper_bound(events.begin(), events.end(), from);
      return found == events.end() ? otherwise : *found;
    };
    const std::uint64_t end = context_.run->events();
    const std::uint64_t promise = first_from(promises_, step.event, end);
    const std::uint64_t answer = first_from(context_.run->answers(step.device), step.event, end);
    return std::min(promise, first_from(sent_, answer, end));
  }

  /// Returns how many media writes the other members complete after this member has stopped, but
  /// before limit_of(step).
  std::size_t others_until_limit(const Step& step) const {
    const std::uint64_t limit = limit_of(step);
    const auto after = std::ranges::upper_bound(steps_, step.event, {}, &Step::event);
    const auto until = std::ranges::lower_bound(steps_, limit, {}, &Step::event);
    if (until <= after) return 0;
    const auto& own = positions_[step.device];
    const auto own_until = [&](auto place) {
      return std::lower_bound(own.begin(), own.end(),
                              static_cast<std::size_t>(place - steps_.begin()));
    };
    return static_cast<std::size_t>((until - after) - (own_until(until) - own_until(after)));
  }

  std::optional<CrashState> one_behind(std::size_t from, std::size_t by) const {
    const std::uint64_t limit = limit_of(steps_[from]);
    for (std::size_t i = from + 1; i < steps_.size() && steps_[i].event < limit; ++i) {
      if (steps_[i].device == steps_[from].device || --by > 0) continue;
      return behind(steps_[i].event + 1, {{steps_[from].device, steps_[from].event}});
    }
    return std::nullopt;
  }

  std::optional<CrashState> two_behind(std::size_t from) const {
    std::uint64_t limit = limit_of(steps_[from]);
    const Step* second = nullptr;
    for (std::size_t i = from + 1; i < steps_.size() && steps_[i].event < limit; ++i) {
      if (steps_[i].device == steps_[from].device) continue;
      if (second == nullptr) {
        second = &steps_[i];
        limit = std::min(limit, limit_of(*second));
      }
      if (steps_[i].device == second->device || steps_[i].event >= limit) continue;
      return behind(steps_[i].event + 1,
                    {{steps_[from].device, steps_[from].event}, {second->device, second->event}});
    }
    return std::nullopt;
  }

  std::optional<CrashState> behind(
      std::uint64_t cut, std::vector<std::pair<model::DeviceId, std::uint64_t>> stopped) const {
    if (!context_.in_range(cut)) return std::nullopt;
    std::sort(stopped.begin(), stopped.end());
    return CrashState{
        .base = CrashState::Base::members, .event = cut, .stopped = std::move(stopped)};
  }

  const SourceContext& context_;
  std::vector<Step> steps_;
  std::vector<std::uint64_t> promises_;
  /// Events at which a write was sent to any member, ascending.
  std::vector<std::uint64_t> sent_;
  /// For each device: the indices of its steps in `steps_`.
  std::vector<std::vector<std::size_t>> positions_;
  std::vector<std::size_t> order_;
  std::size_t round_ = 0, next_ = 0;
  /// Number of states. For each media write before which a member can stop, there is one state for
  /// each number of later writes that the other members can make. In addition, there are states in
  /// which two members stop early.
  double space_ = 0;
};

}  // namespace

std::unique_ptr<StateSource> physical_source(const SourceContext& context) {
  return std::make_unique<PhysicalSource>(context);
}
std::unique_ptr<StateSource> member_source(const SourceContext& context) {
  return std::make_unique<MemberSource>(context);
}

}  // namespace headcrash::states
