// Shows the run's environment, with all information that is needed to repeat the run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/report/frame/html.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

std::string entry(const std::string& name, const std::string& html) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), html);
}

/// Formats the members of a recorded JSON object. Text that is not a JSON object is returned
/// unchanged.
std::string members(const std::string& json_text, const std::string& otherwise) {
  const auto json = nlohmann::json::parse(json_text, nullptr, false);
  if (!json.is_object())
    return json_text.empty() ? std::string{} : entry(otherwise, escape(json_text));
  std::string out;
  for (const auto& [name, value] : json.items()) {
    const auto text = value.is_string()
                          ? value.get<std::string>()
                          : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out += entry(name, escape(text));
  }
  return out;
}

}  // namespace

Section environment_section(const Facts& facts) {
  const auto& run = facts.run;
  std::string out = "<div class=\"columns\">\n<div><h3>Host</h3><dl class=\"list\">\n";
  out += members(run.host, "host") + entry("accelerator", escape(run.accelerator));
  out += "</dl></div>\n<div><h3>Versions</h3><dl class=\"list\">\n" +
         members(run.versions, "versions");
  out += "</dl></div>\n<div><h3>Run</h3><dl class=\"list\">\n";
  out += entry("started", escape(run.started_at)) +
         entry("ended", run.finished_at ? escape(*run.finished_at)
                                        : "<span class=\"muted\">no end recorded</span>");
  out += entry("seed", fmt::format("{}", run.seed)) +
         entry("digest", "<code>" + escape(run.digest) + "</code>");
  out += "</dl></div>\n</div>\n" + query_note("run", run.id);
  return {.id = "environment",
          .title = "Environment",
          .html = folded({.summary = "Host, versions, run", .html = out, .css_class = "on-paper"}) +
                  details("The whole configuration",
                          "<pre><code>" + escape(run.configuration) + "</code></pre>\n")};
}

}  // namespace headcrash::report
