// Sources of states that are built from the host's writes: prefix, lose-all, reorder, torn,
// lying-flush (state_source.h).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "plugin/states/state_source.h"
#include "plugin/states/subsets.h"

namespace headcrash::states {
namespace {

// Content digests of those states at one cut that are built from the host's writes, for one device
// or for several disks together.
//
//   hd0   ..W1....W4..F5..|     unflushed, by submission:  1   4   3   7
//   log   ....F2.W3....W7.|     digest of a subset = sum over the disks' digests (content.h)
//
// Unflushed writes are numbered across all disks; the mapping from write to disk is handled here.

class JointCut {
 public:
  static Result<JointCut> create(const SourceContext& context, std::uint64_t event,
                                 std::optional<model::RequestId> lies_from,
                                 CutContent::Queries use);

  struct Unflushed {
    const RecordedWrite* write = nullptr;  ///< the write, owned by the run
    std::size_t part = 0;                  ///< index, in context.chosen, of the write's device
    std::size_t place = 0;                 ///< index into the unflushed writes of `part`
  };
  /// Returns the unflushed writes in submission order.
  const std::vector<Unflushed>& unflushed() const { return unflushed_; }

  /// Returns the digest of the device's contents, or the combined digest if there are several
  /// devices. `kept` has one flag for each unflushed write; `torn` refers to one of these writes.
  Result<std::uint64_t> digest(std::span<const std::uint8_t> kept,
                               std::optional<TornPart> torn = {});

 private:
  std::vector<model::DeviceId> devices_;
  std::vector<CutContent> parts_;
  std::vector<Unflushed> unflushed_;
};

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

/// Maximum number of states that a cut yields in one turn.
constexpr std::size_t kBatchMax = 1024;

// ---- one state per cut

/// Yields one state for each cut, in order.
class CutsSource final : public StateSource {
 public:
  using StateAt = Result<Candidate> (*)(const SourceContext& context, std::uint64_t event);
  CutsSource(const SourceContext& context, CutOrder order, std::string left_out, StateAt state_at)
      : context_(context),
        order_(std::move(order)),
        left_out_(std::move(left_out)),
        state_at_(state_at) {}
  Result<std::optional<Candidate>> next() override {
    if (next_ == order_.cuts().size()) return std::nullopt;
    return state_at_(context_, order_.cuts()[next_++]);
  }
  double space() const override { return static_cast<double>(order_.cuts().size()); }
  std::string bound() const override { return left_out_; }

 private:
  const SourceContext& context_;
  CutOrder order_;
  std::size_t next_ = 0;
  std::string left_out_;
  StateAt state_at_;
};

Result<Candidate> everything_there(const SourceContext& context, std::uint64_t event) {
  return context.candidate(context.state_at(event), context.everything_at(event));
}

Result<Candidate> nothing_unflushed(const SourceContext& context, std::uint64_t event,
                                    std::optional<model::RequestId> lies_from) {
  TRY(auto cut, JointCut::create(context, event, lies_from, CutContent::Queries::lose_all));
  const std::vector<std::uint8_t> none(cut.unflushed().size());
  CrashState state = context.state_at(event);
  state.keep_others = false;
  state.lies_from = lies_from;
  return context.candidate(std::move(state), cut.digest(none));
}

// ---- many states per cut

/// Visits the cuts in rounds. In each round, a cut yields as many states as in all earlier rounds
/// together, so the number of states doubles.
class RoundsSource : public StateSource {
 public:
  Result<std::optional<Candidate>> next() override {
    while (made_.empty()) {
      if (turns_.empty()) return std::nullopt;
      Turn turn = turns_.front();
      turns_.pop_front();
      TRY(const auto more, visit(turn.cut, turn.from, turn.count, made_));
      if (!more) continue;
      turn.from += turn.count;
      turn.count = turn.from < 2 ? 1 : std::min(turn.from, kBatchMax);
      turns_.push_back(turn);
    }
    Candidate candidate = std::move(made_.front());
    made_.pop_front();
    return candidate;
  }

