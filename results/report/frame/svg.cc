// Compacts SVG. gnuplot writes a <use> element of 90 bytes for each mark. Here, the marks of a
// series of dots become one path of zero-length strokes with round caps, each of 12 bytes, so that
// a scatter plot of 20 000 requests stays small. The rest of the conversion works line by line and
// relies on the form of our own templates.
#include "results/report/frame/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <vector>

#include "results/report/frame/html.h"
#include "results/report/frame/palette.h"

namespace headcrash::report {
namespace {

std::string between(const std::string& line, const std::string& before, const std::string& after) {
  const auto start = line.find(before);
  if (start == std::string::npos) return {};
  const auto end = line.find(after, start + before.size());
  return end == std::string::npos ? std::string{}
                                  : line.substr(start + before.size(), end - start - before.size());
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Removes every part of the text that begins with `from` and ends with the next `to`.
void drop_stretches(std::string& text, const std::string& from, const std::string& to) {
  std::string kept;
  std::size_t done = 0;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, done)) {
    const auto end = text.find(to, at + from.size());
    if (end == std::string::npos) break;
    kept.append(text, done, at - done);
    done = end + to.size();
  }
  text = kept.append(text, done);
}

/// Removes empty groups. gnuplot opens a group whenever the pen changes, and most of these groups
/// are empty.
std::string without_empty_groups(const std::string& text) {
  std::vector<std::string> kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string::npos) continue;
    line.erase(0, start);
    if (line.starts_with("</g>") && !kept.empty() && kept.back().starts_with("<g") &&
        kept.back().ends_with(">") && std::ranges::count(kept.back(), '<') == 1) {
      kept.pop_back();
      line.erase(0, 4);
      if (line.empty()) continue;
    }
    kept.push_back(line);
  }
  std::string out;
  for (const auto& line : kept) out.append(line).append("\n");
  return out;
}

/// Replaces colours with CSS variables. gnuplot writes "rgb(  0, 114, 178)" for lines and
/// "rgb(0,114,178)" for text.
void use_css_variables(std::string& text) {
  for (const auto& tone : all_tones()) {
    std::array<unsigned, 3> rgb = {};
    if (std::sscanf(std::string(tone.light).c_str(), "#%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2]) != 3)
      continue;
    const auto to = fmt::format("var({})", tone.variable);
    replace_all(text, fmt::format("rgb({:3}, {:3}, {:3})", rgb[0], rgb[1], rgb[2]), to);
    replace_all(text, fmt::format("rgb({},{},{})", rgb[0], rgb[1], rgb[2]), to);
  }
}

/// Collects gpDot marks of one colour. A filled circle (gpPt6) is written immediately.
class Marks {
 public:
  explicit Marks(std::string& out) : out_(out) {}
  /// Adds a mark; returns false if the line is not a mark.
  bool take(const std::string& line) {
    const auto use = line.find("<use xlink:href='#gp");
    if (use == std::string::npos) return false;
    const auto colour = between(line, "color='", "'");
    if (line.find("#gpDot'") != std::string::npos) {
      if (colour != colour_) flush();
      colour_ = colour;
      path_ += "M" + between(line, "x='", "'") + " " + between(line, "y='", "'") + "h0";
      return true;
    }
    flush();
    const auto place = between(line, "translate(", ")");
    const auto comma = place.find(',');
    if (comma == std::string::npos) return true;
    out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"none\"/>\n",
                        place.substr(0, comma), place.substr(comma + 1),
                        between(line, "scale(", ")"), colour);
    return true;
  }
  void flush() {
    if (!path_.empty()) {
      out_ +=
          fmt::format("<path class=\"dots\" stroke=\"{}\" stroke-linecap=\"round\" d=\"{}\"/>\n",
                      colour_, path_);
    }
    path_.clear();
    colour_.clear();
  }

 private:
  std::string& out_;
  std::string colour_, path_;
};

}  // namespace

std::string inline_svg(const std::string& gnuplot_svg, const std::string& label) {
  std::string body;
  Marks marks(body);
  std::istringstream lines(gnuplot_svg);
  bool inside = false, definitions = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("<g id=\"gnuplot_canvas\"") != std::string::npos) inside = true;
    if (!inside) continue;
    if (line.find("<defs>") != std::string::npos) definitions = true;
    if (line.find("</defs>") != std::string::npos) {
      definitions = false;
      continue;
    }
    // A path may extend over several lines. The line with its end may also contain the first mark.
    if (const auto mark = line.find("<use"); mark != std::string::npos && line.find("/>") < mark) {
      body += line.substr(0, mark) + "\n";
      line.erase(0, mark);
    }
    const bool background =
        line.starts_with("<rect") && line.find("fill=\"none\"") != std::string::npos;
    if (definitions || background || line.empty() || marks.take(line)) continue;
    marks.flush();
    body += line + "\n";
  }
  for (const char* attribute : {" id=\"", " font-family=\"", " stroke-linejoin=\""}) {
    drop_stretches(body, attribute, "\"");
  }
  drop_stretches(body, "<title>", "</title>");
  body = without_empty_groups(body);
  replace_all(body, " color=\"black\"", "");
  replace_all(body, " color=\"gray\"", "");
  replace_all(body, "fill=\"black\"", "fill=\"currentColor\"");
  replace_all(body, "stroke=\"black\"", "stroke=\"currentColor\"");
  use_css_variables(body);
  return fmt::format("<svg viewBox=\"{}\" role=\"img\" aria-label=\"{}\">\n{}",
                     between(gnuplot_svg, "viewBox=\"", "\""), escape(label), body);
}

}  // namespace headcrash::report
