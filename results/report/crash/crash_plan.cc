// Computes the layout: the time scale, the rows and their heights, and the part that is shown at
// first (crash_picture.h).
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "plugin/base/names.h"
#include "results/report/crash/crash_picture.h"

namespace headcrash::report {
namespace {

constexpr double kLine = 9;  // distance between the lines of a row
// Maximum number of lines in a row. If a row has more blocks, several blocks are drawn on each
// line.
constexpr std::size_t kLinesMost = 8;
constexpr double kRowMargin = 6;
constexpr std::size_t kRequestsShownFirst = 300;
// Maximum fraction of the axis that one quiet interval takes.
constexpr double kQuietShare = 1.0 / 12;
constexpr int kScaleRounds = 60;  // number of bisection steps

std::vector<std::int64_t> all_times(const CrashPage& page) {
  std::vector<std::int64_t> times;
  for_each_moment(page, [&](const Moment& moment) { times.push_back(moment.at_ns); });
  if (times.empty()) times.push_back(0);
  return times;
}

/// Returns the time of the last event before the cut.
std::int64_t time_of_cut(const CrashPage& page) {
  std::int64_t at = 0;
  for_each_moment(page, [&](const Moment& moment) {
    if (moment.event < page.cut) at = std::max(at, moment.at_ns);
  });
  return at;
}

/// Assigns blocks to the lines of a row, in the order of the blocks' addresses. All requests for a
/// block are on the same line.
class Lines {
 public:
  void add(std::uint64_t lba) { places_.insert(lba); }
  double height() const {
    return 2 * kRowMargin + kLine * static_cast<double>(std::min(places_.size(), kLinesMost) - 1);
  }
  void finish() {
    double rank = 0;
    for (const std::uint64_t lba : places_) ranks_[lba] = rank++;
  }
  double y(std::uint64_t lba) const {
    const double lines = static_cast<double>(places_.size());
    if (lines < 2) return kRowMargin;
    return kRowMargin + ranks_.at(lba) * (height() - 2 * kRowMargin) / (lines - 1);
  }

 private:
  std::set<std::uint64_t> places_;
  std::map<std::uint64_t, double> ranks_;
};

/// Arranges a device's rows in the picture, from top to bottom: its requests, with a row for each
/// role of a block; its flushes; and the writes to its medium.
class Rows {
 public:
  explicit Rows(const CrashPage& page, PicturePlan& plan) : page_(page), plan_(plan) {}

  void lay_out() {
    add({.kind = PictureRow::Kind::axis, .height = 36});
    if (!page_.marks.empty())
      add({.kind = PictureRow::Kind::operations, .label = "operations", .height = 40});
    plan_.requests.resize(page_.requests.size());
    plan_.media.resize(page_.media.size());
    for (std::size_t device = 0; device < page_.devices.size(); ++device) rows_of(device);
    add({.kind = PictureRow::Kind::unflushed, .label = "unflushed bytes", .height = 52});
    lay_out_series();
    if (page_.states.size() < 2) return;
    std::vector<std::string> strategies;
    for (const TimelineState& state : page_.states) {
      if (std::ranges::find(strategies, state.strategy) == strategies.end())
        strategies.push_back(state.strategy);
    }
    for (const std::string& strategy : strategies) {
      add({.kind = PictureRow::Kind::states,
           .label = strategy.empty() ? "this cut" : strategy + " states",
           .strategy = strategy,
           .height = 16});
    }
  }

 private:
  void add(PictureRow row) { plan_.rows.push_back(std::move(row)); }
  void lay_out_series() {
    std::optional<std::size_t> device;
    for (std::size_t i = 0; i < page_.series.size(); ++i) {
      const TimelineSeries& series = page_.series[i];
      const bool first = device != series.device;
      device = series.device;
      add({.kind = PictureRow::Kind::series,
           .label = series.label,
           .heading = first && page_.devices.size() > 1 ? page_.devices[series.device].name : "",
           .device = series.device,
           .series = i,
           .height = 44});
    }
  }
  void rows_of(std::size_t device) {
    std::map<BlockClass, Lines> classes;
    for (const TimelineRequest& request : page_.requests)
      if (request.device == device) classes[request.block].add(request.lba);
    std::string heading;
    if (page_.devices.size() > 1) heading = page_.devices[device].name;
    std::map<BlockClass, std::size_t> row_of;
    for (auto& [block, lines] : classes) {
      lines.finish();
      row_of[block] = plan_.rows.size();
      add({.kind = PictureRow::Kind::requests,
           .label = std::string(name(block)),
           .heading = std::exchange(heading, {}),
           .device = device,
           .block = block,
           .height = lines.height()});
    }
    for (std::size_t i = 0; i < page_.requests.size(); ++i) {
      const TimelineRequest& request = page_.requests[i];
      if (request.device != device) continue;
      plan_.requests[i] = {row_of.at(request.block), classes.at(request.block).y(request.lba)};
    }
    if (std::ranges::any_of(page_.flushes,
                            [&](const auto& flush) { return flush.device == device; })) {
      add({.kind = PictureRow::Kind::flushes,
           .label = "flush",
           .heading = std::exchange(heading, {}),
           .device = device,
           .height = 16});
    }
    media_of(device, heading);
  }
  void media_of(std::size_t device, std::string heading) {
    Lines lines;
    bool any = false;
    for (const TimelineMediaWrite& media : page_.media) {
      if (media.device != device) continue;
      lines.add(media.lba);
      any = true;
    }
    if (!any) return;
    lines.finish();
    for (std::size_t i = 0; i < page_.media.size(); ++i) {
      if (page_.media[i].device == device)
        plan_.media[i] = {plan_.rows.size(), lines.y(page_.media[i].lba)};
    }
    add({.kind = PictureRow::Kind::media,
         .label = "medium",
         .heading = std::move(heading),
         .device = device,
         .height = lines.height()});
  }