 protected:
  void add_cut(std::uint64_t cut) { turns_.push_back({cut, 0, 1}); }
  /// Adds the states [from, from + count) of a cut to `into`. Returns false if the cut has no more
  /// states.
  virtual Result<bool> visit(std::uint64_t cut, std::size_t from, std::size_t count,
                             std::deque<Candidate>& into) = 0;

 private:
  struct Turn {
    std::uint64_t cut = 0;
    std::size_t from = 0, count = 1;
  };
  std::deque<Turn> turns_;
  std::deque<Candidate> made_;
};

/// Returns the cuts that are most likely to expose a bug. The cuts just before a promise, which
/// have the most unflushed writes, are first. The cuts just after a mark, which have the most
/// promises, are next. The last cuts of the power cycles are at the end.
CutOrder cuts_by_yield(const Cuts& cuts) {
  CutOrder order;
  order.add(cuts.promise_kept);
  order.add(cuts.after_marks);
  order.add(cuts.last);
  return order;
}

class ReorderSource final : public RoundsSource {
 public:
  using Unflushed = std::vector<JointCut::Unflushed>;

  explicit ReorderSource(const SourceContext& context) : context_(context) {
    const Cuts cuts(context);
    left_out_ = cuts.left_out;
    const CutOrder order = cuts_by_yield(cuts);
    std::uint64_t sampled = 0;
    for (const std::uint64_t cut : order.cuts()) {
      const auto unflushed = static_cast<double>(context.unflushed_at(cut).size());
      space_ += std::exp2(std::min(unflushed, 1000.0));
      sampled += std::exp2(std::min(unflushed, 1000.0)) >
                         static_cast<double>(context.options.reorder_per_cut)
                     ? 1
                     : 0;
      numbers_.emplace_back(cut, numbers_.size());
      add_cut(cut);
    }
    std::sort(numbers_.begin(), numbers_.end());
    if (sampled > 0)
      bound_ = fmt::format("only {} subsets at each of {} cuts that have more",
                           context.options.reorder_per_cut, sampled);
  }
  double space() const override { return space_; }
  std::string bound() const override {
    std::string text = bound_;
    for (const std::string& more :
         {unnamed_ > 0 ? fmt::format("{} subsets whose names were too long", unnamed_)
                       : std::string(),
          left_out_})
      if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
    return text;
  }

 private:
  Result<bool> visit(std::uint64_t cut, std::size_t from, std::size_t count,
                     std::deque<Candidate>& into) override {
    TRY(auto content, JointCut::create(context_, cut, {}, CutContent::Queries::many));
    const auto number =
        std::lower_bound(numbers_.begin(), numbers_.end(), std::pair(cut, std::size_t{0}))->second;
    SubsetRequest request{content.unflushed().size(), kinds_of(content.unflushed()),
                          context_.options.seed * 1000003 + number,
                          context_.options.reorder_per_cut, disks_of(content.unflushed())};
    const auto found = subsets(request, from, count);
    for (const auto& kept : found) {
      CrashState state = state_of(cut, content.unflushed(), kept);
      if (format(state).size() > kStateNameMax) {
        ++unnamed_;
        continue;
      }
      TRY(auto candidate, context_.candidate(std::move(state), content.digest(kept)));
      into.push_back(std::move(candidate));
    }
    return found.size() == count;
  }

