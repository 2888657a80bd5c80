// LFS-19 and LFS-20: the number of segments cleaned at a time, and the segment size (figures 5-8
// and 5-9). Both figures show the cost-benefit policy with age sort at a utilization of 75 %.
#include <algorithm>

#include "harness/papers/judge.h"
#include "harness/papers/rosenblum92/simulator_figures.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr double kFlat = .1;
constexpr double kFileKb = 4;

/// A curve whose horizontal axis is an option other than the utilization.
struct Swept {
  Series series;
  double lowest = 0, highest = 0;
};

Swept swept(SimulatorFigures& figures, const Curve& curve, const std::vector<std::uint32_t>& values,
            double unit, const std::function<void(SimulatorOptions&, std::uint32_t)>& set) {
  std::vector<SimulatorOptions> all;
  for (const std::uint32_t value : values) {
    all.push_back(curve.options);
    set(all.back(), value);
  }
  figures.runs().prepare(all);
  Swept result{.series = {.name = curve.name}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double cost = figures.run(all[i]).cost();
    result.series.points.emplace_back(values[i] * unit, cost);
    result.lowest = i == 0 ? cost : std::min(result.lowest, cost);
    result.highest = std::max(result.highest, cost);
  }
  return result;
}

std::vector<Curve> both_patterns(const SimulatorFigures& figures) {
  const SegmentAge age = age_readings().front().age;
  return {{"LFS uniform", figures.cost_benefit(kUniform, age)},
          {"LFS hot-and-cold", figures.cost_benefit(kHotCold90To10, age)}};
}

void tell(ClaimAnswer& answer, const Series& series, const std::string& unit) {
  for (const auto& [x, y] : series.points)
    answer.numbers.push_back(
        {fmt::format("{}, {:g} {}", series.name, x, unit), "write cost", "", {}, y, ""});
}

ClaimAnswer amount(SimulatorFigures& figures) {
  ClaimAnswer answer{
      .id = "LFS-19", .part = "simulator", .title = "Files cleaned at a time (figure 5-8)"};
  std::vector<std::uint32_t> amounts;
  for (std::uint32_t files = 512; files <= 32768; files *= 2) amounts.push_back(files);
  Plot plot{"figure5-8", "Effect of the amount of data cleaned", "files cleaned at a time",
            "write cost", true};
  for (const Curve& curve : both_patterns(figures)) {
    const Swept all =
        swept(figures, curve, amounts, 1, [&](SimulatorOptions& options, std::uint32_t files) {
          options.files_cleaned_at_once = figures.scaled_files(files);
        });
    tell(answer, all.series, "files");
    plot.series.push_back(all.series);
    const auto& points = all.series.points;
    const double few = points[1].second, many = points[points.size() - 2].second,
                 most = points.back().second;
    add_rule(answer, curve.name + ": flat (+- 10 %) from 1,024 to 16,384 files",
             {{"1,024", few}, {"16,384", many}}, [&] { return std::abs(many / few - 1) <= kFlat; });
    add_rule(answer, curve.name + ": a slight rise for very many files",
             {{"2,048", points[2].second}, {"32,768", most}},
             [&] { return most > points[2].second; });
  }
  plot.series.push_back(level("Unix improved", kUnixImproved, {512, 32768}));
  answer.plots.push_back(plot);
  return answer;
}

ClaimAnswer segment_size(SimulatorFigures& figures) {
  ClaimAnswer answer{.id = "LFS-20", .part = "simulator", .title = "Segment size (figure 5-9)"};
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t files = 16; files <= 2048; files *= 2) sizes.push_back(files);
  Plot plot{"figure5-9", "Effect of segment size on write cost", "segment size, KB", "write cost",
            true};
  for (const Curve& curve : both_patterns(figures)) {
    const Swept all =
        swept(figures, curve, sizes, kFileKb, [&](SimulatorOptions& options, std::uint32_t files) {
          options.files_per_segment = figures.scaled_files(files);
        });
    tell(answer, all.series, "KB");
    plot.series.push_back(all.series);
    add_rule(answer, curve.name + ": flat (the ends differ by at most 10 % from the middle)",
             {{"lowest", all.lowest}, {"highest", all.highest}},
             [&] { return (all.highest - all.lowest) / (all.highest + all.lowest) <= kFlat; });
    add_rule(
        answer, curve.name + ": smaller segments cost slightly less",
        {{"64 KB", all.series.points.front().second}, {"8 MB", all.series.points.back().second}},
        [&] { return all.series.points.front().second < all.series.points.back().second; });
  }
  plot.series.push_back(level("Unix improved", kUnixImproved, {64, 8192}));
  answer.plots.push_back(plot);
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> parameter_claims(SimulatorFigures& figures) {
  return {amount(figures), segment_size(figures)};
}

}  // namespace headcrash::experiment::rosenblum92
