// Draws response time against throughput, latencies, and requests over time (bench_plots.h).
#include "results/report/bench/bench_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <tuple>

#include "results/report/bench/bench_answer.h"
#include "results/report/bench/ranking.h"
#include "results/report/frame/drawing.h"
#include "results/report/frame/html.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kOthersMost = 12;  // maximum number of plots of each kind
constexpr std::string_view kDeviceSize = "size in bytes";

/// Contests that differ only in the value of one parameter.
struct Series {
  const Contest* first = nullptr;
  std::string rest;
  std::map<std::int64_t, const Contest*> by_value;
};

std::vector<Series> series_of(const Benchmark& bench, std::string_view parameter) {
  std::vector<Series> all;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places;
  for (const Contest& contest : bench.contests) {
    const auto found = value_in(contest.parameters, parameter);
    if (!found || contest.phase.empty()) continue;
    const auto [place, added] = places.emplace(
        std::tuple(contest.device, contest.workload, found->rest, contest.phase), all.size());
    if (added) all.push_back({&contest, found->rest, {}});
    all[place->second].by_value[found->value] = &contest;
  }
  std::erase_if(all, [](const Series& each) { return each.by_value.size() < 2; });
  return all;
}

/// Groups contests that differ only in the device's size into series.
std::vector<Series> sizes_of(const Benchmark& bench) {
  std::vector<Series> all;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places;
  for (const Contest& contest : bench.contests) {
    if (contest.device_bytes <= 0 || contest.phase.empty()) continue;
    const auto [place, added] = places.emplace(
        std::tuple(contest.profile, contest.workload, contest.parameters, contest.phase),
        all.size());
    if (added) all.push_back({&contest, contest.parameters, {}});
    all[place->second].by_value[contest.device_bytes] = &contest;
  }
  std::erase_if(all, [](const Series& each) { return each.by_value.size() < 2; });
  return all;
}

/// Contests that differ only in the age of the file system.
struct Ages {
  const Contest* first = nullptr;
  std::string what;
  std::map<std::int64_t, const Contest*> by_day;
};

std::vector<Ages> ages_of(const Benchmark& bench) {
  std::vector<Ages> all;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places;
  for (const Contest& contest : bench.contests) {
    const auto aged = aged_phase(contest.phase);
    if (!aged) continue;
    const auto [place, added] = places.emplace(
        std::tuple(contest.device, contest.workload, contest.parameters, aged->what), all.size());
    if (added) all.push_back({&contest, aged->what, {}});
    all[place->second].by_day[aged->day] = &contest;
  }
  std::erase_if(all, [](const Ages& each) { return each.by_day.size() < 2; });
  return all;
}

std::optional<double> metric_of(const Benchmark& bench, const Contest& contest,
                                const Entrant& entrant, std::string_view name) {
  const auto rows = bench.metrics.find(contest.identity());
  if (rows == bench.metrics.end()) return std::nullopt;
  const auto row = std::ranges::find(rows->second, name, &MetricRow::name);
  if (row == rows->second.end()) return std::nullopt;
  const auto mean = row->means.find(entrant.name());
  return mean == row->means.end() ? std::nullopt : std::optional(mean->second);
}

/// Draws a line for each entrant. Each point of the line is the result of `value` for one age of
/// the file system.
template <typename Value>
std::optional<std::pair<Drawing, std::string>> by_age(const Ages& ages, const Dashes& dashes_of,
                                                      const char* title, const char* format,
                                                      const char* top, const Value& value) {
  // For each entrant's name: the file system, and the points of the entrant's line as gnuplot data.
  std::map<std::string, std::pair<std::string, std::string>> lines;
  for (const auto& [day, contest] : ages.by_day) {
    for (const Entrant& entrant : contest->entrants) {
      const std::optional<double> number = value(*contest, entrant);
      if (!number) continue;
      auto& line = lines[entrant.name()];
      line.first = entrant.filesystem;
      line.second += fmt::format("{}\t{}\n", day, *number);
    }
  }
  if (lines.empty()) return std::nullopt;
  std::string data, colours, dashes;
  for (const auto& [name, line] : lines) {
    data += line.second + "\n\n";
    colours += fmt::format("{} ", plot_colour(line.first));
    dashes += fmt::format("{} ", dashes_of.of(name));
  }
  const Contest& contest = *ages.first;
  return std::pair(
      Drawing{250,
              fmt::format(
                  "series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nunit = \"{}\"\ntop = \"{}\"\n{}",
                  lines.size(), colours, dashes, format, top, data_block("data", data)),
              "age.gp",
              fmt::format("{} of {} against age on {}", title, ages.what, contest.device)},
      fmt::format("<b>{}</b> {} <small>{} &middot; {}</small>", escape(ages.what), title,
                  escape(contest.device), escape(contest.workload)));
}

