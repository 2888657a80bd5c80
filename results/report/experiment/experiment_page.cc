// Shows claims: their numbers, rules, tables, bars and plots (experiment_page.h).
#include "results/report/experiment/experiment_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <vector>

#include "results/db/claim.h"
#include "results/report/frame/drawing.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/heat_map.h"
#include "results/report/frame/html.h"
#include "results/report/frame/page.h"
#include "results/report/frame/palette.h"
#include "results/report/frame/query.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

/// Number of characters that fit along the vertical axis of a plot.
constexpr std::size_t kAxisCharacters = 40;
constexpr std::size_t kPointsOfALineLeast = 3;  // lines with fewer points are drawn as bars
constexpr std::size_t kFailuresInTheScoreboard = 4;
constexpr std::size_t kNumbersOnlyNamed = 12;
constexpr std::string_view kSummary = "summary";  // the claim at the beginning of the page
// Pseudo-claim that summarises the paper and contains its most important numbers. It has a separate
// section.
constexpr std::string_view kInShort = "in short";

using experiment::RuleClass;
using ClaimVerdict = experiment::Verdict;
using Number = experiment::ClaimNumber;
using Rule = experiment::ClaimRule;
using Claim = experiment::ClaimAnswer;
using OwnTable = experiment::Table;
using OwnPlot = experiment::Plot;
using OwnSeries = experiment::Series;

std::string figure(const std::optional<double>& value) {
  if (!value) return "";
  return std::abs(*value) >= 1000 ? fmt::format("{:.0f}", *value) : fmt::format("{:.4g}", *value);
}

/// Returns the claim to which a row belongs. If there is no such claim, adds one without a title.
Claim& claim_of(std::vector<Claim>& claims, const Row& row) {
  const std::string id = row.text("claim");
  const auto at = std::ranges::find(claims, id, &Claim::id);
  if (at != claims.end()) return *at;
  claims.push_back({.id = id});
  return claims.back();
}

/// Adds a cell to a table of the claim. Cells must be added row by row, from left to right.
void add_cell(Claim& claim, const Row& row) {
  const std::string name = row.text("name");
  if (claim.tables.empty() || claim.tables.back().name != name)
    claim.tables.push_back({.name = name, .title = row.text("title")});
  OwnTable& table = claim.tables.back();
  const auto line = static_cast<std::size_t>(row.integer("line"));
  if (line == 0) table.columns.push_back(row.text("heading"));
  if (line == table.rows.size()) table.rows.emplace_back();
  if (line < table.rows.size()) table.rows[line].push_back(row.text("value"));
}

void add_point(Claim& claim, const Row& row) {
  const std::string name = row.text("plot"), line = row.text("series");
  if (claim.plots.empty() || claim.plots.back().name != name)
    claim.plots.push_back({.name = name,
                           .title = row.text("title"),
                           .x = row.text("x_axis"),
                           .y = row.text("y_axis"),
                           .logarithmic_x = row.integer("logarithmic_x") != 0});
  OwnPlot& plot = claim.plots.back();
  if (plot.series.empty() || plot.series.back().name != line)
    plot.series.push_back(
        {.name = line, .points = {}, .from_paper = row.integer("from_paper") != 0});
  plot.series.back().points.emplace_back(row.real("x"), row.real("y"));
}

Result<Rule> rule_of(const Row& row) {
  const auto verdict = experiment::kVerdictNames.parse(row.text("verdict"));
  const auto kind = experiment::kRuleClassNames.parse(row.text("class"));
  if (!verdict || !kind)
    return fail("claim_rule",
                fmt::format("unknown verdict \"{}\" or class \"{}\"", row.text("verdict"),
                            row.text("class")),
                "use the version of headcrash that wrote the database");
  return Rule{row.text("rule"), *verdict, row.text("detail"), *kind,
              static_cast<std::uint32_t>(row.integer("executions"))};
}