  const CrashPage& page_;
  PicturePlan& plan_;
};

/// Selects the part that is shown at first: the whole workload, or the time around the cut if there
/// are many requests.
void choose_window(const CrashPage& page, PicturePlan& plan) {
  std::vector<double> places;
  std::size_t before = 0;
  for (const TimelineRequest& request : page.requests) {
    if (request.submitted.event < page.first_event || request.submitted.event > page.last_event)
      continue;
    if (request.submitted.event < page.cut) ++before;
    places.push_back(plan.scale.place(request.submitted.at_ns));
  }
  double begin = plan.scale.length(), end = 0;
  if (places.size() > kRequestsShownFirst) {
    const std::size_t first =
        before > kRequestsShownFirst * 3 / 4 ? before - kRequestsShownFirst * 3 / 4 : 0;
    const std::size_t last = std::min(first + kRequestsShownFirst, places.size()) - 1;
    begin = places[first];
    end = places[last];
  } else {
    const auto see = [&](const Moment& moment) {
      if (moment.event < page.first_event || moment.event > page.last_event) return;
      begin = std::min(begin, plan.scale.place(moment.at_ns));
      end = std::max(end, plan.scale.place(moment.at_ns));
    };
    for (const TimelineRequest& request : page.requests) {
      // Show all writes that are at risk, including those submitted before the workload began.
      if (at_risk(request, page.cut))
        begin = std::min(begin, plan.scale.place(request.submitted.at_ns));
      see(request.submitted);
      if (request.acked) see(*request.acked);
    }
    for (const TimelineFlush& flush : page.flushes) see(flush.acked.value_or(flush.submitted));
    for (const TimelineMark& mark : page.marks) see(mark.at);
  }
  const double cut = plan.scale.place(plan.cut_ns);
  begin = std::min(begin, cut);
  end = std::max(end, cut);
  if (page.recovery) end = plan.scale.length();
  const double margin = std::max((end - begin) * 0.015, plan.scale.length() * 1e-6);
  plan.window_begin = begin - margin;
  plan.window_end = end + margin;
}

/// Returns the length to which longer intervals are shortened. It is the largest length at which a
/// shortened interval takes no more than a certain share of the axis.
double longest_stretch(const std::vector<std::int64_t>& times) {
  const auto length = [&](double most) {
    double sum = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
      sum += std::min(static_cast<double>(times[i] - times[i - 1]), most);
    return sum;
  };
  const double share =
      std::max(kQuietShare, 2.0 / static_cast<double>(std::max<std::size_t>(times.size() - 1, 1)));
  double low = 0, high = static_cast<double>(times.back() - times.front());
  for (int round = 0; round < kScaleRounds; ++round) {
    const double middle = (low + high) / 2;
    (middle <= share * length(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

TimeScale::TimeScale(std::vector<std::int64_t> times) {
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const double most = longest_stretch(times);
  knots_ = {{times.front(), 0}};
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double gap = static_cast<double>(times[i] - times[i - 1]);
    if (gap <= 2 * most) continue;
    const double before =
        knots_.back().place + static_cast<double>(times[i - 1] - knots_.back().at_ns);
    if (knots_.back().at_ns != times[i - 1]) knots_.push_back({times[i - 1], before});
    quiet_.push_back(knots_.size() - 1);
    knots_.push_back({times[i], before + most});
  }
  if (knots_.back().at_ns != times.back() || knots_.size() == 1)
    knots_.push_back({std::max(times.back(), knots_.back().at_ns + 1),
                      knots_.back().place +
                          std::max(static_cast<double>(times.back() - knots_.back().at_ns), 1.0)});
}

double TimeScale::place(std::int64_t at_ns) const {
  const auto after = std::ranges::upper_bound(knots_, at_ns, {}, &Knot::at_ns);
  if (after == knots_.begin())
    return knots_.front().place - static_cast<double>(knots_.front().at_ns - at_ns);
  if (after == knots_.end())
    return knots_.back().place + static_cast<double>(at_ns - knots_.back().at_ns);
  const Knot& before = *std::prev(after);
  return before.place + (after->place - before.place) * static_cast<double>(at_ns - before.at_ns) /
                            static_cast<double>(after->at_ns - before.at_ns);
}

double PicturePlan::gutter(double width) {
  return width < kNarrow ? 0 : 140;
}
double PicturePlan::caption(double width) {
  return width < kNarrow ? 15 : 0;
}
std::vector<double> PicturePlan::tops(double width) const {
  std::vector<double> tops;
  double y = 0;
  for (const PictureRow& row : rows) {
    if (row.kind != PictureRow::Kind::axis) y += caption(width);
    if (!row.heading.empty() && caption(width) == 0) y += 8;
    tops.push_back(y);
    y += row.height + 4;
    if (row.kind == PictureRow::Kind::axis) y += 8;
  }
  tops.push_back(y);
  return tops;
}

PicturePlan plan_picture(const CrashPage& page) {
  PicturePlan plan{.scale = TimeScale(all_times(page)), .cut_ns = time_of_cut(page)};
  Rows(page, plan).lay_out();
  choose_window(page, plan);
  return plan;
}

std::string_view name(BlockClass block) {
  static constexpr auto kNames =
      base::names<BlockClass>({"data", "directories", "inodes", "free space", "superblock",
                               "journal", "other metadata", "other", "reads"});
  return kNames[block];
}

}  // namespace headcrash::report
