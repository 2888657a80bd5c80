// What is read first: status line, notes, table. A failed control comes before everything else, since the
// report proves nothing without it.
#include <fmt/format.h>

#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

std::string kind_in_words(const std::string& kind) {
  if (kind == "campaign") return "Crash-and-recovery campaign";
  if (kind == "bench") return "Timed comparison";
  if (kind == "experiment") return "Experiment";
  return kind;
}

std::string fact(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
}

std::string facts_line(const Facts& facts) {
  const auto& run = facts.run;
  std::string out = "<dl class=\"facts\">";
  const bool whole = run.recorded == run.planned;
  out += fact("trials",
              whole ? fmt::format("{}", run.recorded) : fmt::format("{} of {}", run.recorded, run.planned));
  out += fact("file systems", fmt::format("{}", facts.filesystems.size()));
  out += fact("not as expected", fmt::format("{}", facts.unexpected()));
  out += fact("run", fmt::format("{}, {}", run.id, run.started_at));
  if (run.finished_at) out += fact("took", duration(run.seconds));
  out += fact("seed", fmt::format("{}", run.seed));
  return out + "</dl>\n";
}

std::string as_expected(const SystemRow& row) {
  if (!row.as_expected) return "<span class=\"muted\">nothing promised</span>";
  return *row.as_expected ? "<span class=\"yes\">&#10003; yes</span>"
                          : "<span class=\"no\">&#10007; no</span>";
}

std::string systems_table(const Facts& facts, const Answer& answer) {
  const std::vector<Column> columns = {{"file system"},
                                       {"outcomes"},
                                       {"trials", Column::Kind::number},
                                       {"kept", Column::Kind::number},
                                       {"lost", Column::Kind::number},
                                       {"other", Column::Kind::number},
                                       {"verdicts"},
                                       {"expected"},
                                       {"as expected?"}};
  std::vector<std::vector<std::string>> rows;
  for (const SystemRow& row : answer.systems) {
    const std::string place = row.variant.empty() ? row.place : row.variant + ", " + row.place;
    rows.push_back({fmt::format("{}<small>{}</small>", filesystem_name(facts, row.filesystem), escape(place)),
                    outcome_bar(row.clean, row.replayed, row.lost, row.other), fmt::format("{}", row.trials),
                    number(row.clean + row.replayed),
                    number(row.lost, row.as_expected == false ? "no" : nullptr), number(row.other),
                    escape(row.verdicts),
                    escape(row.expected) + (row.control ? "<small>control</small>" : ""), as_expected(row)});
  }
  return outcome_legend() + html_table(columns, rows, "cards systems");
}

}  // namespace

std::string outcome_legend() {
  return "<p class=\"legend\"><span><i class=\"box clean\"></i>clean</span> <span><i class=\"box "
         "replayed\"></i>replayed: recovered by its own journal</span> <span><i class=\"box lost\"></i>lost "
         "data</span> <span><i class=\"box other\"></i>other: repaired by fsck, hang, oops, harness "
         "error</span></p>\n";
}

std::string notes_list(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  std::string out = "<ul class=\"notes\">\n";
  for (const std::string& note : notes) out += fmt::format("<li>{}</li>\n", escape(note));
  return out + "</ul>\n";
}

std::string opening(const Facts& facts, const Answer& answer) {
  std::string out = "<header>\n";
  if (!answer.valid) {
    out +=
        "<div class=\"invalid\" role=\"alert\"><strong>This report is invalid</strong> Controls that were not as "
        "expected:<ul>\n";
    for (const auto& control : answer.failed_controls) out += fmt::format("<li>{}</li>\n", escape(control));
    out += "</ul></div>\n";
  }
  out += fmt::format("<p class=\"kind\">{}</p>\n<h1>{}</h1>\n", escape(kind_in_words(facts.run.kind)),
                     escape(facts.run.name.empty() ? fmt::format("run {}", facts.run.id) : facts.run.name));
  out += fmt::format("<p class=\"answer\">{}</p>\n", escape(answer.status));
  if (!answer.controls.empty() && answer.controls != answer.status)
    out += fmt::format("<p class=\"controls\">{}</p>\n", escape(answer.controls));
  out += notes_list(answer.notes) + facts_line(facts);
  if (!answer.systems.empty()) out += systems_table(facts, answer);
  return out + "</header>\n";
}

}  // namespace headcrash::report