Result<std::vector<Claim>> claims_of(db::Database& database, std::int64_t run) {
  TRY(const auto numbers, run_query(database, "claim_numbers", run));
  TRY(const auto rules, run_query(database, "claim_rules", run));
  TRY(const auto tables, run_query(database, "claim_tables", run));
  TRY(const auto points, run_query(database, "claim_points", run));
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Row row = numbers.row(i);
    Claim& claim = claim_of(claims, row);
    claim.title = row.text("title");
    claim.numbers.push_back({row.text("cell"), row.text("quantity"), row.text("unit"),
                             row.maybe_real("paper"), row.maybe_real("ours"), row.text("remark"),
                             row.maybe_real("low"), row.maybe_real("high")});
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Row row = rules.row(i);
    TRY(auto rule, rule_of(row));
    claim_of(claims, row).rules.push_back(std::move(rule));
  }
  for (std::size_t i = 0; i < tables.size(); ++i)
    add_cell(claim_of(claims, tables.row(i)), tables.row(i));
  for (std::size_t i = 0; i < points.size(); ++i)
    add_point(claim_of(claims, points.row(i)), points.row(i));
  return claims;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string own_table(const OwnTable& table) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool numbers = std::ranges::all_of(
        table.rows, [i](const auto& row) { return number_in(row[i]).has_value(); });
    columns.push_back({table.columns[i], numbers ? Column::Kind::number : Column::Kind::text});
  }
  std::vector<std::vector<std::string>> rows = table.rows;
  for (auto& row : rows) {
    row.resize(columns.size());
    for (std::string& value : row) value = escape(value);
  }
  return fmt::format("<h3>{}</h3>\n<div class=\"scroll\">", escape(table.title)) +
         html_table(columns, rows) + "</div>\n";
}

constexpr std::size_t kNamesOfARow = 2;  // each row begins with its group and its name

bool is_heat_map(const OwnTable& table) {
  return table.name.starts_with(experiment::kHeatMap) && table.columns.size() > kNamesOfARow;
}

HeatCell heat_cell(std::string_view value) {
  const bool unbeaten = value.ends_with(experiment::kUnbeaten);
  if (unbeaten) value.remove_suffix(std::string_view(experiment::kUnbeaten).size());
  const auto times = number_in(value);
  if (!times) return {};
  return {fmt::format("{:.{}f}", *times,
                      *times < 10    ? 2
                      : *times < 100 ? 1
                                     : 0),
          fmt::format("{}{}", shade(*times), unbeaten ? " best" : "")};
}

std::string own_heat_map(const OwnTable& table) {
  std::vector<HeatColumn> columns;
  for (std::size_t i = kNamesOfARow; i < table.columns.size(); ++i)
    columns.push_back({table.columns[i], escape(table.columns[i])});
  std::vector<HeatRow> rows;
  for (const auto& line : table.rows) {
    if (line.size() != table.columns.size()) continue;
    HeatRow row{.name = escape(line[1]), .group = line[0], .cells = {}};
    for (std::size_t i = kNamesOfARow; i < line.size(); ++i)
      row.cells.push_back(heat_cell(line[i]));
    rows.push_back(std::move(row));
  }
  return fmt::format("<h3>{}</h3>\n", escape(table.title)) +
         heat_map(table.columns[1], columns, rows) +
         "<p class=\"legend\"><span><b class=\"yes\">&#9679;</b> no other system beats it</span> "
         "<span>multiple of the best time: " +
         shade_scale() + "</span></p>\n";
}

std::string tables_html(const Claim& claim) {
  std::string out;
  for (const OwnTable& table : claim.tables)
    out += is_heat_map(table) ? own_heat_map(table) : own_table(table);
  return out;
}

/// Returns the full name of a plotted line for the legend below the plot. A long name is split over
/// several lines.
std::string key_label(const std::string& text) {
  constexpr std::size_t kPiece = 20;  // short enough that plot_label() does not truncate it
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::ranges::all_of(text, ascii)) return plot_label(text);
  std::string label;
  for (std::size_t at = 0; at < text.size(); at += kPiece)
    label += plot_label(text.substr(at, kPiece));
  return label;
}

