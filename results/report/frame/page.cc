#include "results/report/frame/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/report/frame/embedded_text.h"
#include "results/report/frame/html.h"
#include "results/report/frame/palette.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

std::string contents_list(const Page& page) {
  std::string out = "<ol>\n<li><a href=\"#top\">Summary</a></li>\n";
  for (const Section& section : page.sections) {
    if (!section.title.empty())
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escape(section.title));
  }
  return out + "</ol>\n";
}

}  // namespace

std::string whole_page(const std::string& title, const std::string& content,
                       std::string_view style) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<title>headcrash: {}</title>\n<style>\n",
      escape(title));
  out += palette_css();
  out += embedded_text("style.css");
  out += style;
  return out + "</style>\n</head>\n<body>\n<main>\n" + content + "</main>\n</body>\n</html>\n";
}

std::string framed_page(const Page& page) {
  // The page contains the table of contents twice: next to the text for wide screens, and collapsed
  // above the text for narrow ones. The style sheet hides one of them.
  const std::string list = contents_list(page);
  std::string content = "<nav class=\"contents\" aria-label=\"Contents\">\n" + list +
                        "</nav>\n<div id=\"top\">\n" + page.opening +
                        "</div>\n<details class=\"contents\"><summary>Contents</summary>\n" + list +
                        "</details>\n";
  for (const Section& section : page.sections) {
    if (section.title.empty()) continue;
    content +=
        fmt::format("<section id=\"{0}\">\n<h2><a href=\"#{0}\">{1}</a></h2>\n{2}</section>\n",
                    section.id, escape(section.title), section.html);
  }
  return whole_page(page.title,
                    content + "<script>\n" + std::string(embedded_text("page.js")) + "</script>\n",
                    embedded_text("frame.css"));
}

Result<std::string> page(const Facts& facts) {
  TRY(const auto latency, latency_plots(facts));

  const Answer answered = answer(facts);
  Page page{.title = facts.run.name, .opening = opening(facts, answered), .sections = {}};
  const auto add = [&](Section section) { page.sections.push_back(std::move(section)); };
  add(outcomes_section(facts));
  add(bugs_section(facts));
  add(exploration_section(facts));
  add(trials_section(facts));
  const bool timed =
      facts.explored.empty() ||
      std::ranges::any_of(facts.cells, [](const Cell& cell) { return cell.device != "stage"; });
  if (timed) {
    add(recovery_section(facts));
    add(io_section(facts));
    add(latency_section(facts, latency));
    add(lateness_section(facts));
  }
  add(environment_section(facts));
  return framed_page(page);
}

}  // namespace headcrash::report
