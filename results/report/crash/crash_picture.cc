// Draws the SVG picture of one cut (crash_picture.h).
#include "results/report/crash/crash_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"

namespace headcrash::report {
namespace {

constexpr double kRightMargin = 10;
constexpr double kShortestBar = 3;  // minimum length, so that a bar remains visible
constexpr std::size_t kOperationCharacters = 26;
constexpr double kCharacterWidth = 6.1;  // approximate character width in the labels' 11 px font
/// approximate character width in the 9 px font of small labels
constexpr double kSmallCharacterWidth = 5;

/// Returns a step that is 1, 2 or 5 times a power of ten.
double round_step(double least) {
  double step = 1;
  while (step * 10 <= least) step *= 10;
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (step * factor >= least) return step * factor;
  return step * 10;
}

/// Formats a time with as many decimal places as are needed to distinguish adjacent ticks.
std::string tick_text(double at_ns, double step_ns) {
  const double ms = at_ns / 1e6;
  const int digits = step_ns >= 1e6 ? 0 : step_ns >= 1e5 ? 1 : step_ns >= 1e4 ? 2 : 3;
  return fmt::format("{:.{}f}\xc2\xa0ms", ms, digits);
}
std::string short_time(std::int64_t ns) {
  return microseconds(static_cast<double>(ns) / 1e3);
}

class Picture {
 public:
  Picture(const CrashPage& page, const PicturePlan& plan, double width)
      : page_(page),
        plan_(plan),
        width_(width),
        tops_(plan.tops(width)),
        left_(PicturePlan::gutter(width)),
        right_(width - kRightMargin) {}

  std::string svg() {
    const double height = tops_.back();
    out_ = fmt::format(
        "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" data-width=\"{0:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
        width_, height, escape(spoken()));
    clip_ = fmt::format("clip{:.0f}", width_);
    out_ += fmt::format(
        "<clipPath id=\"{}\"><rect x=\"{}\" y=\"0\" width=\"{:.1f}\" height=\"{:.0f}\"/></clipPath>\n",
        clip_, left_, right_ - left_ + 6, height);
    labels();
    out_ += fmt::format("<g clip-path=\"url(#{})\">\n", clip_);
    group("quiet", quiet());
    group("ticks", ticks());
    group("flush-lines", flush_lines());
    group("tails", path("", tails()));
    group("bars", bars());
    group("flushes", flushes());
    group("media", media());
    group("unflushed", unflushed());
    group("series", series());
    group("operations", operations());
    group("veil", veil());
    group("fates", fates());
    group("cut", cut());
    group("states", states());
    group("pick", "");
    return out_ + "</g>\n</svg>\n";
  }

 private:
  double x(std::int64_t at_ns) const {
    return left_ + (plan_.scale.place(at_ns) - plan_.window_begin) /
                       (plan_.window_end - plan_.window_begin) * (right_ - left_);
  }
  bool seen(double from, double to) const { return to >= left_ - 4 && from <= right_ + 4; }
  void group(std::string_view css_class, const std::string& content) {
    out_ += fmt::format("<g class=\"{}\">{}</g>\n", css_class, content);
  }
  static std::string path(std::string_view css_class, const std::string& d) {
    if (d.empty()) return {};
    return fmt::format("<path class=\"{}\" d=\"{}\"/>", css_class, d);
  }
  double top_of(PictureRow::Kind kind) const {
    for (std::size_t i = 0; i < plan_.rows.size(); ++i)
      if (plan_.rows[i].kind == kind) return tops_[i];
    return 0;
  }
  double y_of(const PicturePlan::Place& place) const { return tops_[place.row] + place.y; }

  std::string spoken() const {
    std::size_t count = 0;
    for (const TimelineRequest& request : page_.requests)
      count += at_risk(request, page_.cut) ? 1 : 0;
    return fmt::format(
        "Timeline of {} requests and {} flushes; power cut at {}; {} writes at risk at the cut",
        page_.requests.size(), page_.flushes.size(), time_text(plan_.cut_ns), count);
  }

