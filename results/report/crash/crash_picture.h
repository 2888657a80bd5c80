#pragma once
// The picture of crash_page.h as SVG: rows on one time axis, drawn for the state in question.
//
//   |gutter |plot                         |
//   |label  | row: y, height              |     wide paper: labels beside the rows
//
//   |label                |
//   |plot                 |                     narrow: above them, without a gutter
//
// A quiet stretch of time is drawn shorter than it was, and says how long it was (TimeScale).

#include <string>
#include <vector>

#include "results/report/crash/crash_page.h"

namespace headcrash::report {

/// Time to places: as it runs, but that nothing longer than a part of the whole may be quiet.
class TimeScale {
 public:
  struct Knot {
    std::int64_t at_ns = 0;
    double place = 0;
  };
  TimeScale() = default;
  /// `times`: of everything that happens; not empty.
  explicit TimeScale(std::vector<std::int64_t> times);

  double place(std::int64_t at_ns) const;
  const std::vector<Knot>& knots() const {
    return knots_;
  }  ///< ascending; straight lines between them
  /// Indices into knots() of those that begin a shortened stretch.
  const std::vector<std::size_t>& quiet() const { return quiet_; }
  double length() const { return knots_.back().place; }

 private:
  std::vector<Knot> knots_{{0, 0}, {1, 1}};
  std::vector<std::size_t> quiet_;
};

struct PictureRow {
  enum class Kind : std::uint8_t {
    axis,
    operations,
    requests,
    flushes,
    media,
    unflushed,
    states,
    series
  } kind = Kind::axis;
  std::string label;
  std::string heading;  ///< of the device whose first row it is
  std::size_t device = 0;
  BlockClass block = BlockClass::other;
  std::string strategy;
  std::size_t series = 0;  ///< of the page's
  double height = 0;
};

/// What both the drawing here and that of the script go by.
struct PicturePlan {
  TimeScale scale;
  double window_begin = 0, window_end = 1;  ///< places: what is shown first
  std::vector<PictureRow> rows;
  struct Place {
    std::size_t row = 0;
    double y = 0;  ///< within the row
  };
  std::vector<Place> requests, media;  ///< of the page's
  std::int64_t cut_ns = 0;
  /// For a width on paper: the tops of the rows, and behind them the height of all.
  static constexpr double kNarrow = 560;
  static double gutter(double width);
  static double caption(double width);
  std::vector<double> tops(double width) const;
};

// crash_plan.cc
PicturePlan plan_picture(const CrashPage& page);

/// Calls visit(moment) for everything that the recording has, kind by kind.
template <typename Visit>
void for_each_moment(const CrashPage& page, const Visit& visit) {
  const auto both = [&](const auto& request) {
    visit(request.submitted);
    if (request.acked) visit(*request.acked);
  };
  for (const TimelineRequest& request : page.requests) both(request);
  for (const TimelineFlush& flush : page.flushes) both(flush);
  for (const TimelineMediaWrite& media : page.media) visit(media.at);
  for (const TimelineMark& mark : page.marks) visit(mark.at);
  for (const auto& [moment, on] : page.power) visit(moment);
}

/// `width` in CSS pixels.
std::string draw_picture(const CrashPage& page, const PicturePlan& plan, double width);

std::string_view name(BlockClass block);

/// "12.3 MiB/s", "400 cylinders".
std::string value_text(TimelineSeries::Unit unit, double value);

/// "12.345 ms": of the recording's clock.
std::string time_text(std::int64_t at_ns);

}  // namespace headcrash::report