  CrashState state_of(std::uint64_t cut, const Unflushed& unflushed,
                      const std::vector<std::uint8_t>& kept) const {
    const auto there = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), 1));
    CrashState state = context_.state_at(cut);
    state.keep_others = there == kept.size() || (there > 0 && there >= kept.size() - there);
    for (std::size_t i = 0; i < kept.size(); ++i)
      if ((kept[i] != 0) != state.keep_others) state.listed.push_back(unflushed[i].write->request);
    std::sort(state.listed.begin(), state.listed.end());
    return state;
  }

  /// Returns one list of flags per disk. A flag is set if the unflushed write is on this disk.
  /// Disks with none or all of the unflushed writes are omitted. The lists are used for states in
  /// which only one disk loses writes. Such states expose programs that do not flush all disks on
  /// which they rely.
  std::vector<std::vector<std::uint8_t>> disks_of(const Unflushed& unflushed) const {
    std::vector<std::vector<std::uint8_t>> disks;
    for (std::size_t part = 0; context_.of_all_disks() && part < context_.chosen.size(); ++part) {
      std::vector<std::uint8_t> on;
      for (const JointCut::Unflushed& one : unflushed) on.push_back(one.part == part ? 1 : 0);
      const auto count = std::count(on.begin(), on.end(), 1);
      if (count > 0 && count < static_cast<std::ptrdiff_t>(on.size()))
        disks.push_back(std::move(on));
    }
    return disks;
  }

  /// Kinds of writes: writes to the lower half of the touched range, long writes, short writes,
  /// sequential writes, trims, and writes with FUA. A file system's journal, metadata and data
  /// differ in these properties.
  static std::vector<std::vector<std::uint8_t>> kinds_of(const Unflushed& unflushed) {
    std::vector<std::uint64_t> places, lengths;
    for (const JointCut::Unflushed& one : unflushed) {
      places.push_back(one.write->lba);
      lengths.push_back(one.write->sectors);
    }
    const auto median = [](std::vector<std::uint64_t> values) {
      if (values.empty()) return std::uint64_t{0};
      std::nth_element(values.begin(),
                       values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                       values.end());
      return values[values.size() / 2];
    };
    const std::uint64_t middle = median(places);
    const std::uint64_t length = median(lengths);
    std::vector<std::vector<std::uint8_t>> kinds;
    const auto add = [&](auto is) {
      std::vector<std::uint8_t> of, others;
      for (std::size_t i = 0; i < unflushed.size(); ++i) {
        of.push_back(is(i, *unflushed[i].write) ? 1 : 0);
        others.push_back(1 - of.back());
      }
      const auto count = std::count(of.begin(), of.end(), 1);
      if (count == 0 || count == static_cast<std::ptrdiff_t>(of.size())) return;
      kinds.push_back(std::move(of));
      kinds.push_back(std::move(others));
    };
    add([&](std::size_t, const RecordedWrite& write) { return write.lba < middle; });
    add([&](std::size_t, const RecordedWrite& write) { return write.sectors > length; });
    add([&](std::size_t, const RecordedWrite& write) { return write.sectors <= 8; });
    /// Sequential writes are those that begin where the previous write ended.
    add([&](std::size_t i, const RecordedWrite& write) {
      return i > 0 && unflushed[i - 1].part == unflushed[i].part &&
             unflushed[i - 1].write->lba + unflushed[i - 1].write->sectors == write.lba;
    });
    add([&](std::size_t, const RecordedWrite& write) { return write.op == model::Op::trim; });
    add([&](std::size_t, const RecordedWrite& write) { return write.fua; });
    return kinds;
  }

  const SourceContext& context_;
  double space_ = 0;
  std::string bound_, left_out_;
  std::uint64_t unnamed_ = 0;
  /// Pairs of a cut and its position in the order of exploration. The pairs are sorted by cut.
  std::vector<std::pair<std::uint64_t, std::size_t>> numbers_;
};

/// A tear of a write into units. A write has 4 * (units - 1) + 2 * max(0, units - 2) tears: first
/// those at its middle, then those at its ends, then those that keep a single unit in the middle.
/// The odd-numbered tears also lose all other unflushed writes.
struct Tear {
  std::uint64_t first = 0, count = 0;  ///< new units
  bool others_lost = false;
};
std::uint64_t tears(std::uint64_t units) {
  return units < 2 ? 0 : 4 * (units - 1) + 2 * (units - 2);
}
Tear tear(std::uint64_t units, std::uint64_t n) {
  const bool lost = n % 2 == 1;
  n /= 2;
  const std::uint64_t cuts = units - 1;
  if (n >= 2 * cuts) {
    const std::uint64_t inner = units - 2;
    return {1 + (n - 2 * cuts + inner / 2) % inner, 1, lost};
  }
  // The first split points are the middle of the write, the place after its first unit, and the
  // place before its last unit. At each split point, the first tear contains only the part before
  // it, and the second tear only the part after it.
  const std::uint64_t place = n / 2;
  const std::uint64_t middle = units / 2;
  std::uint64_t at = place + 1;
  if (cuts > 3) {
    at = place == 0 ? middle : place == 1 ? 1 : place == 2 ? cuts : place - 1;
    if (place > 2 && at >= middle) ++at;
  }
  return n % 2 == 0 ? Tear{0, at, lost} : Tear{at, units - at, lost};
}