  void labels() {
    out_ += "<g class=\"labels\">";
    const double caption = PicturePlan::caption(width_);
    for (std::size_t i = 0; i < plan_.rows.size(); ++i) {
      const PictureRow& row = plan_.rows[i];
      if (row.kind != PictureRow::Kind::axis) {
        out_ += fmt::format(
            "<rect class=\"row\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", left_,
            tops_[i], right_ - left_, row.height);
      }
      const std::string text = row.heading.empty() ? row.label : row.heading + ": " + row.label;
      if (text.empty()) continue;
      if (caption > 0) {
        out_ += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>", tops_[i] - 3, escape(text));
      } else {
        const double middle = tops_[i] + row.height / 2 + 4;
        if (!row.heading.empty())
          out_ += fmt::format("<text class=\"heading\" x=\"0\" y=\"{:.1f}\">{}</text>", middle,
                              escape(row.heading));
        out_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                            left_ - 8, middle, escape(row.label));
      }
    }
    out_ += "</g>\n";
  }

  std::string quiet() const {
    std::string out;
    const auto& knots = plan_.scale.knots();
    for (const std::size_t i : plan_.scale.quiet()) {
      const double from = x(knots[i].at_ns), to = x(knots[i + 1].at_ns);
      if (!seen(from, to)) continue;
      out += fmt::format("<rect x=\"{:.1f}\" y=\"20\" width=\"{:.1f}\" height=\"11\"/>", from,
                         to - from);
      const std::string text = short_time(knots[i + 1].at_ns - knots[i].at_ns);
      if (to - from > kSmallCharacterWidth * static_cast<double>(text.size()))
        out += fmt::format("<text x=\"{:.1f}\" y=\"29\" text-anchor=\"middle\">{}</text>",
                           (from + to) / 2, text);
    }
    return out;
  }

  std::string ticks() const {
    std::string out;
    const double per_pixel = (plan_.window_end - plan_.window_begin) / (right_ - left_);
    const double step = round_step(std::max(per_pixel * 95, 1.0));
    const auto& knots = plan_.scale.knots();
    double last = left_ - 60;
    for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
      if (std::ranges::find(plan_.scale.quiet(), i) != plan_.scale.quiet().end()) continue;
      const double hidden =
          plan_.window_begin - knots[i].place;  // skips the part to the left of the window
      const double from = static_cast<double>(knots[i].at_ns) + std::max(hidden, 0.0);
      for (double at = std::ceil(from / step) * step; at <= static_cast<double>(knots[i + 1].at_ns);
           at += step) {
        const double here = x(static_cast<std::int64_t>(at));
        if (here > right_ - 20) return out;
        if (here < last + 72 || here < left_) continue;
        last = here;
        out += fmt::format(
            "<path d=\"M{0:.1f} 20V{1:.0f}\"/><text x=\"{0:.1f}\" y=\"13\" text-anchor=\"middle\">{2}</text>",
            here, tops_.back(), tick_text(at, step));
      }
    }
    return out;
  }

