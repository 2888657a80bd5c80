// Claims: their numbers, rules, tables, bars and plots (experiment_page.h).
#include "results/report/experiment_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "results/report/drawing.h"
#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/report/palette.h"
#include "results/report/query.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kBarPlotsPerClaim = 2;
constexpr std::size_t kBarsInAPlotMost = 32;     // more are a table, not a picture
constexpr std::size_t kAxisCharacters = 40;      // what a plot's height has room for
constexpr std::size_t kBarLabelCharacters = 44;  // cells are told apart by the ends of their names

struct Number {
  std::string cell, quantity, unit, remark;
  std::optional<double> paper, ours, low, high;
};
struct Rule {
  std::string text, verdict, detail;
};
struct OwnTable {
  std::string name, title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
struct OwnSeries {
  std::string name;
  bool from_paper = false;
  std::string points;  // as gnuplot reads them
};
struct OwnPlot {
  std::string name, title, x, y;
  bool logarithmic_x = false;
  std::vector<OwnSeries> series;
};
struct Claim {
  std::string id, title;
  std::vector<OwnTable> tables = {};
  std::vector<OwnPlot> plots = {};
  std::vector<Number> numbers;
  std::vector<Rule> rules;
};

std::string figure(const std::optional<double>& value) {
  if (!value) return "";
  return std::abs(*value) >= 1000 ? fmt::format("{:.0f}", *value) : fmt::format("{:.4g}", *value);
}

/// The claim that a row belongs to, made if this is its first row. Its numbers tell its title.
Claim& claim_of(std::vector<Claim>& claims, const Row& row) {
  const std::string id = row.text("claim");
  const auto at = std::ranges::find(claims, id, &Claim::id);
  if (at != claims.end()) return *at;
  claims.push_back({.id = id});
  return claims.back();
}

/// Of one row after the other, from left to right.
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
    plot.series.push_back({.name = line, .from_paper = row.integer("from_paper") != 0});
  plot.series.back().points += fmt::format("{}\t{}\n", row.real("x"), row.real("y"));
}

Result<std::vector<Claim>> claims_of(db::Database& database, std::int64_t run) {
  const auto numbers = run_query(database, "claim_numbers", run);
  if (!numbers) return pass_on(numbers);
  const auto rules = run_query(database, "claim_rules", run);
  if (!rules) return pass_on(rules);
  const auto tables = run_query(database, "claim_tables", run);
  if (!tables) return pass_on(tables);
  const auto points = run_query(database, "claim_points", run);
  if (!points) return pass_on(points);
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    const Row row = numbers->row(i);
    Claim& claim = claim_of(claims, row);
    claim.title = row.text("title");
    claim.numbers.push_back({row.text("cell"), row.text("quantity"), row.text("unit"), row.text("remark"),
                             row.maybe_real("paper"), row.maybe_real("ours"), row.maybe_real("low"),
                             row.maybe_real("high")});
  }
  for (std::size_t i = 0; i < rules->size(); ++i) {
    const Row row = rules->row(i);
    claim_of(claims, row).rules.push_back({row.text("rule"), row.text("verdict"), row.text("detail")});
  }
  for (std::size_t i = 0; i < tables->size(); ++i) add_cell(claim_of(claims, tables->row(i)), tables->row(i));
  for (std::size_t i = 0; i < points->size(); ++i)
    add_point(claim_of(claims, points->row(i)), points->row(i));
  return claims;
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size();
}

std::string own_table(const OwnTable& table) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool numbers = std::ranges::all_of(table.rows, [i](const auto& row) { return is_number(row[i]); });
    columns.push_back({table.columns[i], numbers ? Column::Kind::number : Column::Kind::text});
  }
  std::vector<std::vector<std::string>> rows = table.rows;
  for (auto& row : rows) {
    row.resize(columns.size());
    for (std::string& value : row) value = escape(value);
  }
  return fmt::format("<h3>{}</h3>\n", escape(table.title)) + html_table(columns, rows);
}

/// A line's name in the key, below the plot, where there is room for all of it.
std::string key_label(const std::string& text) {
  constexpr std::size_t kPiece = 20;  // less than what plot_label() cuts
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::ranges::all_of(text, ascii)) return plot_label(text);
  std::string label;
  for (std::size_t at = 0; at < text.size(); at += kPiece) label += plot_label(text.substr(at, kPiece));
  return label;
}

