// Reads the metrics loss.* and age.* of the trials, and creates the page (unsynced_page.h).
#include "results/report/campaign/unsynced_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "results/report/frame/drawing.h"
#include "results/report/frame/html.h"
#include "results/report/frame/page.h"
#include "results/report/frame/palette.h"
#include "results/report/frame/query.h"
#include "results/statistics/sample.h"

namespace headcrash::report {
namespace {

using nlohmann::json;

constexpr const char* kKeep = "keep";
constexpr double kMsPerS = 1000;
/// tolerance for the time that the disk takes to write data whose interval has expired
constexpr double kDrainMs = 1500;

struct Cut {
  std::string key, filesystem, setting, verdict, why;
  bool control = false;
  double bound_ms = 0, oldest_lost_ms = 0, newest_kept_ms = 0, lost = 0, kept = 0, bytes = 0;
  bool measured() const { return verdict == db::kMeasured; }
};
struct Age {
  double ms = 0;
  bool lost = false;
  std::string kind;
};
/// The power cuts with one file system and one setting, and the losses that the cuts caused.
struct Group {
  std::string filesystem, setting;
  double bound_ms = 0;
  std::vector<double> oldest_ms, bytes;
  std::vector<Age> ages;
  double most_s() const { return std::ranges::max(oldest_ms) / kMsPerS; }
  bool keeps_bound() const { return std::ranges::max(oldest_ms) <= bound_ms + kDrainMs; }
  /// Returns the greatest age, in seconds, of a lost change of the given kind.
  double most_s(std::string_view kind) const {
    double most = 0;
    for (const Age& age : ages)
      if (age.lost && age.kind == kind) most = std::max(most, age.ms);
    return most / kMsPerS;
  }
};

std::vector<Cut> cuts_of(const Table& table) {
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Row row = table.row(i);
    cuts.push_back({.key = row.text("key"),
                    .filesystem = row.text("filesystem"),
                    .setting = row.text("variant"),
                    .verdict = row.text("verdict"),
                    .why = row.text("summary"),
                    .control = row.text("control") == kKeep,
                    .bound_ms = row.real("bound"),
                    .oldest_lost_ms = row.real("oldest_lost"),
                    .newest_kept_ms = row.real("newest_kept"),
                    .lost = row.real("lost"),
                    .kept = row.real("kept"),
                    .bytes = row.real("bytes")});
  }
  return cuts;
}

std::vector<Group> groups_of(const std::vector<Cut>& cuts, const Table& ages) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> group_of;  // maps Cut::key to an index into `groups`
  for (const Cut& cut : cuts) {
    if (!cut.measured() || cut.control) continue;
    auto at = std::ranges::find_if(groups, [&](const Group& group) {
      return group.filesystem == cut.filesystem && group.setting == cut.setting;
    });
    if (at == groups.end())
      at = groups.insert(groups.end(), Group{.filesystem = cut.filesystem, .setting = cut.setting});
    at->bound_ms = cut.bound_ms;
    at->oldest_ms.push_back(cut.oldest_lost_ms);
    at->bytes.push_back(cut.bytes);
    group_of[cut.key] = static_cast<std::size_t>(at - groups.begin());
  }
  for (std::size_t i = 0; i < ages.size(); ++i) {
    const Row row = ages.row(i);
    const auto group = group_of.find(row.text("key"));
    if (group == group_of.end()) continue;
    groups[group->second].ages.push_back(
        {row.real("age"), row.integer("lost") != 0, row.text("kind")});
  }
  return groups;
}

constexpr std::string_view kKinds[] = {"create", "rename", "write", "append", "overwrite"};

std::vector<std::string> group_line(const Group& group) {
  std::vector<std::string> line{
      group.filesystem,
      group.setting,
      std::to_string(group.oldest_ms.size()),
      fmt::format("{:.1f}", statistics::quantile(group.oldest_ms, 0.5) / kMsPerS),
      fmt::format("{:.1f}", group.most_s()),
      fmt::format("{:.1f}", group.bound_ms / kMsPerS)};
  for (const std::string_view kind : kKinds)
    line.push_back(fmt::format("{:.1f}", group.most_s(kind)));
  line.push_back(fmt::format("{:.0f}", statistics::summarise(group.bytes).mean / kMsPerS));
  line.push_back(group.keeps_bound() ? "yes" : "no");
  return line;
}

