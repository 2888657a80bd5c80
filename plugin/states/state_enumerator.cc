// Yields the crash states of a run (state_enumerator.h). If several states have the same content,
// only one of them is yielded. The strategies take turns, and a turn yields one new state. The
// enumeration ends when the budget is used up or all strategies have ended. If a strategy ends
// early, its share of the budget goes to the other strategies.
#include "plugin/states/state_enumerator.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_set>

#include "plugin/base/nearest.h"
#include "plugin/states/digest.h"
#include "plugin/states/state_source.h"

namespace headcrash::states {
namespace {

constexpr std::array<std::string_view, 8> kNames = {
    "physical", "prefix", "reorder", "torn", "lose-all", "lying-flush", "member", "recovery"};
constexpr std::uint64_t kMarkKey = 0xa0761d6478bd642fU;

std::unique_ptr<StateSource> source_of(Strategy strategy, const SourceContext& context) {
  switch (strategy) {
    case Strategy::physical:
      return physical_source(context);
    case Strategy::prefix:
      return prefix_source(context);
    case Strategy::reorder:
      return reorder_source(context);
    case Strategy::torn:
      return torn_source(context);
    case Strategy::lose_all:
      return lose_all_source(context);
    case Strategy::lying_flush:
      return lying_flush_source(context);
    case Strategy::member:
    case Strategy::recovery:
      break;
  }
  return member_source(context);
}

/// Returns the media to explore: all media, or those below an array.
std::vector<model::DeviceId> media_of(const record::RecordingHeader& header,
                                      model::DeviceId device) {
  std::vector<model::DeviceId> media;
  const std::string below = header.devices[device].name + ".";
  for (std::size_t i = 0; i < header.devices.size(); ++i) {
    if (!header.devices[i].medium) continue;
    if (header.devices[device].medium || header.devices[i].name.rfind(below, 0) == 0)
      media.push_back(static_cast<model::DeviceId>(i));
  }
  return media;
}

Result<void> check_all_disks(const RunHistory& run, const std::vector<Strategy>& strategies) {
  if (run.disks().empty())
    return fail(run.path(), "is not a recording of separate disks that share one request numbering",
                "explore one device");
  if (std::find(strategies.begin(), strategies.end(), Strategy::member) != strategies.end())
    return fail(run.path(),
                "the strategy member applies only to arrays: disks on one power cord stop together",
                "use physical, prefix, reorder, torn, lose-all or lying-flush");
  return {};
}

Result<void> check(const RunHistory& run, const ExploreOptions& options) {
  const auto& devices = run.header().devices;
  const auto refuse = [&](std::string problem, std::string hint) {
    return fail(run.path(), std::move(problem), std::move(hint));
  };
  if (options.device >= devices.size())
    return refuse(fmt::format("has {} devices, but device {} is to be explored", devices.size(),
                              options.device),
                  "`headcrash recording info` lists them");
  if (options.strategies.empty())
    return refuse("no strategy is given", "name one, for example prefix");
  if (options.from_event > options.to_event.value_or(run.events()))
    return refuse(fmt::format("invalid event range: {} to {}", options.from_event,
                              options.to_event.value_or(run.events())),
                  "put the earlier event first");
  if (options.all_disks) TRY(check_all_disks(run, options.strategies));
  for (const Strategy strategy : options.strategies) {
    const std::string wanted(name(strategy));
    if (strategy == Strategy::recovery)
      return refuse("the strategy recovery needs a guest that runs the recovery",
                    "use it with `headcrash explore`");
    if (by_media(strategy) && !run.has_media_events())
      return refuse(fmt::format("has no MEDIA events (it {}), so the strategy {} is unavailable",
                                run.header().provenance(), wanted),
                    "use prefix, reorder, torn, lose-all or lying-flush");
    const std::size_t media = media_of(run.header(), options.device).size();
    if (by_media(strategy) && media < (strategy == Strategy::member ? 2 : 1))
      return refuse(fmt::format("{} has {} media, too few for strategy {}",
                                devices[options.device].name, media, wanted),
                    "explore another device, or use another strategy");
    if (!by_media(strategy) && !devices[options.device].medium && run.header().base)
      return refuse(fmt::format("{} has no medium, and the recording is based on another recording",
                                devices[options.device].name),
                    "explore one of the devices below it");
  }
  return {};
}

}  // namespace

std::string_view name(Strategy strategy) {
  return kNames.at(static_cast<std::size_t>(strategy));
}

Result<std::uint32_t> atomic_sectors_of(std::uint64_t bytes, const std::string& subject) {
  constexpr std::uint64_t kMost = 1 << 20;
  if (!std::has_single_bit(bytes) || bytes < model::kSectorBytes || bytes > kMost)
    return fail(subject, "is not a power of two from 512 bytes to 1 MiB",
                "for example, use 512, 4K or 16K");
  return static_cast<std::uint32_t>(bytes / model::kSectorBytes);
}

bool by_media(Strategy strategy) {
  return strategy == Strategy::physical || strategy == Strategy::member;
}

Result<Strategy> parse_strategy(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Strategy>(i);
  const std::vector<std::string> known(kNames.begin(), kNames.end());
  return fail(fmt::format("strategy \"{}\"", name.substr(0, 40)), "is unknown",
              base::suggest(name, known));
}

struct StateEnumerator::State {
  SourceContext context;
  struct Turn {
    Strategy strategy;
    std::unique_ptr<StateSource> source;
    std::uint64_t generated = 0, distinct = 0;
    bool ended = false;
  };
  std::vector<Turn> turns;
  std::size_t turn = 0;
  std::uint64_t found = 0;
  std::unordered_set<std::uint64_t> seen;
  std::vector<std::uint64_t> marks;  ///< events