/// Draws the times of the recovery steps. Steps that did not wait for the device are dashed.
std::optional<std::pair<Drawing, std::string>> recovery_of(const Series& series,
                                                           std::string_view parameter) {
  struct Line {
    std::string filesystem, data;
    bool unranked = false;
  };
  std::map<std::string, Line> lines;
  for (const auto& [value, contest] : series.by_value) {
    for (const Entrant& entrant : contest->entrants) {
      if (entrant.standing.kind == Standing::Kind::unmeasured || entrant.measurements.empty())
        continue;
      const statistics::Summary& s = entrant.standing.ranking;
      const statistics::Interval interval =
          s.mean_interval.value_or(statistics::Interval{s.mean, s.mean});
      Line& line = lines[entrant.name()];
      line.filesystem = entrant.filesystem;
      line.unranked = line.unranked || entrant.standing.kind != Standing::Kind::ranked;
      line.data += fmt::format("{}\t{}\t{}\t{}\n", value, s.mean / 1e3,
                               std::max(interval.low, 0.0) / 1e3, interval.high / 1e3);
    }
  }
  if (lines.empty()) return std::nullopt;
  std::string data, colours, dashes;
  for (const auto& [name, line] : lines) {
    data += line.data + "\n\n";
    colours += fmt::format("{} ", plot_colour(line.filesystem));
    dashes += line.unranked ? "11 " : "1 ";
  }
  const Contest& contest = *series.first;
  const std::string& place = parameter == kDeviceSize ? contest.profile : contest.device;
  return std::pair(
      Drawing{270,
              fmt::format("series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nparameter = \"{}\"\n{}",
                          lines.size(), colours, dashes, parameter, data_block("data", data)),
              "recovery_size.gp",
              fmt::format("time of {} against {} on {}", contest.phase, parameter, place)},
      fmt::format("<b>{}</b> by {} <small>{} &middot; {}</small>", escape(contest.phase),
                  escape(parameter), escape(place), escape(series.rest)));
}

/// Draws response time against throughput for a closed system. Each user waits until an operation
/// has ended before starting the next one, so the response time is the number of users divided by
/// the throughput.
std::optional<std::pair<Drawing, std::string>> throughput_of(const Series& series,
                                                             const Dashes& dashes_of) {
  // For each entrant's name: the file system, and the points of the entrant's line as gnuplot data.
  std::map<std::string, std::pair<std::string, std::string>> lines;
  double most = 0;
  for (const auto& [users, contest] : series.by_value) {
    for (const Entrant& entrant : contest->entrants) {
      if (entrant.standing.kind != Standing::Kind::ranked || entrant.measurements.empty()) continue;
      const auto rate = std::ranges::find(measures(), std::string_view("rate"), &Measure::column) -
                        measures().begin();
      double sum = 0;
      std::size_t n = 0;
      for (const Measurement& m : entrant.measurements) {
        if (!m.values[static_cast<std::size_t>(rate)]) continue;
        sum += *m.values[static_cast<std::size_t>(rate)];
        ++n;
      }
      if (n == 0 || sum <= 0) continue;
      const double mean = sum / static_cast<double>(n);
      most = std::max(most, mean);
      auto& line = lines[entrant.name()];
      line.first = entrant.filesystem;
      line.second += fmt::format("{}\t{}\t{}\n", mean, static_cast<double>(users) / mean, users);
    }
  }
  if (lines.empty()) return std::nullopt;
  std::string data, colours, dashes;
  for (const auto& [name, line] : lines) {
    data += line.second + "\n\n";
    dashes += fmt::format("{} ", dashes_of.of(name));
    colours += fmt::format("{} ", plot_colour(line.first));
  }
  const Contest& contest = *series.first;
  Drawing drawing{
      270,
      fmt::format("series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nstep = {}\n{}", lines.size(),
                  colours, dashes, tick_step(most), data_block("data", data)),
      "throughput.gp",
      fmt::format("response time against throughput of {} on {}", contest.workload,
                  contest.device)};
  const std::string title =
      fmt::format("<b>{}</b> {} <small>{} &middot; {} &middot; in {}</small>",
                  escape(contest.workload), escape(contest.phase), escape(contest.device),
                  escape(series.rest), escape(contest.operation));
  return std::pair(drawing, title);
}

