// Draws strips as SVG (io_picture.h). Marks are placed on a grid of half pixels, and marks that
// coincide are written only once, so that 20 000 requests take little space.
#include "results/report/frame/io_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "results/report/frame/drawing.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/palette.h"

namespace headcrash::report {
namespace {

constexpr double kBytesOfSector = 512;
// Width of the drawing in CSS pixels: in the page's column, and on a phone that is 390 pixels wide.
constexpr double kWidePaper = 1080, kNarrowPaper = 358;
constexpr double kStretchGap = 26, kStripHeight = 46, kStripGap = 24, kTop = 20;

/// An interval of time, and the part of the horizontal axis that it takes.
struct TimeSpan {
  double from_ms, to_ms, left, right;
  const char* name;
  double x(double ms) const {
    return left + (right - left) * (ms - from_ms) / std::max(to_ms - from_ms, 1e-9);
  }
  bool has(double ms) const { return ms >= from_ms && ms <= to_ms; }
};

bool is_request(const IoPoint& point) {
  return point.op != "media";
}

template <typename Add>
std::vector<double> binned(const IoPanel& panel, double from_ms, double to_ms, std::size_t bins,
                           Add add) {
  std::vector<double> sums(bins, 0);
  const double width = (to_ms - from_ms) / static_cast<double>(bins);
  if (width <= 0) return sums;
  for (const IoPoint& point : panel.points)
    if (is_request(point)) add(point, sums, width);
  return sums;
}

/// Formats a count, such as "0", "250k" or "1.2M".
std::string short_count(double value) {
  if (value >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.3g}", value);
}

class Strips {
 public:
  Strips(const IoPanel& panel, bool narrow)
      : panel_(panel),
        sample_(sample_of(panel)),
        width_(narrow ? kNarrowPaper : kWidePaper),
        left_(narrow ? 44 : 60),
        narrow_(narrow) {
    lay_out();
  }

  std::string svg() {
    double y = kTop;
    scatter(y, narrow_ ? 170 : 230);
    if (sample_.known) {
      strip(
          y, "Throughput",
          [&](const TimeSpan& s) { return throughput(panel_, s.from_ms, s.to_ms, bins(s)); },
          [](double v) {
            return v < 1e9 ? fmt::format("{:.3g} MB/s", v / 1e6)
                           : fmt::format("{:.3g} GB/s", v / 1e9);
          });
      strip(
          y, "Requests in the device",
          [&](const TimeSpan& s) { return queue_depth(panel_, s.from_ms, s.to_ms, bins(s)); },
          [](double v) { return fmt::format("{:.2g}", v); });
    }
    if (sample_.whole())
      strip(
          y, "Distance to the next request, sectors",
          [&](const TimeSpan& s) { return distances(panel_, s.from_ms, s.to_ms, bins(s)); },
          short_count);
    time_axis(y);
    if (spans_.size() > 1) {
      const double x = (spans_[0].right + spans_[1].left) / 2;
      body_ += fmt::format("<path class=\"cut\" d=\"M{0:.1f} {1}V{2:.1f}\"/>\n", x, kTop - 4, y);
    } else if (panel_.cut_ms) {
      const double x = spans_[0].x(*panel_.cut_ms);
      body_ += fmt::format("<path class=\"cut\" d=\"M{0:.1f} {1}V{2:.1f}\"/>\n", x, kTop - 4, y);
    }
    return fmt::format(
        "<svg class=\"io\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"requests of {} over time\">\n{}</svg>\n",
        width_, y + 34, escape(panel_.key), body_);
  }

 private:
  /// Returns the number of bins, at least 8. A bin should contain several sampled requests, because
  /// a rate computed from a single request is meaningless.
  std::size_t bins(const TimeSpan& s) const {
    const double by_paper = (s.right - s.left) / 4,
                 by_sample = static_cast<double>(sample_.requests) / 3;
    return static_cast<std::size_t>(std::max(8.0, std::min(by_paper, by_sample)));
  }

  void lay_out() {
    double last = panel_.cut_ms.value_or(0), first_after = 1e300;
    for (const IoPoint& point : panel_.points) {
      last = std::max(last, point.at_ms);
      if (panel_.cut_ms && point.at_ms > *panel_.cut_ms)
        first_after = std::min(first_after, point.at_ms);
      lbas_ = std::max(lbas_, static_cast<double>(point.lba + point.sectors));
    }
    const double right = width_ - (narrow_ ? 4 : 12);
    if (first_after < 1e300) {
      const double middle = left_ + (right - left_) * 0.66;
      spans_ = {{0, std::max(*panel_.cut_ms, 1.0), left_, middle - kStretchGap / 2, "workload"},
                {first_after, std::max(last, first_after + 1), middle + kStretchGap / 2, right,
                 "recovery"}};
    } else {
      spans_ = {{0, std::max(last, 1.0), left_, right, "workload"}};
    }
    lbas_ = std::max(lbas_, 1.0);
  }