class TornSource final : public RoundsSource {
 public:
  explicit TornSource(const SourceContext& context) : context_(context) {
    for (const model::DeviceId device : context.chosen)
      units_.push_back(std::max({1U, context.run->header().devices[device].physical_sector_sectors,
                                 context.options.atomic_sectors}));
    const Cuts cuts(context);
    left_out_ = cuts.left_out;
    const CutOrder order = cuts_by_yield(cuts);
    std::uint64_t bounded = 0;
    for (const std::uint64_t cut : order.cuts()) {
      std::uint64_t here = 0;
      for (const UnflushedWrite& one : context.unflushed_at(cut))
        here += tears(units(context.run->writes(one.device)[one.write], unit_of(one.device)));
      space_ += static_cast<double>(here);
      bounded += here > context.options.reorder_per_cut ? 1 : 0;
      if (here > 0) add_cut(cut);
    }
    if (bounded > 0)
      bound_ = fmt::format("only {} torn writes at each of {} cuts that have more",
                           context.options.reorder_per_cut, bounded);
  }
  double space() const override { return space_; }
  std::string bound() const override {
    return bound_.empty() || left_out_.empty() ? bound_ + left_out_ : bound_ + "; " + left_out_;
  }

 private:
  /// Returns the number of physical sectors that a write touches, completely or partly.
  static std::uint64_t units(const RecordedWrite& write, std::uint64_t unit) {
    return (write.lba + write.sectors - 1) / unit - write.lba / unit + 1;
  }
  std::uint64_t unit_of(model::DeviceId device) const {
    const auto& chosen = context_.chosen;
    return units_.at(
        static_cast<std::size_t>(std::find(chosen.begin(), chosen.end(), device) - chosen.begin()));
  }

  Result<bool> visit(std::uint64_t cut, std::size_t from, std::size_t count,
                     std::deque<Candidate>& into) override {
    TRY(auto content, JointCut::create(context_, cut, {}, CutContent::Queries::many));
    const auto order = spread(content.unflushed().size());
    // The first tear of every write comes first, then the second tear of every write, and so on.
    std::size_t seen = 0;
    bool any = true;
    for (std::uint64_t way = 0; any; ++way) {
      any = false;
      for (const std::size_t i : order) {
        const JointCut::Unflushed& unflushed = content.unflushed()[order.size() - 1 - i];
        const std::uint64_t pieces = units(*unflushed.write, units_[unflushed.part]);
        if (way >= tears(pieces)) continue;
        any = true;
        if (seen >= context_.options.reorder_per_cut) return false;
        if (seen++ < from) continue;
        if (seen > from + count) return true;
        TRY(auto candidate, torn(cut, content, order.size() - 1 - i, tear(pieces, way)));
        into.push_back(std::move(candidate));
      }
    }
    return false;
  }

  Result<Candidate> torn(std::uint64_t cut, JointCut& content, std::size_t unflushed,
                         const Tear& tear) const {
    const RecordedWrite& write = *content.unflushed()[unflushed].write;
    const std::uint64_t unit = units_[content.unflushed()[unflushed].part];
    const std::uint64_t base = write.lba / unit;
    const auto place = [&](std::uint64_t of_unit) {
      return static_cast<std::uint32_t>(
          std::clamp((base + of_unit) * unit, write.lba, write.lba + write.sectors) - write.lba);
    };
    const std::uint32_t first = place(tear.first);
    const std::uint32_t count = place(tear.first + tear.count) - first;
    CrashState state = context_.state_at(cut);
    state.keep_others = !tear.others_lost;
    state.torn = {{write.request, first, count}};
    const std::vector<std::uint8_t> kept(content.unflushed().size(), tear.others_lost ? 0 : 1);
    return context_.candidate(std::move(state),
                              content.digest(kept, TornPart{unflushed, first, count}));
  }