  /// Returns a state's identity, which combines its content with the number of preceding marks. A
  /// mark promises that more data is durable, so states with equal contents before and after a mark
  /// differ.
  std::uint64_t identity(const Candidate& candidate) const {
    const auto passed =
        std::lower_bound(marks.begin(), marks.end(), candidate.state.event) - marks.begin();
    return mix(candidate.identity ^ kMarkKey, static_cast<std::uint64_t>(passed) * 2 + 1);
  }
};

Result<StateEnumerator> StateEnumerator::create(const std::shared_ptr<const RunHistory>& run,
                                                const ExploreOptions& options) {
  TRY(check(*run, options));
  auto state = std::make_unique<State>();
  SourceContext& context = state->context;
  context.run = run;
  context.options = options;
  context.options.to_event = std::min(options.to_event.value_or(run->events()), run->events());
  context.media = media_of(run->header(), options.device);
  context.chosen = options.all_disks ? run->disks() : std::vector<model::DeviceId>{options.device};
  for (const model::DeviceId device : context.chosen)
    context.written.push_back(std::make_unique<WrittenContent>(run, device));
  const bool several = run->header().devices[options.device].medium && context.media.size() > 1 &&
                       !context.of_all_disks();
  if (std::any_of(options.strategies.begin(), options.strategies.end(), by_media) ||
      (several && run->has_media_events())) {
    TRY(auto media, MediaContent::load(*run));
    context.by_media = std::make_unique<MediaContent>(std::move(media));
  }
  if (!run->header().devices[options.device].medium && context.by_media == nullptr)
    context.media.clear();
  context.contents = context.media;
  if (!run->header().devices[options.device].medium && context.by_media != nullptr)
    context.contents.insert(context.contents.end(), run->caches().begin(), run->caches().end());
  for (const model::DeviceId device : context.media)
    context.others.push_back(std::make_unique<WrittenContent>(run, device));
  for (const RecordedMark& mark : run->marks()) state->marks.push_back(mark.event);
  for (const Strategy strategy : options.strategies)
    state->turns.push_back({strategy, source_of(strategy, context)});
  return StateEnumerator(std::move(state));
}

StateEnumerator::StateEnumerator(std::unique_ptr<State> state) : state_(std::move(state)) {}
StateEnumerator::StateEnumerator(StateEnumerator&&) noexcept = default;
StateEnumerator& StateEnumerator::operator=(StateEnumerator&&) noexcept = default;
StateEnumerator::~StateEnumerator() = default;

Result<std::optional<FoundState>> StateEnumerator::next() {
  State& s = *state_;
  std::size_t ended = 0;
  while (s.found < s.context.options.budget && ended < s.turns.size()) {
    State::Turn& turn = s.turns[s.turn];
    TRY(auto candidate, turn.ended ? Result<std::optional<Candidate>>() : turn.source->next());
    if (!candidate) {
      turn.ended = true;
      ++ended;
      s.turn = (s.turn + 1) % s.turns.size();
      continue;
    }
    ++turn.generated;
    ended = 0;
    // If the state is not new, the strategy's turn continues.
    if (!s.seen.insert(s.identity(*candidate)).second) continue;
    ++turn.distinct;
    ++s.found;
    s.turn = (s.turn + 1) % s.turns.size();
    FoundState found{std::move(candidate->state), {}, turn.strategy, candidate->digest};
    found.name = format(found.state);
    return found;
  }
  return std::nullopt;
}

std::vector<Coverage> StateEnumerator::coverage() const {
  const State& s = *state_;
  std::vector<Coverage> all;
  for (const State::Turn& turn : s.turns) {
    Coverage one{turn.strategy, turn.source->space(), turn.generated, turn.distinct,
                 turn.source->bound()};
    if (!turn.ended) {
      const std::string budget =
          s.found >= s.context.options.budget
              ? fmt::format("the budget of {} states was used up", s.context.options.budget)
              : std::string("not finished");
      one.bound += (one.bound.empty() ? "" : "; ") + budget;
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace headcrash::states