/// Returns a hue for each line. A line has the hue of its file system, unless the file system is
/// unknown or an earlier line already has this hue; it then has a free hue.
std::vector<std::size_t> hues_of(const std::vector<OwnSeries>& series) {
  std::vector<std::size_t> hues;
  std::set<std::size_t> taken;
  for (const OwnSeries& each : series) {
    std::size_t hue = filesystem_colour(each.name);
    if (!is_known_filesystem(each.name) || taken.contains(hue)) {
      hue = 0;
      while (taken.contains(hue) && hue + 1 < kFilesystemColours.size()) ++hue;
    }
    taken.insert(hue);
    hues.push_back(hue);
  }
  return hues;
}

Drawing curves_of(const OwnPlot& plot) {
  std::string data, colours, lines;
  const auto hues = hues_of(plot.series);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const OwnSeries& series = plot.series[i];
    std::string points;
    for (const auto& [x, y] : series.points) points += fmt::format("{}\t{}\n", x, y);
    data += fmt::format("\"{}\"\n{}\n\n", key_label(series.name), points);
    colours += fmt::format("{} ", kFilesystemColours.at(hues[i]).light);
    lines += series.from_paper ? "0 " : "1 ";
  }
  constexpr int kPlotHeight = 270, kKeyLine = 17;
  return {
      kPlotHeight + kKeyLine * static_cast<int>(plot.series.size()),
      fmt::format(
          "series = {}\ncolours = \"{}\"\nlines = \"{}\"\nxname = \"{}\"\nyname = \"{}\"\nlogx = "
          "{}\n{}",
          plot.series.size(), colours, lines, plot_label(plot.x, kAxisCharacters),
          plot_label(plot.y, kAxisCharacters), plot.logarithmic_x ? 1 : 0,
          data_block("data", data)),
      "series.gp", fmt::format("{}: {} by {}", plot.title, plot.y, plot.x)};
}

std::string named(const Number& n) {
  return n.unit.empty() ? n.quantity : n.quantity + " (" + n.unit + ")";
}

/// Splits the name of a cell such as "No Order, 8" into name and number. Returns nullopt if it has
/// another form.
std::optional<std::pair<std::string, int>> name_and_number(const std::string& cell) {
  const std::size_t comma = cell.rfind(", ");
  int number = 0;
  if (comma == std::string::npos || comma == 0) return std::nullopt;
  const char *begin = cell.data() + comma + 2, *end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return std::pair(cell.substr(0, comma), number);
}

/// Numbers that measure the same quantity, in the paper's order.
struct Quantity {
  std::string title;
  std::vector<const Number*> numbers;
};

std::vector<Quantity> quantities_of(const Claim& claim) {
  std::vector<Quantity> quantities;
  for (const Number& n : claim.numbers) {
    const std::string title = named(n);
    auto at = std::ranges::find(quantities, title, &Quantity::title);
    if (at == quantities.end()) at = quantities.insert(at, {title, {}});
    at->numbers.push_back(&n);
  }
  return quantities;
}

/// Returns the lines to draw, or an empty list if a line would have too few points. Cells have
/// names of the form "NAME, NUMBER". There is a line for each NAME, and NUMBER is the horizontal
/// position of a point.
std::vector<OwnSeries> lines_of(const Quantity& quantity) {
  std::vector<OwnSeries> lines;
  for (const Number* n : quantity.numbers) {
    const auto parts = name_and_number(n->cell);
    if (!parts || !n->ours) continue;
    auto at = std::ranges::find(lines, parts->first, &OwnSeries::name);
    if (at == lines.end()) at = lines.insert(at, {.name = parts->first, .points = {}});
    at->points.emplace_back(parts->second, *n->ours);
  }
  const bool long_enough = std::ranges::all_of(
      lines, [](const OwnSeries& line) { return line.points.size() >= kPointsOfALineLeast; });
  return long_enough ? lines : std::vector<OwnSeries>{};
}