  /// Returns the vertical extent of the rows for a device's requests and flushes.
  std::pair<double, double> extent_of(std::size_t device) const {
    double top = tops_.back(), bottom = 0;
    for (std::size_t i = 0; i < plan_.rows.size(); ++i) {
      const PictureRow& row = plan_.rows[i];
      if ((row.kind != PictureRow::Kind::requests && row.kind != PictureRow::Kind::flushes) ||
          row.device != device)
        continue;
      top = std::min(top, tops_[i]);
      bottom = std::max(bottom, tops_[i] + row.height);
    }
    return {top, bottom};
  }
  std::string flush_lines() const {
    std::string d;
    for (const TimelineFlush& flush : page_.flushes) {
      if (!flush.acked) continue;
      const double at = x(flush.acked->at_ns);
      if (!seen(at, at)) continue;
      const auto [top, bottom] = extent_of(flush.device);
      d += fmt::format("M{:.1f} {:.1f}V{:.1f}", at, top, bottom);
    }
    return path("", d);
  }
  std::string flushes() const {
    std::string done, open, promised;
    for (const TimelineFlush& flush : page_.flushes) {
      std::string& kind = flush.promise ? promised : flush.acked ? done : open;
      const double from = x(flush.submitted.at_ns),
                   to = flush.acked ? x(flush.acked->at_ns) : from + 8;
      if (!seen(from, to)) continue;
      for (std::size_t i = 0; i < plan_.rows.size(); ++i) {
        if (plan_.rows[i].kind != PictureRow::Kind::flushes || plan_.rows[i].device != flush.device)
          continue;
        kind += fmt::format("M{:.1f} {:.1f}h{:.1f}", from, tops_[i] + 8,
                            std::max(to - from, kShortestBar));
      }
    }
    return path("done", done) + path("open", open) + path("promised", promised);
  }

  /// Returns the time of the power cut that ended the request's power cycle; nullopt if there was
  /// no such cut.
  std::optional<std::int64_t> power_went_at(const TimelineRequest& request) const {
    if (!request.cycle_ended) return std::nullopt;
    for (const auto& [moment, on] : page_.power)
      if (moment.event == *request.cycle_ended) return moment.at_ns;
    return std::nullopt;
  }
  double ended(const TimelineRequest& request) const {
    if (request.durable) return x(request.durable->at_ns);
    const auto ended_at = power_went_at(request);
    return ended_at ? x(*ended_at) : right_ + 4;
  }
  static bool is_read(const TimelineRequest& request) {
    return request.op == TimelineRequest::Op::read;
  }
  std::string tails() const {
    std::string d;
    for (std::size_t i = 0; i < page_.requests.size(); ++i) {
      const TimelineRequest& request = page_.requests[i];
      if (!request.acked || is_read(request)) continue;
      const double from = x(request.acked->at_ns), to = std::min(ended(request), right_ + 4);
      if (to > from && seen(from, to))
        d += fmt::format("M{:.1f} {:.1f}h{:.1f}", from, y_of(plan_.requests[i]), to - from);
    }
    return d;
  }
  std::pair<double, double> bar_of(const TimelineRequest& request) const {
    const double from = x(request.submitted.at_ns);
    const double to =
        request.acked ? x(request.acked->at_ns) : std::min(ended(request), right_ + 4);
    return {from, std::max(to, from + kShortestBar)};
  }
  std::string bars() const {
    std::string writes, reads;
    for (std::size_t i = 0; i < page_.requests.size(); ++i) {
      const auto [from, to] = bar_of(page_.requests[i]);
      if (!seen(from, to)) continue;
      (is_read(page_.requests[i]) ? reads : writes) +=
          fmt::format("M{:.1f} {:.1f}h{:.1f}", from, y_of(plan_.requests[i]), to - from);
    }
    return path("write", writes) + path("read", reads);
  }
  std::string media() const {
    std::string whole, damaged;
    for (std::size_t i = 0; i < page_.media.size(); ++i) {
      const double at = x(page_.media[i].at.at_ns);
      if (seen(at, at))
        (page_.media[i].whole ? whole : damaged) +=
            fmt::format("M{:.1f} {:.1f}v5", at, y_of(plan_.media[i]) - 2.5);
    }
    return path("whole", whole) + path("damaged", damaged);
  }

