#pragma once
// The SVG picture of crash_page.h: rows on one time axis, drawn for the requested state.
//
//   |gutter |plot                         |
//   |label  | row: y, height              |     wide paper: labels next to the rows
//
//   |label                |
//   |plot                 |                     narrow: above them, without a gutter
//
// A quiet interval is drawn shorter than its duration and is labelled with this duration
// (TimeScale).

#include <string>
#include <vector>

#include "results/report/crash/crash_page.h"

namespace headcrash::report {

/// Maps times to horizontal places. The scale is linear, except that a quiet interval takes at most
/// a fixed fraction of the axis.
class TimeScale {
 public:
  struct Knot {
    std::int64_t at_ns = 0;
    double place = 0;
  };
  TimeScale() = default;
  /// Computes the scale from the list of all event times, which must not be empty.
  explicit TimeScale(std::vector<std::int64_t> times);

  double place(std::int64_t at_ns) const;
  /// Returns the knots, ascending. Between two knots, the scale is linear.
  const std::vector<Knot>& knots() const { return knots_; }
  /// Returns indices into knots() at which shortened intervals begin.
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
  std::string heading;  ///< name of the device in its first row; otherwise, empty
  std::size_t device = 0;
  BlockClass block = BlockClass::other;
  std::string strategy;
  std::size_t series = 0;  ///< index into the page's series
  double height = 0;
};

/// The layout of the picture. The page's script uses the same layout.
struct PicturePlan {
  TimeScale scale;
  /// range of the time scale (TimeScale) that is visible at first
  double window_begin = 0, window_end = 1;
  std::vector<PictureRow> rows;
  struct Place {
    std::size_t row = 0;
    double y = 0;  ///< vertical position within the row
  };
  std::vector<Place> requests, media;  ///< positions of the page's requests and media writes
  std::int64_t cut_ns = 0;
  static constexpr double kNarrow = 560;
  static double gutter(double width);
  static double caption(double width);
  /// Returns the top of each row in a picture of the given width, followed by the total height.
  std::vector<double> tops(double width) const;
};

// ---- crash_plan.cc
PicturePlan plan_picture(const CrashPage& page);

/// Calls visit(moment) for all events of the recording. Events of the same kind follow each other,
/// so the order is not that of time.
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

/// Draws the picture; `width` is in CSS pixels.
std::string draw_picture(const CrashPage& page, const PicturePlan& plan, double width);

std::string_view name(BlockClass block);

/// Formats a value with its unit, such as "12.3 MiB/s" or "400 cylinders".
std::string value_text(TimelineSeries::Unit unit, double value);

/// Formats a time of the recording's clock, such as "12.345 ms".
std::string time_text(std::int64_t at_ns);

}  // namespace headcrash::report
