#include "results/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/report/embedded_text.h"
#include "results/report/html.h"
#include "results/report/palette.h"
#include "results/report/sections.h"

namespace headcrash::report {

std::string whole_page(const std::string& title, const std::string& content, std::string_view style) {
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

Result<std::string> page(const Facts& facts) {
  const auto recovery = recovery_plots(facts);
  if (!recovery) return pass_on(recovery);
  const auto latency = latency_plots(facts);
  if (!latency) return pass_on(latency);
  const auto io = io_plots(facts);
  if (!io) return pass_on(io);

  const Answer answered = answer(facts);
  std::string out = opening(facts, answered);
  out += exploration_section(facts);
  out += verdict_section(facts, answered.systems.size());
  const bool timed = facts.explored.empty() || std::ranges::any_of(facts.cells, [](const Cell& cell) {
                       return cell.device != "stage";
                     });
  if (timed) {
    out += recovery_section(facts, *recovery);
    out += latency_section(facts, *latency);
    out += io_section(facts, *io);
    out += lateness_section(facts);
  }
  out += environment_section(facts);
  return whole_page(facts.run.name, out);
}

}  // namespace headcrash::report