  void frame(const TimeSpan& s, double top, double height) {
    body_ += fmt::format("<path class=\"frame\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>\n", s.left,
                         top, top + height, s.right);
  }

  void scatter(double& y, double height) {
    const double bottom = y + height;
    body_ += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\">LBA (512 B sectors)</text>\n",
                         narrow_ ? 0 : 4, y - 7);
    const double step = tick_step(lbas_);
    for (double lba = 0; lba <= lbas_ * 1.001; lba += step) {
      const double at = bottom - height * lba / lbas_;
      body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                           left_ - 6, at + 4, short_count(lba));
      for (const TimeSpan& s : spans_)
        body_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", s.left, at,
                             s.right);
    }
    for (const TimeSpan& s : spans_) {
      if (spans_.size() > 1)
        body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                             s.right - (&s == &spans_.front() ? 8 : 0), y - 7, s.name);
      for (const char* op : {"media", "write", "read", "flush"}) marks(s, op, y, height);
      frame(s, y, height);
    }
    if (panel_.cut_ms) {
      const double x =
          spans_.size() > 1 ? (spans_[0].right + spans_[1].left) / 2 : spans_[0].x(*panel_.cut_ms);
      body_ += fmt::format(
          "<text class=\"cut-text\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">cut</text>\n",
          x, kTop - 7);
    }
    y = bottom + kStripGap;
  }

  void marks(const TimeSpan& s, const std::string& op, double top, double height) {
    std::set<std::pair<int, int>> places;
    for (const IoPoint& point : panel_.points) {
      if (point.op != op || !s.has(point.at_ms)) continue;
      const double at = op == "flush" ? top + height - 5
                                      : top + height * (1 - static_cast<double>(point.lba) / lbas_);
      places.emplace(static_cast<int>(std::lround(2 * s.x(point.at_ms))),
                     static_cast<int>(std::lround(2 * at)));
    }
    if (places.empty()) return;
    std::string path;
    for (const auto& [x2, y2] : places) {
      const double x = x2 / 2.0, y = y2 / 2.0;
      if (op == "read") {
        path += fmt::format("M{:g} {:g}l3 3m0-3l-3 3", x - 1.5, y - 1.5);
      } else if (op == "flush") {
        path += fmt::format("M{:g} {:g}v5", x, y);
      } else {
        path += fmt::format("M{:g} {:g}h0", x, y);
      }
    }
    const std::string colour =
        op == "write" ? fmt::format(" stroke=\"var(--fs{})\"", filesystem_colour(panel_.filesystem))
                      : "";
    body_ += fmt::format("<path class=\"{}\"{} d=\"{}\"/>\n", op, colour, path);
  }

  /// Draws a strip in which the workload and the recovery each have their own time scale and their
  /// own vertical scale. The vertical scale is labelled with its maximum.
  template <typename Values, typename Words>
  void strip(double& y, const char* name, Values values, Words words) {
    std::vector<std::vector<double>> all;
    double most_of_all = 0;
    for (const TimeSpan& s : spans_) {
      all.push_back(values(s));
      most_of_all = std::max(most_of_all, std::ranges::max(all.back()));
    }
    if (most_of_all <= 0) return;
    body_ += fmt::format("<text class=\"name\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                         narrow_ ? 0.0 : 4.0, y - 6, name);
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const TimeSpan& s = spans_[i];
      const double most = std::ranges::max(all[i]),
                   step = (s.right - s.left) / static_cast<double>(all[i].size());
      std::string area = fmt::format("M{:.1f} {:.1f}", s.left, y + kStripHeight);
      for (const double v : all[i])
        area +=
            fmt::format("V{:.1f}h{:.2f}", y + kStripHeight * (most > 0 ? 1 - v / most : 1), step);
      body_ += fmt::format("<path class=\"area\" d=\"{}V{:.1f}z\"/>\n", area, y + kStripHeight);
      if (!narrow_ || i + 1 == spans_.size())
        body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">most {}</text>\n",
                             s.right, y - 6, words(most));
      frame(s, y, kStripHeight);
    }
    y += kStripHeight + kStripGap;
  }

  void time_axis(double& y) {
    y -= kStripGap;
    for (const TimeSpan& s : spans_) {
      const double span = s.to_ms - s.from_ms;
      const bool seconds = span >= 2000;
      const double scale = seconds ? 1000 : 1,
                   step = tick_step(span / scale) * (s.right - s.left < 200 ? 2 : 1);
      for (double at = 0; at <= span / scale * 1.0001; at += step) {
        const double x = s.x(s.from_ms + at * scale);
        body_ += fmt::format(
            "<path class=\"frame\" d=\"M{0:.1f} {1:.1f}v4\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" text-anchor=\"middle\">{3:g}</text>\n",
            x, y, y + 16, at);
      }
      const bool after = s.from_ms > 0;
      body_ +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}{}</text>\n",
                      after ? s.right : (s.left + s.right) / 2, y + 30, after ? "end" : "middle",
                      seconds ? "s" : "ms", after ? " of the recovery" : " of model time");
    }
  }

  const IoPanel& panel_;
  IoSample sample_;
  double width_, left_, lbas_ = 0;
  bool narrow_;
  std::vector<TimeSpan> spans_;
  std::string body_;
};

}  // namespace