Drawing curves_of(const OwnPlot& plot) {
  std::string data, colours, lines;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const OwnSeries& series = plot.series[i];
    data += fmt::format("\"{}\"\n{}\n\n", key_label(series.name), series.points);
    colours += fmt::format("{} ", kFilesystemColours.at(i % kFilesystemColours.size()).light);
    lines += series.from_paper ? "0 " : "1 ";
  }
  constexpr int kPlotHeight = 270, kKeyLine = 16;
  return {
      kPlotHeight + kKeyLine * static_cast<int>(plot.series.size()),
      fmt::format("series = {}\ncolours = \"{}\"\nlines = \"{}\"\nxname = \"{}\"\nyname = \"{}\"\nlogx = "
                  "{}\n{}",
                  plot.series.size(), colours, lines, plot_label(plot.x, kAxisCharacters),
                  plot_label(plot.y, kAxisCharacters), plot.logarithmic_x ? 1 : 0, data_block("data", data)),
      "series.gp", fmt::format("{}: {} by {}", plot.title, plot.y, plot.x)};
}

/// Without the paper's columns where it has no number.
std::string numbers_table(const Claim& claim) {
  const bool compared =
      std::ranges::any_of(claim.numbers, [](const Number& n) { return n.paper.has_value(); });
  const bool over_seeds =
      std::ranges::any_of(claim.numbers, [](const Number& n) { return n.low.has_value(); });
  std::vector<Column> columns{{"cell"}, {"quantity"}};
  if (compared) columns.push_back({"paper", Column::Kind::number});
  columns.push_back({"here", Column::Kind::number});
  if (over_seeds) columns.push_back({"95 %"});
  if (compared) columns.push_back({"ratio", Column::Kind::number});
  std::vector<std::vector<std::string>> rows;
  for (const Number& n : claim.numbers) {
    std::vector<std::string> row{escape(n.cell),
                                 escape(n.unit.empty() ? n.quantity : n.quantity + " (" + n.unit + ")")};
    if (compared) row.push_back(figure(n.paper));
    row.push_back(n.ours ? figure(n.ours) : escape(n.remark));
    if (over_seeds) row.push_back(n.low && n.high ? figure(n.low) + " to " + figure(n.high) : "");
    const bool comparable = n.paper && n.ours && *n.paper != 0;
    if (compared) row.push_back(comparable ? fmt::format("{:.2f}", *n.ours / *n.paper) : "");
    rows.push_back(std::move(row));
  }
  return html_table(columns, rows);
}

std::string rules_table(const Claim& claim) {
  if (claim.rules.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const Rule& rule : claim.rules) {
    const std::string verdict = escape(rule.verdict);
    rows.push_back({escape(rule.text), rule.verdict == "holds" ? verdict : "<b>" + verdict + "</b>",
                    escape(rule.detail)});
  }
  return html_table({{"what must hold"}, {"verdict"}, {"numbers"}}, rows, "cards");
}

/// Ours as bars, the paper's as a stroke across the bar. What is varied, behind a semicolon, is grey.
Drawing bars_of(const Claim& claim, const std::vector<const Number*>& numbers) {
  constexpr std::size_t kBlue = 0, kGrey = 8;
  std::string data;
  std::size_t margin = 4;
  double most = 0;
  int row = 0;
  for (const Number* n : numbers) {
    const std::string label = plot_label(n->cell, kBarLabelCharacters);
    margin = std::max(margin, characters_in(label));
    most = std::max({most, *n->ours, n->paper.value_or(0)});
    const bool varied = n->cell.find(';') != std::string::npos;
    const auto& colour = kFilesystemColours.at(varied ? kGrey : kBlue);
    const double paper = n->paper.value_or(-1);  // beyond the axis
    data += fmt::format("{0}\t{1}\t{1}\t{2}\t{3}\t{4}\n", *n->ours, paper, ++row, rgb_number(colour.light),
                        label);
  }
  return {
      44 + 26 * row,
      fmt::format("rows = {}\nmargin = {:.1f}\nunit = \"{}\"\nscale = 1\nstep = {}\nmost = {}\n{}{}", row,
                  static_cast<double>(margin) * 0.92 + 2, axis_unit(numbers.front()->unit), tick_step(most),
                  most * 1.04, data_block("data", data), data_block("values", "-1\t-1\n")),
      "bars.gp", fmt::format("{} of each cell of {}", numbers.front()->quantity, claim.id)};
}

/// What the two kinds of marks of a plot are, where there are two.
std::string legend(bool compared, const char* both) {
  return compared ? fmt::format(" <small>{}</small>", both) : std::string();
}