std::vector<std::pair<Drawing, std::string>> latencies(const std::vector<BenchCurve>& all,
                                                       const Dashes& dashes_of,
                                                       const char* of_what) {
  std::vector<std::pair<Drawing, std::string>> out;
  for (std::size_t i = 0; i < all.size() && out.size() < kOthersMost;) {
    const std::string device = all[i].device, workload = all[i].workload,
                      parameters = all[i].parameters;
    std::string data, colours, dashes, widths;
    int series = 0;
    for (; i < all.size() && all[i].device == device && all[i].workload == workload &&
           all[i].parameters == parameters;
         ++i) {
      data += fmt::format("{}\t0\n", all[i].points.front().first / 1e6);
      for (const auto& [us, share] : all[i].points)
        data += fmt::format("{}\t{}\n", us / 1e6, share);
      data += "\n\n";
      colours += fmt::format("{} ", plot_colour(all[i].filesystem));
      dashes += fmt::format("{} ", dashes_of.of(all[i].name()));
      widths += "2 ";
      ++series;
    }
    out.emplace_back(
        Drawing{290,
                fmt::format("series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nwidths = \"{}\"\n{}",
                            series, colours, dashes, widths, data_block("data", data)),
                "latency.gp",
                fmt::format("distribution of response times of {} of {} on {}", of_what, workload,
                            device)},
        fmt::format("<b>{}</b> <small>{} &middot; {}</small>", escape(device), escape(workload),
                    escape(parameters)));
  }
  return out;
}

/// Draws two points for each interval, one at its beginning and one at its end, so that the line is
/// horizontal in between.
std::vector<std::pair<Drawing, std::string>> loads(const Benchmark& bench,
                                                   const Dashes& dashes_of) {
  std::vector<std::pair<Drawing, std::string>> out;
  const auto& all = bench.load;
  for (std::size_t i = 0; i < all.size() && out.size() < 2 * kOthersMost;) {
    const BenchLoad& first = all[i];
    std::string rates, inside, colours, dashes;
    int series = 0;
    for (; i < all.size() && all[i].device == first.device && all[i].workload == first.workload &&
           all[i].parameters == first.parameters && all[i].phase == first.phase;
         ++i) {
      for (const BenchLoad::TimeSpan& each : all[i].spans) {
        const double rate = each.bytes / (each.end_ms - each.begin_ms) / 1e3;  // MB/s
        rates += fmt::format("{0}\t{2}\n{1}\t{2}\n", each.begin_ms / 1e3, each.end_ms / 1e3, rate);
        inside += fmt::format("{0}\t{2}\n{1}\t{2}\n", each.begin_ms / 1e3, each.end_ms / 1e3,
                              each.inside);
      }
      rates += "\n\n";
      inside += "\n\n";
      colours += fmt::format("{} ", plot_colour(all[i].filesystem));
      dashes += fmt::format("{} ", dashes_of.of(all[i].name()));
      ++series;
    }
    const std::string place =
        fmt::format("<small>{} &middot; {} {} &middot; {}</small>", escape(first.device),
                    escape(first.workload), escape(first.parameters), escape(first.phase));
    const auto add = [&](const char* title, const char* unit, const std::string& data) {
      out.emplace_back(
          Drawing{230,
                  fmt::format("series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nunit = \"{}\"\n{}",
                              series, colours, dashes, unit, data_block("data", data)),
                  "load.gp",
                  fmt::format("{} over time of {} on {}", title, first.workload, first.device)},
          fmt::format("<b>{}</b> {}", title, place));
    };
    add("bytes per second", " MB/s", rates);
    add("requests in the device", "", inside);
  }
  return out;
}

}  // namespace