IoSample sample_of(const IoPanel& panel) {
  IoSample sample;
  sample.requests = static_cast<std::size_t>(std::ranges::count_if(panel.points, is_request));
  sample.known = panel.requests > 0 && sample.requests > 0;
  if (sample.known)
    sample.scale =
        std::max(1.0, static_cast<double>(panel.requests) / static_cast<double>(sample.requests));
  return sample;
}

std::vector<double> queue_depth(const IoPanel& panel, double from_ms, double to_ms,
                                std::size_t bins) {
  const double scale = sample_of(panel).scale;
  return binned(
      panel, from_ms, to_ms, bins,
      [&](const IoPoint& point, std::vector<double>& sums, double width) {
        if (!point.response_us) return;
        const double begin = point.at_ms - from_ms, end = begin + *point.response_us / 1e3;
        for (auto i = static_cast<std::size_t>(std::max(0.0, begin / width)); i < sums.size();
             ++i) {
          const double low = static_cast<double>(i) * width;
          if (low >= end) break;
          sums[i] +=
              scale * std::max(0.0, std::min(end, low + width) - std::max(begin, low)) / width;
        }
      });
}

std::vector<double> throughput(const IoPanel& panel, double from_ms, double to_ms,
                               std::size_t bins) {
  const double scale = sample_of(panel).scale;
  return binned(panel, from_ms, to_ms, bins,
                [&](const IoPoint& point, std::vector<double>& sums, double width) {
                  if (point.at_ms < from_ms || point.at_ms > to_ms) return;
                  const auto bin = std::min(
                      sums.size() - 1, static_cast<std::size_t>((point.at_ms - from_ms) / width));
                  sums[bin] +=
                      scale * static_cast<double>(point.sectors) * kBytesOfSector / (width / 1e3);
                });
}

std::vector<double> distances(const IoPanel& panel, double from_ms, double to_ms,
                              std::size_t bins) {
  std::vector<const IoPoint*> order;
  for (const IoPoint& point : panel.points)
    if (is_request(point) && point.op != "flush") order.push_back(&point);
  std::ranges::stable_sort(order, {}, &IoPoint::at_ms);
  std::vector<double> sums(bins, 0);
  std::vector<std::size_t> counts(bins, 0);
  const double width = (to_ms - from_ms) / static_cast<double>(bins);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i]->at_ms < from_ms || order[i]->at_ms > to_ms || width <= 0) continue;
    const auto bin =
        std::min(bins - 1, static_cast<std::size_t>((order[i]->at_ms - from_ms) / width));
    sums[bin] +=
        std::abs(static_cast<double>(order[i]->lba - order[i - 1]->lba - order[i - 1]->sectors));
    ++counts[bin];
  }
  for (std::size_t i = 0; i < bins; ++i)
    if (counts[i] > 0) sums[i] /= static_cast<double>(counts[i]);
  return sums;
}

std::string io_picture(const IoPanel& panel) {
  return "<div class=\"wide\">" + Strips(panel, false).svg() + "</div><div class=\"narrow\">" +
         Strips(panel, true).svg() + "</div>\n";
}

std::string io_legend() {
  const auto key = [](const char* drawing, const char* words) {
    return fmt::format(
        "<span><svg class=\"io\" viewBox=\"0 0 16 10\" width=\"16\" height=\"10\" aria-hidden=\"true\">{}</svg> {}</span> ",
        drawing, words);
  };
  return "<p class=\"legend\">" +
         key("<path class=\"write\" stroke=\"currentColor\" d=\"M4 5h0M11 5h0\"/>",
             "write, in the file system's colour") +
         key("<path class=\"read\" d=\"M5 2l6 6m0-6l-6 6\"/>", "read") +
         key("<path class=\"media\" d=\"M4 5h0M11 5h0\"/>", "written to the medium") +
         key("<path class=\"flush\" d=\"M4 1v8M11 1v8\"/>", "flush") +
         key("<path class=\"cut\" d=\"M8 0v10\"/>", "power cut") + "</p>\n";
}

}  // namespace headcrash::report