/// Returns the label of the horizontal axis: "users" if the claim mentions users; otherwise, an
/// empty string.
std::string axis_of(const Claim& claim) {
  const auto speaks = [](const std::string& text) {
    return text.find(" user") != std::string::npos;
  };
  const bool users = speaks(claim.title) || std::ranges::any_of(claim.rules, [&](const Rule& r) {
                       return speaks(r.text);
                     });
  return users ? "users" : "";
}

/// Returns a legend for the marks that occur in the plot.
std::string legend_of(const OwnPlot& plot) {
  const bool paper = std::ranges::any_of(plot.series, &OwnSeries::from_paper);
  const bool here = !std::ranges::all_of(plot.series, &OwnSeries::from_paper);
  if (!paper) return {};
  return here ? " <small>lines: here; rings: the paper</small>"
              : " <small>rings: the paper</small>";
}

std::vector<OwnPlot> plots_of(const Claim& claim) {
  std::vector<OwnPlot> plots = claim.plots;
  for (const Quantity& quantity : quantities_of(claim)) {
    auto lines = lines_of(quantity);
    if (!lines.empty())
      plots.push_back({.name = quantity.title,
                       .title = quantity.title,
                       .x = axis_of(claim),
                       .y = quantity.title,
                       .series = std::move(lines)});
  }
  return plots;
}

/// Returns the CSS class of a cell's bar. The bar has the colour of the file system or scheme that
/// the cell names. The bar is hollow if the name is followed by a semicolon and a variation.
std::string bar_class(const std::string& cell) {
  const std::size_t varied = cell.find(';');
  std::string hue = "plain";
  std::istringstream parts(cell.substr(0, varied));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t start = part.find_first_not_of(' ');
    if (start == std::string::npos || !is_known_filesystem(part.substr(start))) continue;
    hue = fmt::format("c{}", filesystem_colour(part.substr(start)));
    break;
  }
  return varied == std::string::npos ? hue : hue + " mode";
}

/// Returns a table of numbers with bars. The paper's number is drawn as a stroke and written next
/// to ours.
std::string bars_table(const Quantity& quantity) {
  const auto has = [&](auto member) {
    return std::ranges::any_of(quantity.numbers,
                               [&](const Number* n) { return (n->*member).has_value(); });
  };
  const bool compared = has(&Number::paper), over_seeds = has(&Number::low);
  double most = 0;
  for (const Number* n : quantity.numbers)
    most = std::max({most, n->ours.value_or(0), n->paper.value_or(0), n->high.value_or(0)});
  std::vector<Column> columns{{quantity.title}, {""}, {"here", Column::Kind::number}};
  if (over_seeds) columns.push_back({"range"});
  if (compared)
    columns.insert(columns.end(),
                   {{"paper", Column::Kind::number}, {"ratio", Column::Kind::number}});
  std::vector<std::vector<std::string>> rows;
  for (const Number* n : quantity.numbers) {
    Meter bar{.share = n->ours && most > 0 ? *n->ours / most : 0, .css_class = bar_class(n->cell)};
    if (n->paper && most > 0) bar.mark = *n->paper / most;
    if (n->low && n->high && most > 0) {
      bar.low = *n->low / most;
      bar.high = *n->high / most;
    }
    const bool drawn = most > 0 && (n->ours.value_or(0) > 0 || n->paper.value_or(0) > 0);
    std::vector<std::string> row{escape(n->cell), drawn ? meter(bar) : "",
                                 n->ours ? figure(n->ours) : escape(n->remark)};
    if (over_seeds)
      row.push_back(n->low && n->high ? figure(n->low) + " to " + figure(n->high) : "");
    if (compared) {
      row.push_back(figure(n->paper));
      row.push_back(
          n->paper && n->ours && *n->paper != 0 ? fmt::format("{:.2f}", *n->ours / *n->paper) : "");
    }
    rows.push_back(std::move(row));
  }
  return html_table(columns, rows, "bars");
}