  const SourceContext& context_;
  std::vector<std::uint64_t> units_;  ///< physical sector size of each chosen device
  double space_ = 0;
  std::string bound_, left_out_;
};

class LyingFlushSource final : public StateSource {
 public:
  explicit LyingFlushSource(const SourceContext& context) : context_(context) {
    const Cuts cuts(context);
    const RunHistory& run = *context.run;
    CutOrder later;
    later.add(cuts.after_marks);
    later.add(cuts.promise_kept, 1);
    later.add(cuts.last);
    cuts_ = later.cuts();
    std::sort(cuts_.begin(), cuts_.end());
    left_out_ = cuts.left_out;
    std::vector<LyingFlush> liars;
    const auto add = [&](model::RequestId request, std::optional<std::uint64_t> acked) {
      if (!acked || !context.in_range(*acked)) return;
      // A lying flush affects every cut from its acknowledgement to the end of its power cycle.
      const auto first = std::upper_bound(cuts_.begin(), cuts_.end(), *acked);
      auto last = first;
      while (last != cuts_.end() && run.power_cycle_begin(*last) <= *acked) ++last;
      if (first != last)
        liars.push_back({request, static_cast<std::size_t>(first - cuts_.begin()),
                         static_cast<std::size_t>(last - first)});
    };
    for (const model::DeviceId device : context.chosen) {
      for (const RecordedFlush& flush : run.flushes(device)) add(flush.request, flush.acked_event);
      for (const RecordedWrite& write : run.writes(device))
        if (write.fua) add(write.request, write.acked_event);
    }
    std::sort(liars.begin(), liars.end(),
              [](const LyingFlush& a, const LyingFlush& b) { return a.request < b.request; });
    for (const std::size_t i : spread(liars.size())) {
      liars_.push_back(liars[i]);
      space_ += static_cast<double>(liars[i].cuts);
    }
  }
  Result<std::optional<Candidate>> next() override {
    while (!liars_.empty()) {
      LyingFlush& liar = liars_.front();
      const std::uint64_t cut = cuts_[liar.first + liar.done++];
      const model::RequestId request = liar.request;
      if (liar.done < liar.cuts) liars_.push_back(liar);
      liars_.pop_front();
      return nothing_unflushed(context_, cut, request);
    }
    return std::nullopt;
  }
  double space() const override { return space_; }
  std::string bound() const override { return left_out_; }

 private:
  struct LyingFlush {
    model::RequestId request = 0;
    std::size_t first = 0, cuts = 0;  ///< range in cuts_
    std::size_t done = 0;
  };
  const SourceContext& context_;
  std::vector<std::uint64_t> cuts_;  ///< ascending
  std::deque<LyingFlush> liars_;
  double space_ = 0;
  std::string left_out_;
};

}  // namespace

std::unique_ptr<StateSource> prefix_source(const SourceContext& context) {
  const Cuts cuts(context);
  CutOrder order;
  order.add(cuts.after_marks);
  order.add(cuts.flush_submitted);
  order.add(cuts.after_fua_submitted);
  order.add(cuts.power_lost);
  order.add(cuts.last);
  order.add(cuts.after_writes);
  return std::make_unique<CutsSource>(context, std::move(order), cuts.left_out, everything_there);
}
std::unique_ptr<StateSource> lose_all_source(const SourceContext& context) {
  const Cuts cuts(context);
  CutOrder order;
  order.add(cuts.after_marks);
  order.add(cuts.promise_kept, 1);
  order.add(cuts.power_lost);
  order.add(cuts.last);
  return std::make_unique<CutsSource>(context, std::move(order), cuts.left_out,
                                      [](const SourceContext& at, std::uint64_t event) {
                                        return nothing_unflushed(at, event, {});
                                      });
}
std::unique_ptr<StateSource> reorder_source(const SourceContext& context) {
  return std::make_unique<ReorderSource>(context);
}
std::unique_ptr<StateSource> torn_source(const SourceContext& context) {
  return std::make_unique<TornSource>(context);
}
std::unique_ptr<StateSource> lying_flush_source(const SourceContext& context) {
  return std::make_unique<LyingFlushSource>(context);
}

}  // namespace headcrash::states
