// What is read first. A control that did not lose what it must comes before everything else: nothing below it
// counts.
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

}  // namespace

std::string opening(const Facts& facts, const Answer& answer) {
  std::string out = "<header>\n";
  if (!answer.valid) {
    out += "<div class=\"invalid\" role=\"alert\"><strong>This report is invalid.</strong>";
    for (const auto& control : answer.failed_controls) out += " " + escape(control);
    out += " A laboratory that misses this loss cannot vouch for the rest.</div>\n";
  }
  out += fmt::format("<p class=\"kind\">{}</p>\n<h1>{}</h1>\n", escape(kind_in_words(facts.run.kind)),
                     escape(facts.run.name.empty() ? fmt::format("run {}", facts.run.id) : facts.run.name));
  out += fmt::format("<p class=\"answer\">{}</p>\n", escape(answer.paragraph));
  if (!answer.controls.empty()) out += fmt::format("<p class=\"controls\">{}</p>\n", escape(answer.controls));
  if (!answer.cautions.empty()) {
    out += "<ul class=\"cautions\">\n";
    for (const auto& caution : answer.cautions) out += fmt::format("<li>{}</li>\n", escape(caution));
    out += "</ul>\n";
  }
  return out + facts_line(facts) + "</header>\n";
}

}  // namespace headcrash::report