/// Returns a table of the plotted values, with a row for each line and a column for each number of
/// users.
std::string lines_table(const Quantity& quantity, const std::string& axis) {
  std::vector<std::string> names;
  std::set<int> xs;
  std::map<std::pair<std::string, int>, const Number*> numbers;
  Quantity rest{quantity.title, {}};
  for (const Number* n : quantity.numbers) {
    const auto parts = name_and_number(n->cell);
    if (!parts) {
      rest.numbers.push_back(n);
      continue;
    }
    if (std::ranges::find(names, parts->first) == names.end()) names.push_back(parts->first);
    xs.insert(parts->second);
    numbers[*parts] = n;
  }
  std::vector<Column> columns{{quantity.title + (axis.empty() ? "" : ", by " + axis)}};
  for (const int x : xs) columns.push_back({fmt::format("{}", x), Column::Kind::number});
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : names) {
    auto& row = rows.emplace_back(std::vector{escape(name)});
    for (const int x : xs) {
      const auto at = numbers.find({name, x});
      if (at == numbers.end()) {
        row.emplace_back();
        continue;
      }
      const Number& n = *at->second;
      std::string text = n.ours ? figure(n.ours) : escape(n.remark);
      if (n.low && n.high)
        text += fmt::format("<small>{} to {}</small>", figure(n.low), figure(n.high));
      if (n.paper) text += fmt::format("<small>paper {}</small>", figure(n.paper));
      row.push_back(std::move(text));
    }
  }
  return html_table(columns, rows, "cards lines") + (rest.numbers.empty() ? "" : bars_table(rest));
}

std::string numbers_of(const Claim& claim) {
  std::string lines, bars;
  bool strokes = false;
  for (const Quantity& quantity : quantities_of(claim)) {
    if (!lines_of(quantity).empty()) {
      lines += lines_table(quantity, axis_of(claim));
    } else {
      bars += "<div>" + bars_table(quantity) + "</div>\n";
      strokes = strokes || std::ranges::any_of(quantity.numbers, [](const Number* n) {
                  return n->paper.has_value();
                });
    }
  }
  if (!bars.empty())
    bars = (strokes ? "<p class=\"legend\"><span>bars: here; strokes: the paper</span></p>\n"
                    : std::string{}) +
           "<div class=\"plots\">\n" + bars + "</div>\n";
  return lines + bars;
}

std::string rule_id(const Claim& claim, std::size_t rule) {
  return anchor("rule", fmt::format("{}/{}", claim.id, rule + 1));
}

const char* mark_class(const Rule& rule) {
  return rule.verdict == ClaimVerdict::holds           ? "good"
         : rule.verdict == ClaimVerdict::does_not_hold ? "bad"
                                                       : "open";
}

struct Score {
  std::size_t hold = 0, fail = 0, undecided = 0, vacuous = 0;
  std::size_t all() const { return hold + fail + undecided + vacuous; }

  void count(const Rule& rule) {
    ++(rule.verdict == ClaimVerdict::holds       ? hold
       : rule.verdict == ClaimVerdict::undecided ? undecided
       : rule.verdict == ClaimVerdict::vacuous   ? vacuous
                                                 : fail);
  }
};

Score score_of(const Claim& claim) {
  Score score;
  for (const Rule& rule : claim.rules) score.count(rule);
  return score;
}

/// Counts the rules of all claims by class. The class of the paper's own rules comes first.
std::vector<std::pair<RuleClass, Score>> scores_by_class(const std::vector<Claim>& claims) {
  std::vector<std::pair<RuleClass, Score>> scores{{RuleClass::paper, {}}};
  for (const Claim& claim : claims) {
    for (const Rule& rule : claim.rules) {
      auto at = std::ranges::find(scores, rule.kind, &std::pair<RuleClass, Score>::first);
      if (at == scores.end()) at = scores.insert(at, {rule.kind, {}});
      at->second.count(rule);
    }
  }
  return scores;
}