std::vector<std::string> entrant_names(const Benchmark& bench) {
  std::set<std::string> names;
  for (const Contest& contest : bench.contests)
    for (const Entrant& entrant : contest.entrants) names.insert(entrant.name());
  return {names.begin(), names.end()};
}

std::optional<AgedPhase> aged_phase(const std::string& phase) {
  constexpr std::string_view kDay = " day ";
  const std::size_t at = phase.rfind(kDay);
  if (at == std::string::npos || at == 0) return std::nullopt;
  AgedPhase aged{.what = phase.substr(0, at)};
  const char* const end = phase.data() + phase.size();
  const auto [stop, problem] = std::from_chars(phase.data() + at + kDay.size(), end, aged.day);
  if (problem != std::errc{} || stop != end || aged.day < 0) return std::nullopt;
  return aged;
}

std::optional<ParameterValue> value_in(const std::string& parameters, std::string_view name) {
  std::istringstream words(parameters);
  ParameterValue found;
  bool there = false;
  for (std::string word; words >> word;) {
    const std::string_view text(word);
    if (!there && text.starts_with(name) && text.substr(name.size()).starts_with('=')) {
      const char* end = word.data() + word.size();
      const auto [stop, problem] = std::from_chars(word.data() + name.size() + 1, end, found.value);
      there = problem == std::errc{} && stop == end && found.value > 0;
      if (there) continue;
    }
    found.rest += (found.rest.empty() ? "" : " ") + word;
  }
  return there ? std::optional(found) : std::nullopt;
}

Result<BenchPlots> bench_plots(const Benchmark& bench) {
  std::vector<Drawing> drawings;
  BenchPlots plots;
  const Dashes dashes(entrant_names(bench));
  std::vector<std::pair<std::vector<Plot>*, std::string>> places;
  const auto add = [&](const std::pair<Drawing, std::string>& titled, std::vector<Plot>& to) {
    drawings.push_back(titled.first);
    places.emplace_back(&to, titled.second);
  };
  std::vector<Ages> ages = ages_of(bench);
  if (ages.size() > kOthersMost) ages.resize(kOthersMost);
  for (const Ages& each : ages) {
    if (const auto drawing =
            by_age(each, dashes, "time", "%.1s %cs", "*",
                   [](const Contest&, const Entrant& entrant) -> std::optional<double> {
                     if (entrant.measurements.empty()) return std::nullopt;
                     return entrant.standing.ranking.mean / 1e3;
                   }))
      add(*drawing, plots.ageing);
  }
  for (const Ages& each : ages) {
    if (const auto drawing = by_age(each, dashes, "layout score", "%.1f", "1",
                                    [&](const Contest& contest, const Entrant& entrant) {
                                      return metric_of(bench, contest, entrant, "layout.score");
                                    }))
      add(*drawing, plots.ageing);
  }
  std::size_t throughputs = 0, plots_of_recovery = 0;
  for (const std::string_view parameter : {"files", "dirty", "file-bytes"}) {
    for (const Series& series : series_of(bench, parameter)) {
      if (series.first->workload != "recovery" || plots_of_recovery == kOthersMost) continue;
      if (const auto drawing = recovery_of(series, parameter)) {
        add(*drawing, plots.recovery);
        ++plots_of_recovery;
      }
    }
  }
  for (const Series& series : sizes_of(bench)) {
    if (series.first->workload != "boot-after-cut" || plots_of_recovery == kOthersMost) continue;
    if (const auto drawing = recovery_of(series, kDeviceSize)) {
      add(*drawing, plots.recovery);
      ++plots_of_recovery;
    }
  }
  for (const Series& series : series_of(bench, "users")) {
    if (throughputs == kOthersMost) break;
    if (const auto drawing = throughput_of(series, dashes)) {
      add(*drawing, plots.throughput);
      ++throughputs;
    }
  }
  for (const auto& each : latencies(bench.latency, dashes, "requests")) add(each, plots.latency);
  for (const auto& each : latencies(bench.flushes, dashes, "flushes")) add(each, plots.flushes);
  for (const auto& each : loads(bench, dashes)) add(each, plots.load);
  TRY(auto drawn, draw_all(drawings));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i].first->push_back({places[i].second, std::move(drawn[i])});
  return plots;
}

}  // namespace headcrash::report
