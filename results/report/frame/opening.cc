// The first part of the page: the verdict as a sentence, collapsed cautions, and the table of the
// file systems. A failed control is reported before everything else, because it invalidates the
// report.
#include <fmt/format.h>

#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

std::string kind_in_words(const Facts& facts) {
  if (facts.run.kind == "campaign")
    return facts.explored.empty() ? "Power cuts and recoveries" : "Crash states and recoveries";
  return facts.run.kind;
}

std::string facts_of(const Facts& facts) {
  const auto& run = facts.run;
  const bool whole = run.recorded == run.planned;
  std::vector<std::pair<std::string, std::string>> list;
  list.emplace_back("trials", whole ? fmt::format("{}", run.recorded)
                                    : fmt::format("{} of {}", run.recorded, run.planned));
  std::int64_t states = 0;
  for (const ExploredCell& cell : facts.explored) states += cell.states;
  if (states > 0) list.emplace_back("crash states", fmt::format("{}", states));
  list.emplace_back("file systems", fmt::format("{}", facts.filesystems.size()));
  list.emplace_back("not as expected", fmt::format("{}", facts.unexpected()));
  list.emplace_back("run", fmt::format("{}, {}", run.id, run.started_at));
  if (run.finished_at) list.emplace_back("took", duration(run.seconds));
  list.emplace_back("seed", fmt::format("{}", run.seed));
  return facts_line(list);
}

/// Formats whether the result was as expected. For a control, "as expected" means that it lost
/// data, so the text is not "kept".
std::string as_expected(const SystemRow& row) {
  if (!row.as_expected) return "<span class=\"verdict none\">nothing promised</span>";
  if (!*row.as_expected) return "<span class=\"verdict bad\">not as expected</span>";
  return row.control ? "<span class=\"verdict good\">as expected</span>"
                     : "<span class=\"verdict good\">kept</span>";
}

std::string systems_table(const Answer& answer) {
  const std::vector<Column> columns = {{"file system"},
                                       {"outcomes"},
                                       {"trials", Column::Kind::number},
                                       {"kept", Column::Kind::number},
                                       {"lost", Column::Kind::number},
                                       {"other", Column::Kind::number},
                                       {"verdicts"},
                                       {"expected"},
                                       {"promises"}};
  std::vector<std::vector<std::string>> rows;
  for (const SystemRow& row : answer.systems) {
    const std::string place = row.variant.empty() ? row.place : row.variant + ", " + row.place;
    rows.push_back(
        {fmt::format("{}<small>{}</small>", filesystem_name(row.filesystem, !row.variant.empty()),
                     escape(place)),
         outcome_bar(row.clean, row.replayed, row.lost, row.known + row.other),
         fmt::format("{}", row.trials), number(row.clean + row.replayed),
         number(row.lost, row.as_expected == false ? "no" : nullptr), number(row.other),
         escape(row.verdicts), escape(row.expected) + (row.control ? "<small>control</small>" : ""),
         as_expected(row)});
  }
  return html_table(columns, rows, "cards systems") + outcome_legend();
}

}  // namespace

std::string outcome_legend() {
  return "<p class=\"legend\"><span><i class=\"box clean\"></i>clean</span> <span><i class=\"box "
         "replayed\"></i>replayed: recovered by its own journal</span> <span><i class=\"box lost\"></i>lost "
         "data</span> <span><i class=\"box other\"></i>other: repaired by fsck, hang, oops, harness "
         "error</span></p>\n";
}

std::string cautions(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  std::string out;
  for (const std::string& note : notes) out += fmt::format("<li>{}</li>\n", escape(note));
  return folded(
      {.summary = notes.size() == 1 ? "1 caution" : fmt::format("{} cautions", notes.size()),
       .html = "<ul class=\"notes\">\n" + out + "</ul>\n",
       .id = "cautions",
       .css_class = "cautions on-paper"});
}

std::string facts_line(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string out = "<dl class=\"facts\">";
  for (const auto& [name, value] : facts)
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
  return out + "</dl>\n";
}

std::string opening(const Facts& facts, const Answer& answer) {
  std::string out = "<header>\n";
  if (!answer.valid) {
    out +=
        "<div class=\"invalid\" role=\"alert\"><strong>This report is invalid</strong> Controls with unexpected "
        "results:<ul>\n";
    for (const auto& control : answer.failed_controls)
      out += fmt::format("<li>{}</li>\n", escape(control));
    out += "</ul></div>\n";
  }
  out += fmt::format(
      "<p class=\"kind\">{}</p>\n<h1>{}</h1>\n", escape(kind_in_words(facts)),
      escape(facts.run.name.empty() ? fmt::format("run {}", facts.run.id) : facts.run.name));
  out += fmt::format("<p class=\"answer\">{}</p>\n", escape(answer.status));
  if (!answer.controls.empty() && answer.controls != answer.status)
    out += fmt::format("<p class=\"controls\">{}</p>\n", escape(answer.controls));
  out += cautions(answer.notes) + facts_of(facts);
  if (!answer.systems.empty()) out += systems_table(answer);
  return out + "</header>\n";
}

}  // namespace headcrash::report