  /// Draws the total size of the writes that are not durable yet, as a step function of time.
  std::string unflushed() const {
    std::map<std::int64_t, double> changes;
    for (const TimelineRequest& request : page_.requests) {
      if (is_read(request)) continue;
      const double amount = 512.0 * request.sectors;
      changes[request.submitted.at_ns] += amount;
      if (request.durable) {
        changes[request.durable->at_ns] -= amount;
      } else if (const auto ended_at = power_went_at(request)) {
        changes[*ended_at] -= amount;
      }
    }
    double now = 0, most = 0;
    for (const auto& [at, change] : changes) {
      now += change;
      if (seen(x(at), x(at))) most = std::max(most, now);
    }
    if (most <= 0) return {};
    const double top = top_of(PictureRow::Kind::unflushed), bottom = top + 50, room = 44;
    const auto height = [&](double amount) { return bottom - room * amount / most; };
    std::string d = fmt::format("M{:.1f} {:.1f}", left_, bottom);
    now = 0;
    for (const auto& [at, change] : changes) {
      now += change;
      const double here = std::clamp(x(at), left_, right_ + 6);
      d += fmt::format("H{:.1f}V{:.1f}", here, height(now));
    }
    d += fmt::format("H{:.1f}V{:.1f}Z", right_ + 6, bottom);
    return path("", d) + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", left_ + 4,
                                     top + 11, "at most " + bytes(most));
  }

  /// Draws each series. The vertical scale of a series depends on its largest visible value.
  std::string series() const {
    std::string out;
    for (std::size_t row = 0; row < plan_.rows.size(); ++row) {
      if (plan_.rows[row].kind != PictureRow::Kind::series) continue;
      const TimelineSeries& each = page_.series[plan_.rows[row].series];
      out += series_in(each, tops_[row], plan_.rows[row].height);
    }
    return out;
  }
  std::string series_in(const TimelineSeries& each, double top, double height) const {
    using Shape = TimelineSeries::Shape;
    double most = 0;
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      const double from = x(each.values[i].first),
                   to = i + 1 < each.values.size() && each.shape == Shape::steps
                            ? x(each.values[i + 1].first)
                            : from;
      if (seen(from, to)) most = std::max(most, each.values[i].second);
    }
    if (most <= 0) return {};
    const double bottom = top + height - 2, room = height - 16;  // the space below the text
    std::string d;
    for (const auto& [at_ns, value] : each.values) {
      const double at = std::clamp(x(at_ns), left_ - 4, right_ + 6),
                   y = bottom - room * value / most;
      if (each.shape == Shape::spikes) {
        if (seen(x(at_ns), x(at_ns))) d += fmt::format("M{:.1f} {:.1f}V{:.1f}", at, bottom, y);
      } else if (d.empty()) {
        d = fmt::format("M{:.1f} {:.1f}", at, y);
      } else {
        d += each.shape == Shape::steps ? fmt::format("H{:.1f}V{:.1f}", at, y)
                                        : fmt::format("L{:.1f} {:.1f}", at, y);
      }
    }
    if (each.shape == Shape::steps) d += fmt::format("H{:.1f}", right_ + 6);
    return path(each.shape == Shape::steps  ? "steps"
                : each.shape == Shape::line ? "head"
                                            : "spikes",
                d) +
           fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", left_ + 4, top + 11,
                       escape("at most " + value_text(each.unit, most)));
  }

  std::string operations() const {
    std::string points, ticks_, out;
    const double top = top_of(PictureRow::Kind::operations);
    double free_from[2] = {left_, left_};
    for (const TimelineMark& mark : page_.marks) {
      const double at = x(mark.at.at_ns);
      if (!seen(at, at)) continue;
      if (mark.promise) {
        points += fmt::format("M{:.1f} {:.1f}l4.5 -7h-9z", at, top + 38);
      } else {
        ticks_ += fmt::format("M{:.1f} {:.1f}v8", at, top + 30);
      }
      const std::string text = mark_label(mark);
      const double length =
          kCharacterWidth * static_cast<double>(std::min(text.size(), kOperationCharacters + 1));
      for (int line = 0; line < 2; ++line) {
        // The label of an event before the cut must end before the line that marks the cut.
        const double cut = x(plan_.cut_ns),
                     end = at <= cut + 0.1 ? std::min(cut - 4, right_) : right_;
        const double from = std::clamp(at - 5, left_ + 2, std::max(end - length, left_ + 2));
        if (from < free_from[line] || from > at) continue;
        out += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                           mark.promise ? "promise" : "", from, top + 26 - 13 * line, escape(text));
        free_from[line] = from + length + 8;
        break;
      }
    }
    return path("point", points) + path("tick", ticks_) + out;
  }
  std::string mark_label(const TimelineMark& mark) const {
    std::string text = mark.text;
    if (mark.operation && *mark.operation < page_.operations.size())
      text = page_.operations[*mark.operation].text;
    text = valid_utf8(text);
    if (text.size() <= kOperationCharacters) return text;
    std::size_t end = kOperationCharacters;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return text.substr(0, end) + "\xe2\x80\xa6";
  }

  std::int64_t time_before(std::uint64_t event) const {
    if (times_.empty()) {
      for_each_moment(page_, [&](const Moment& moment) { times_[moment.event] = moment.at_ns; });
      times_.emplace(0, 0);
    }
    auto after = times_.lower_bound(event);
    return after == times_.begin() ? after->second : std::prev(after)->second;
  }
  std::string states() const {
    std::string kept, failed, unknown;
    for (std::size_t row = 0; row < plan_.rows.size(); ++row) {
      if (plan_.rows[row].kind != PictureRow::Kind::states) continue;
      const double y = tops_[row] + 8;
      for (const TimelineState& state : page_.states) {
        if (state.strategy != plan_.rows[row].strategy) continue;
        const double at = x(time_before(state.event));
        if (!seen(at, at)) continue;
        if (state.outcome == TimelineState::Outcome::failed)
          failed += fmt::format("M{:.1f} {:.1f}l5 5-5 5-5-5z", at, y - 5);
        if (state.outcome == TimelineState::Outcome::kept)
          kept += fmt::format("M{:.1f} {:.1f}h0", at, y);
        if (state.outcome == TimelineState::Outcome::unknown)
          unknown += fmt::format("M{:.1f} {:.1f}v8", at, y - 4);
      }
    }
    return path("kept", kept) + path("unknown", unknown) + path("failed", failed);
  }

  /// Dims the picture after the cut, because later events of the recording did not happen in this
  /// state. Draws nothing if the recording's own power cut is at the same place.
  std::string veil() const {
    const double from = x(plan_.cut_ns),
                 to = page_.recovery ? x(page_.recovery->at_ns) : right_ + 6;
    std::string out;
    const bool happened = std::ranges::any_of(page_.power, [&](const auto& change) {
      return !change.second &&
             (change.first.event == page_.cut || change.first.event + 1 == page_.cut);
    });
    if (!happened && to > from)
      out = fmt::format("<rect x=\"{:.1f}\" y=\"32\" width=\"{:.1f}\" height=\"{:.1f}\"/>", from,
                        to - from, tops_.back() - 32);
    return out;
  }

  std::string fates() const {
    Fates all;
    const TimelineState* state = page_.shown ? &page_.states[*page_.shown] : nullptr;
    for (std::size_t i = 0; i < page_.requests.size(); ++i) {
      const TimelineRequest& request = page_.requests[i];
      if (!at_risk(request, page_.cut)) continue;
      all.add(fate_of(state, i), bar_of(request), std::min(x(plan_.cut_ns), right_ + 4),
              y_of(plan_.requests[i]));
    }
    if (state != nullptr) {
      for (const std::size_t i : state->undone) {
        const double at = x(page_.media[i].at.at_ns);
        if (seen(at, at)) all.cross(at, y_of(plan_.media[i]));
      }
    }
    return path("risk-tail", all.tails[0]) + path("kept-tail", all.tails[1]) +
           path("torn-tail", all.tails[2]) + path("lost-tail", all.tails[3]) +
           path("risk", all.marks[0]) + path("kept", all.marks[1]) + path("torn", all.marks[2]) +
           path("lost", all.marks[3]);
  }
  /// The shapes of the marks, by fate: a diamond (unknown), a filled circle (kept), a triangle with
  /// a cross (torn), or a cross (lost).
  struct Fates {
    std::array<std::string, 4> tails, marks;  // by fate
    void add(Fate fate, std::pair<double, double> bar, double cut, double y) {
      const double from = bar.first;
      const auto which = static_cast<std::size_t>(fate);
      tails.at(which) +=
          fmt::format("M{:.1f} {:.1f}H{:.1f}", from, y, std::max(cut, from + kShortestBar));
      if (fate == Fate::unknown)
        marks.at(which) += fmt::format("M{:.1f} {:.1f}l4 4-4 4-4-4z", from, y - 4);
      if (fate == Fate::kept) marks.at(which) += fmt::format("M{:.1f} {:.1f}h0", from, y);
      if (fate == Fate::torn)
        marks.at(which) += fmt::format("M{:.1f} {:.1f}l5 8h-10z", from, y - 4.5);
      if (fate == Fate::lost) cross(from, y);
    }
    void cross(double at, double y) {
      marks.at(static_cast<std::size_t>(Fate::lost)) +=
          fmt::format("M{:.1f} {:.1f}l7 7m0-7l-7 7", at - 3.5, y - 3.5);
    }
  };

  std::string cut() const {
    const double at = x(plan_.cut_ns);
    std::string out =
        fmt::format("<path class=\"line\" d=\"M{:.1f} 18V{:.0f}\"/>", at, tops_.back());
    if (page_.shown) {
      std::string stops;
      for (const auto& [device, moment] : page_.states[*page_.shown].stopped) {
        for (std::size_t row = 0; row < plan_.rows.size(); ++row) {
          if (plan_.rows[row].device == device && plan_.rows[row].kind == PictureRow::Kind::media)
            stops += fmt::format("M{:.1f} {:.1f}v{:.1f}h-5m5 0h5", x(moment.at_ns), tops_[row],
                                 plan_.rows[row].height);
        }
      }
      out += path("stopped", stops);
    }
    const bool left = at > (left_ + right_) / 2, whole = !page_.shown && page_.cut == page_.events;
    return out + fmt::format("<text x=\"{:.1f}\" y=\"43\" text-anchor=\"{}\">{} {}</text>",
                             left ? at - 5 : at + 5, left ? "end" : "start",
                             whole ? "end" : "power cut", time_text(plan_.cut_ns));
  }

  const CrashPage& page_;
  const PicturePlan& plan_;
  double width_;
  std::vector<double> tops_;
  double left_, right_;
  mutable std::map<std::uint64_t, std::int64_t> times_;  // by event
  std::string out_, clip_;
};

}  // namespace

std::string draw_picture(const CrashPage& page, const PicturePlan& plan, double width) {
  return Picture(page, plan, width).svg();
}

std::string value_text(TimelineSeries::Unit unit, double value) {
  switch (unit) {
    case TimelineSeries::Unit::requests:
      return fmt::format("{:.0f}", value);
    case TimelineSeries::Unit::bytes:
      return bytes(value);
    case TimelineSeries::Unit::bytes_per_second:
      return bytes(value) + "/s";
    case TimelineSeries::Unit::cylinders:
      return fmt::format("{:.0f} cylinders", value);
  }
  return {};
}

std::string time_text(std::int64_t at_ns) {
  const double ms = static_cast<double>(at_ns) / 1e6;
  if (ms >= 10'000) return fmt::format("{:.3f}\xc2\xa0s", ms / 1e3);
  return fmt::format("{:.3f}\xc2\xa0ms", ms);
}

}  // namespace headcrash::report