const std::vector<Column> kColumns{
    {"file system"},
    {"setting"},
    {"cuts", Column::Kind::number},
    {"age of the oldest lost change, median (s)", Column::Kind::number},
    {"most (s)", Column::Kind::number},
    {"sum of expiry, scan and commit (s)", Column::Kind::number},
    {"create (s)", Column::Kind::number},
    {"rename (s)", Column::Kind::number},
    {"write (s)", Column::Kind::number},
    {"append (s)", Column::Kind::number},
    {"overwrite (s)", Column::Kind::number},
    {"lost (kB)", Column::Kind::number},
    {"within"}};

/// Draws, for each file system, the fraction of lost changes by age in seconds.
Drawing shares_of(const std::vector<Group>& groups, const std::string& setting) {
  std::string data, colours, lines;
  std::size_t series = 0;
  for (const Group& group : groups) {
    if (group.setting != setting) continue;
    std::map<int, std::pair<double, double>> by_second;  // lost, all
    for (const Age& age : group.ages) {
      auto& [lost, all] = by_second[static_cast<int>(std::floor(age.ms / kMsPerS))];
      lost += age.lost ? 1 : 0;
      ++all;
    }
    data += fmt::format("\"{}\"\n", plot_label(group.filesystem));
    for (const auto& [second, counted] : by_second)
      data += fmt::format("{}\t{}\n", second + 0.5, 100 * counted.first / counted.second);
    data += "\n\n";
    colours += fmt::format("{} ", plot_colour(group.filesystem));
    lines += "1 ";
    ++series;
  }
  constexpr int kPlotHeight = 270, kKeyLine = 16;
  return {
      kPlotHeight + kKeyLine * static_cast<int>(series),
      fmt::format(
          "series = {}\ncolours = \"{}\"\nlines = \"{}\"\nxname = \"age at the cut (s)\"\nyname = "
          "\"lost (%)\"\nlogx = 0\n{}",
          series, colours, lines, data_block("data", data)),
      "series.gp", fmt::format("share of changes lost, by age of the change; setting {}", setting)};
}

std::vector<std::string> invalidities(const std::vector<Cut>& cuts) {
  std::vector<std::string> said;
  for (const Cut& cut : cuts)
    if (cut.measured() && cut.control && cut.lost > 0)
      said.push_back(
          fmt::format("control {}: {}, although all data had been synced", cut.key, cut.why));
  return said;
}

std::string text_table_of(const std::vector<Group>& groups, const std::vector<Cut>& cuts) {
  std::string text =
      fmt::format("{:18} {:12} {:>4} {:>8} {:>8} {:>8}   {:>6} {:>6} {:>6} {:>6} {:>9} {:>8}  {}\n",
                  "file system", "setting", "cuts", "median s", "most s", "bound s", "create",
                  "rename", "write", "append", "overwrite", "lost kB", "within");
  for (const Group& group : groups) {
    const auto c = group_line(group);
    text += fmt::format(
        "{:18} {:12} {:>4} {:>8} {:>8} {:>8}   {:>6} {:>6} {:>6} {:>6} {:>9} {:>8}  {}\n", c[0],
        c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12]);
  }
  for (const Cut& cut : cuts)
    if (!cut.measured()) text += fmt::format("{}: {}: {}\n", cut.key, cut.verdict, cut.why);
  return text;
}