std::string classes_table(const std::vector<std::pair<RuleClass, Score>>& scores) {
  std::vector<Column> columns{{"rules, by class"}};
  for (const char* verdict : {"hold", "do not hold", "undecided", "vacuous"})
    columns.push_back({verdict, Column::Kind::number});
  std::vector<std::vector<std::string>> rows;
  for (const auto& [kind, score] : scores) {
    if (score.all() == 0) continue;
    std::vector<std::string> row{escape(name(kind))};
    for (const std::size_t count : {score.hold, score.fail, score.undecided, score.vacuous})
      row.push_back(fmt::format("{}", count));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return {};
  return html_table(columns, rows) +
         "<p>paper: a run is compared with a statement of the paper. ours: our own question. "
         "arithmetic: printed numbers or a formula decide. calibrated: the number was used to "
         "calibrate a constant. vacuous: the mechanism did not act in the run.</p>\n";
}

std::string verdict_of(const Score& score) {
  if (score.all() == 0) return "<span class=\"verdict none\">numbers only</span>";
  if (score.fail > 0)
    return fmt::format("<span class=\"verdict bad\">{} of {} fail</span>", score.fail, score.all());
  if (score.undecided > 0)
    return fmt::format("<span class=\"verdict open\">{} of {} undecided</span>", score.undecided,
                       score.all());
  if (score.vacuous > 0)
    return fmt::format("<span class=\"verdict open\">{} of {} vacuous</span>", score.vacuous,
                       score.all());
  return score.all() == 1
             ? "<span class=\"verdict good\">holds</span>"
             : fmt::format("<span class=\"verdict good\">all {} hold</span>", score.all());
}

/// Returns the indices of the rules, those of failed rules first and those of undecided rules
/// second.
std::vector<std::size_t> failures_first(const Claim& claim) {
  std::vector<std::size_t> order(claim.rules.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const std::string_view mark = mark_class(claim.rules[i]);
    return mark == "bad" ? 0 : mark == "open" ? 1 : 2;
  });
  return order;
}

/// Returns the text of a rule. The rule's class precedes the text, except for the paper's own
/// rules.
std::string marked_text(const Rule& rule) {
  const std::string mark =
      rule.kind == RuleClass::paper ? "" : fmt::format("({}) ", name(rule.kind));
  return escape(mark + rule.text);
}

std::string rules_table(const Claim& claim) {
  if (claim.rules.empty()) return {};
  std::string out =
      "<table class=\"cards rules\">\n<thead><tr><th scope=\"col\">what must hold</th><th scope=\"col\">verdict</th>"
      "<th scope=\"col\">numbers</th></tr></thead>\n<tbody>\n";
  for (const std::size_t i : failures_first(claim)) {
    const Rule& rule = claim.rules[i];
    out += fmt::format(
        "<tr class=\"{0}\" id=\"{1}\"><td data-label=\"what must hold\">{2}</td><td data-label=\"verdict\"><span class=\"verdict "
        "{0}\">{3}</span></td><td data-label=\"numbers\">{4}</td></tr>\n",
        mark_class(rule), rule_id(claim, i), marked_text(rule), escape(name(rule.verdict)),
        escape(rule.detail));
  }
  return out + "</tbody></table>\n";
}

/// Returns true if the claim has only tables. Such a claim summarises the experiment and precedes
/// the other claims.
bool opens_the_page(const Claim& claim) {
  return claim.id == kSummary && claim.rules.empty() && claim.numbers.empty() &&
         !claim.tables.empty();
}