/// The claim's own plots, then bars of its first quantities.
std::vector<std::pair<Drawing, std::string>> drawings_of(const Claim& claim) {
  std::vector<std::pair<Drawing, std::string>> out;
  for (const OwnPlot& plot : claim.plots) {
    const bool compared =
        std::ranges::any_of(plot.series, [](const OwnSeries& series) { return series.from_paper; });
    out.emplace_back(curves_of(plot), escape(plot.title) + legend(compared, "lines: here; rings: the paper"));
  }
  std::vector<std::string> quantities;
  for (const Number& n : claim.numbers) {
    if (std::ranges::find(quantities, n.quantity) == quantities.end()) quantities.push_back(n.quantity);
  }
  std::size_t bars = 0;
  for (const std::string& quantity : quantities) {
    std::vector<const Number*> drawn;
    for (const Number& n : claim.numbers) {
      if (n.quantity == quantity && n.ours && *n.ours >= 0) drawn.push_back(&n);
    }
    const auto seen = std::ranges::count_if(drawn, [](const Number* n) { return *n->ours > 0; });
    if (seen < 2 || drawn.size() > kBarsInAPlotMost || bars == kBarPlotsPerClaim) continue;
    const bool compared = std::ranges::any_of(drawn, [](const Number* n) { return n->paper.has_value(); });
    out.emplace_back(bars_of(claim, drawn),
                     escape(quantity) + legend(compared, "bars: here; strokes: the paper"));
    ++bars;
  }
  return out;
}

/// Where own tables show numbers over seeds, the numbers' own table is folded away behind them.
std::string tables_of(const Claim& claim) {
  std::string own;
  for (const OwnTable& table : claim.tables) own += own_table(table);
  if (claim.numbers.empty()) return own;
  const bool over_seeds =
      std::ranges::any_of(claim.numbers, [](const Number& n) { return n.low.has_value(); });
  if (own.empty() || !over_seeds) return numbers_table(claim) + own;
  return own + fmt::format("<details><summary>{} numbers with their intervals</summary>\n{}</details>\n",
                           claim.numbers.size(), numbers_table(claim));
}

Result<std::string> claim_sections(const std::vector<Claim>& claims, std::int64_t run) {
  std::vector<Drawing> drawings;
  std::vector<std::vector<std::string>> titles;
  for (const Claim& claim : claims) {
    titles.emplace_back();
    for (auto& [drawing, title] : drawings_of(claim)) {
      drawings.push_back(drawing);
      titles.back().push_back(title);
    }
  }
  auto drawn = draw_all(drawings);
  if (!drawn) return pass_on(drawn);
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    std::vector<Plot> plots;
    for (const std::string& title : titles[i]) plots.push_back({title, std::move((*drawn)[next++])});
    out += fmt::format("<section>\n<h2>{}{}{}</h2>\n", escape(claims[i].id),
                       claims[i].title.empty() ? "" : ": ", escape(claims[i].title));
    if (!plots.empty()) out += plot_grid(plots);
    out += rules_table(claims[i]);
    out += tables_of(claims[i]);
    out += query_note("claim_numbers", run) + "</section>\n";
  }
  return out;
}

}  // namespace

Result<ExperimentPage> experiment_page(db::Database& database, std::int64_t run) {
  const auto claims = claims_of(database, run);
  if (!claims) return pass_on(claims);
  const auto runs = run_query(database, "experiment_run", run);
  if (!runs) return pass_on(runs);
  ExperimentPage page;
  std::string name = "experiment";
  if (runs->size() > 0) {
    const Row row = runs->row(0);
    name = row.text("name");
    page.cells = row.integer("cells");
    page.failed = row.integer("failed");
  }
  for (const Claim& claim : *claims) {
    for (const Rule& rule : claim.rules)
      ++(rule.verdict == "holds"       ? page.hold
         : rule.verdict == "undecided" ? page.undecided
                                       : page.do_not_hold);
  }
  const auto sections = claim_sections(*claims, run);
  if (!sections) return pass_on(sections);
  const std::int64_t rules = page.hold + page.do_not_hold + page.undecided;
  std::string answer =
      fmt::format("rules that hold: {} of {}; that do not: {}", page.hold, rules, page.do_not_hold);
  if (rules == 0) answer = "no rule is judged";
  if (page.undecided > 0)
    answer += fmt::format("; undecided, a cell is missing or failed: {}", page.undecided);
  if (page.cells > 0) answer += fmt::format("; cells: {}, failed: {}", page.cells, page.failed);
  page.html = whole_page(name, fmt::format("<header>\n<p class=\"kind\">An experiment in virtual time</p>\n"
                                           "<h1>{}</h1>\n<p class=\"answer\">{}</p>\n</header>\n",
                                           escape(name), answer) +
                                   *sections);
  return page;
}

}  // namespace headcrash::report