Result<std::vector<Section>> sections_of(const std::vector<Group>& groups,
                                         const std::vector<Cut>& cuts, std::int64_t run) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> settings;
  for (const Group& group : groups) {
    auto line = group_line(group);
    for (std::string& cell : line) cell = escape(cell);
    line[0] = filesystem_name(group.filesystem);
    rows.push_back(std::move(line));
    if (std::ranges::find(settings, group.setting) == settings.end())
      settings.push_back(group.setting);
  }
  std::vector<Drawing> drawings;
  drawings.reserve(settings.size());
  for (const std::string& setting : settings) drawings.push_back(shares_of(groups, setting));
  TRY(const auto drawn, draw_all(drawings));
  std::string figures = "<div class=\"plots\">\n";
  for (std::size_t i = 0; i < settings.size(); ++i)
    figures += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n",
                           escape("setting " + settings[i]), drawn[i]);
  std::vector<std::vector<std::string>> each;
  each.reserve(cuts.size());
  for (const Cut& cut : cuts)
    each.push_back(
        {fmt::format("<span id=\"{}\">{}</span>", anchor("cut", cut.key), escape(cut.key)),
         escape(cut.verdict), escape(cut.why)});
  return std::vector<Section>{
      {.id = "ages",
       .title = "Share of changes lost, by age",
       .html = figures + "</div>\n" + query_note("unsynced_ages", run)},
      {.id = "oldest",
       .title = "The oldest change lost",
       .html = html_table(kColumns, rows, "cards") + query_note("unsynced", run)},
      {.id = "cuts",
       .title = "Every cut",
       .html = details(fmt::format("{} cuts", cuts.size()),
                       html_table({{"cut"}, {"verdict"}, {"lost"}}, each, "cards"))}};
}

}  // namespace

Result<bool> is_unsynced(db::Database& database, std::optional<std::int64_t> run) {
  TRY(auto select,
      db::Statement::prepare(
          database.handle(),
          "SELECT count(*) FROM run WHERE id = coalesce(?, (SELECT max(id) FROM run)) AND name = 'unsynced-loss'"));
  TRY(const auto row, select.bind(run).step());
  return row && select.integer(0) > 0;
}

Result<UnsyncedReport> unsynced_report(db::Database& database, std::optional<std::int64_t> run) {
  UnsyncedReport report;
  report.run = run.value_or(0);
  if (!run) {
    TRY(const auto newest, db::query_integer(database.handle(), "SELECT max(id) FROM run"));
    report.run = newest;
  }
  TRY(const auto table, run_query(database, "unsynced", report.run));
  TRY(const auto ages, run_query(database, "unsynced_ages", report.run));
  const std::vector<Cut> cuts = cuts_of(table);
  const std::vector<Group> groups = groups_of(cuts, ages);
  const std::vector<std::string> invalid = invalidities(cuts);
  report.valid = invalid.empty();
  report.cells = static_cast<std::int64_t>(cuts.size());
  report.not_measured = std::ranges::count_if(cuts, [](const Cut& cut) { return !cut.measured(); });
  const auto controls = std::ranges::count_if(cuts, &Cut::control);
  json rows = json::array();
  std::int64_t beyond = 0;
  for (const Group& group : groups) {
    beyond += group.keeps_bound() ? 0 : 1;
    rows.push_back({{"filesystem", group.filesystem},
                    {"setting", group.setting},
                    {"cuts", group.oldest_ms.size()},
                    {"oldest_lost_median_s", statistics::quantile(group.oldest_ms, 0.5) / kMsPerS},
                    {"oldest_lost_s", group.most_s()},
                    {"bound_s", group.bound_ms / kMsPerS},
                    {"within_bound", group.keeps_bound()}});
  }
  std::string verdict;
  for (const std::string& each : invalid) verdict += "INVALID: " + each + "\n";
  const std::string counts = fmt::format(
      "cuts: {}, including controls: {}; not measured: {}; groups with losses older than the "
      "intervals plus {:g} s: {}",
      report.cells, controls, report.not_measured, kDrainMs / kMsPerS, beyond);
  report.text = text_table_of(groups, cuts) + verdict + counts + "\n";
  report.summary = {{"run", report.run},     {"groups", rows},
                    {"valid", report.valid}, {"invalid", invalid},
                    {"beyond", beyond},      {"not_measured", report.not_measured}};
  TRY(const auto sections, sections_of(groups, cuts, report.run));
  report.html =
      framed_page({.title = "unsynced-loss",
                   .opening = fmt::format(
                       "<header>\n<p class=\"kind\">A survey of what is lost without fsync</p>\n"
                       "<h1>unsynced-loss</h1>\n<p class=\"answer\">{}</p>\n<p>{}</p>\n</header>\n",
                       escape(counts), escape(verdict)),
                   .sections = sections});
  return report;
}

}  // namespace headcrash::report