/// Returns the scoreboard: first claims that do not hold, then undecided claims, then claims that
/// hold, then claims that have only numbers.
std::string scoreboard(const std::vector<Claim>& claims) {
  std::vector<const Claim*> order;
  order.reserve(claims.size());
  for (const Claim& claim : claims)
    if (!opens_the_page(claim) && claim.id != kInShort) order.push_back(&claim);
  std::ranges::stable_sort(order, {}, [](const Claim* claim) {
    const Score score = score_of(*claim);
    return score.fail > 0 ? 0 : score.undecided + score.vacuous > 0 ? 1 : score.all() > 0 ? 2 : 3;
  });
  std::vector<std::vector<std::string>> rows;
  std::string without;
  std::size_t without_rules = 0;
  for (const Claim* claim : order) {
    const std::string link =
        fmt::format("<a href=\"#{}\"><b>{}</b></a>", anchor("claim", claim->id), escape(claim->id));
    if (claim->rules.empty()) {
      without += fmt::format("{}{}", without.empty() ? "" : ", ", link);
      ++without_rules;
      continue;
    }
    std::string marks, failing;
    std::size_t listed = 0, fails = 0;
    for (const std::size_t i : failures_first(*claim)) {
      const Rule& rule = claim->rules[i];
      const std::string_view css = mark_class(rule);
      marks += fmt::format("<a class=\"{}\" href=\"#{}\" title=\"{}: {}\">{}</a> ", css,
                           rule_id(*claim, i), escape(name(rule.verdict)), marked_text(rule),
                           css == "good"  ? "&#10003;"
                           : css == "bad" ? "&#10007;"
                                          : "?");
      if (css != "bad") continue;
      ++fails;
      if (listed == kFailuresInTheScoreboard) continue;
      ++listed;
      failing += fmt::format("<li>{}</li>\n", marked_text(rule));
    }
    if (fails > listed)
      failing += fmt::format("<li class=\"muted\">{} more</li>\n", fails - listed);
    rows.push_back({link + " " + escape(claim->title) +
                        (failing.empty() ? "" : "<ul class=\"fails\">\n" + failing + "</ul>"),
                    verdict_of(score_of(*claim)), "<span class=\"marks\">" + marks + "</span>"});
  }
  std::string out = rows.empty()
                        ? ""
                        : html_table({{"claim; rules that do not hold"}, {"result"}, {"checks"}},
                                     rows, "cards claims");
  if (without_rules > kNumbersOnlyNamed)
    out += fmt::format("<p>{} more claims have numbers, but no rules.</p>\n", without_rules);
  else if (!without.empty())
    out += fmt::format("<p>Numbers only: {}</p>\n", without);
  return out;
}

/// Returns the sections for the summary's tables. The heat maps and the first other table are
/// visible at once; the remaining tables are in a collapsible part.
std::vector<Section> summary_sections(const Claim& claim) {
  std::string maps, first, others;
  for (const OwnTable& table : claim.tables) {
    if (is_heat_map(table)) {
      maps += own_heat_map(table);
    } else {
      (first.empty() ? first : others) += own_table(table);
    }
  }
  if (!others.empty())
    first += folded({.summary = "pairwise comparisons, and their differences", .html = others});
  std::vector<Section> sections;
  if (!maps.empty())
    sections.push_back(
        {.id = "who-wins-where", .title = "Winners of each comparison", .html = std::move(maps)});
  if (!first.empty())
    sections.push_back(
        {.id = "costs-and-losses", .title = "Costs and losses", .html = std::move(first)});
  return sections;
}

Result<std::string> claims_html(const std::vector<Claim>& claims) {
  std::vector<Drawing> drawings;
  std::vector<std::vector<std::string>> titles;
  for (const Claim& claim : claims) {
    titles.emplace_back();
    for (const OwnPlot& plot : plots_of(claim)) {
      drawings.push_back(curves_of(plot));
      titles.back().push_back(escape(plot.title) + legend_of(plot));
    }
  }
  TRY(auto drawn, draw_all(drawings));
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    std::vector<Plot> plots;
    for (const std::string& title : titles[i]) plots.push_back({title, std::move(drawn[next++])});
    if (opens_the_page(claim) || claim.id == kInShort) continue;
    std::string html = rules_table(claim);
    if (!plots.empty()) html += plot_grid(plots);
    html += numbers_of(claim);
    html += tables_html(claim);
    out += folded({.summary = fmt::format("<b>{}</b>{}{} {}", escape(claim.id),
                                          claim.title.empty() ? "" : " ", escape(claim.title),
                                          verdict_of(score_of(claim))),
                   .html = html,
                   .id = anchor("claim", claim.id),
                   .css_class = "cell"});
  }
  return out;
}

}  // namespace

Result<ExperimentPage> experiment_page(db::Database& database, std::int64_t run) {
  TRY(const auto claims, claims_of(database, run));
  TRY(const auto runs, run_query(database, "experiment_run", run));
  ExperimentPage page;
  std::string name = "experiment";
  if (runs.size() > 0) {
    const Row row = runs.row(0);
    name = row.text("name");
    page.cells = row.integer("cells");
    page.failed = row.integer("failed");
  }
  TRY(const auto html, claims_html(claims));
  // On the page of a paper, only the paper's own rules count. An experiment with its own summary is
  // not about a paper, so all of its rules count.
  const bool of_a_paper = std::ranges::none_of(claims, opens_the_page);
  const auto scores = scores_by_class(claims);
  Score counted;
  for (const Claim& claim : claims)
    for (const Rule& rule : claim.rules)
      if (!of_a_paper || rule.kind == RuleClass::paper) counted.count(rule);
  page.hold = static_cast<std::int64_t>(counted.hold);
  page.do_not_hold = static_cast<std::int64_t>(counted.fail);
  page.undecided = static_cast<std::int64_t>(counted.undecided);
  const std::size_t rules = counted.all();
  const std::string_view against = of_a_paper ? " against the paper" : "";
  std::string answer = fmt::format("{} of {} checks{} hold, {} {} not", page.hold, rules, against,
                                   page.do_not_hold, page.do_not_hold == 1 ? "does" : "do");
  if (rules == 0) answer = fmt::format("no check{}", against);
  if (page.undecided > 0)
    answer += fmt::format("; undecided, because executions disagree or a number is missing: {}",
                          page.undecided);
  if (counted.vacuous > 0)
    answer += fmt::format("; vacuous, because the mechanism did not act: {}", counted.vacuous);
  std::vector<std::pair<std::string, std::string>> facts{
      {"claims", fmt::format("{}", claims.size())}};
  if (page.cells > 0) facts.emplace_back("cells", fmt::format("{}", page.cells));
  if (page.failed > 0) facts.emplace_back("failed cells", fmt::format("{}", page.failed));
  Page whole{
      .title = name,
      .opening = fmt::format("<header>\n<p class=\"kind\">An experiment in virtual time</p>\n"
                             "<h1>{}</h1>\n<p class=\"answer\">{}</p>\n{}</header>\n",
                             escape(name), answer, facts_line(facts)),
      .sections = {}};
  for (const Claim& claim : claims) {
    if (claim.id != kInShort) continue;
    whole.sections.push_back({.id = "in-short", .title = "In short", .html = tables_html(claim)});
  }
  for (const Claim& claim : claims) {
    if (!opens_the_page(claim)) continue;
    for (Section& section : summary_sections(claim)) whole.sections.push_back(std::move(section));
  }
  if (!claims.empty()) {
    whole.sections.push_back(
        {.id = "scoreboard",
         .title = "Scoreboard",
         .html = classes_table(scores) + scoreboard(claims) + query_note("claim_rules", run)});
    whole.sections.push_back(
        {.id = "claims", .title = "Claims", .html = html + query_note("claim_numbers", run)});
  }
  page.html = framed_page(whole);
  return page;
}

}  // namespace headcrash::report
