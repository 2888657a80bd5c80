#include "results/report/frame/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/report/frame/palette.h"
#include "results/report/frame/query.h"

namespace headcrash::report {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";

/// Returns the length of the well-formed UTF-8 sequence at the start of `s` (RFC 3629, table 3-7 of
/// Unicode). Returns 0 if there is no such sequence.
std::size_t sequence_length(std::string_view s) {
  const auto byte = [&](std::size_t i) {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0U;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool overlong = lead == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = lead == 0xed && byte(1) > 0x9f;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool overlong = lead == 0xf0 && byte(1) < 0x90;
    const bool beyond = lead == 0xf4 && byte(1) > 0x8f;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

bool is_unprintable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7f;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_unprintable(text.front())) {
      out += kReplacement;
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows,
                       const std::string& css_class) {
  const auto kind = [&](std::size_t i) {
    return columns[i].kind == Column::Kind::number ? " class=\"n\"" : "";
  };
  std::string out = fmt::format("<table{}>\n<thead><tr>",
                                css_class.empty() ? "" : " class=\"" + css_class + "\"");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", kind(i), escape(columns[i].title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size() && i < columns.size(); ++i) {
      out +=
          fmt::format("<td{} data-label=\"{}\">{}</td>", kind(i), escape(columns[i].title), row[i]);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string details(const std::string& summary, const std::string& html,
                    const std::string& css_class, bool open) {
  return folded({.summary = escape(summary), .html = html, .css_class = css_class, .open = open});
}

std::string folded(const Fold& fold) {
  return fmt::format("<details{}{}{}><summary>{}</summary>\n{}</details>\n",
                     fold.id.empty() ? "" : " id=\"" + fold.id + "\"",
                     fold.css_class.empty() ? "" : " class=\"" + fold.css_class + "\"",
                     fold.open ? " open" : "", fold.summary, fold.html);
}

std::string query_note(const std::string& name, std::int64_t run) {
  return details("query: " + name,
                 fmt::format("<pre><code>.parameter set :run {}\n{}</code></pre>\n", run,
                             escape(query_text(name))),
                 "query");
}

std::string number(std::int64_t n, const char* css_class) {
  if (n == 0) return "<span class=\"muted\">0</span>";
  return css_class == nullptr ? fmt::format("{}", n)
                              : fmt::format("<b class=\"{}\">{}</b>", css_class, n);
}

std::string outcome_bar(std::int64_t clean, std::int64_t replayed, std::int64_t lost,
                        std::int64_t other) {
  std::string out = fmt::format(
      "<span class=\"bar\" role=\"img\" aria-label=\"{} clean, {} replayed, {} lost, {} other\">",
      clean, replayed, lost, other);
  for (const auto& [css_class, n] : {std::pair<const char*, std::int64_t>{"clean", clean},
                                     {"replayed", replayed},
                                     {"lost", lost},
                                     {"other", other}}) {
    if (n != 0) out += fmt::format("<i class=\"{}\" style=\"flex-grow:{}\"></i>", css_class, n);
  }
  return out + "</span>";
}

std::string filesystem_dot(const std::string& filesystem, bool variant) {
  return fmt::format("<i class=\"dot c{}{}\"></i>", filesystem_colour(filesystem),
                     variant || is_mode(filesystem) ? " mode" : "");
}

std::string filesystem_name(const std::string& filesystem, bool variant) {
  return fmt::format("<span class=\"fs\">{}{}</span>", filesystem_dot(filesystem, variant),
                     escape(filesystem));
}

std::string cell_name(const std::string& filesystem, const std::string& device,
                      const std::string& workload) {
  return fmt::format("{}<small>{} &middot; {}</small>", filesystem_name(filesystem), escape(device),
                     escape(workload));
}

std::string command_line(const std::string& command) {
  return fmt::format("<pre class=\"command\"><code>{}</code></pre>\n", escape(command));
}

std::string anchor(std::string_view kind, std::string_view name) {
  std::string id(kind);
  id += '.';
  // The ID includes an FNV-1a hash, because two names can be identical except for characters that
  // are invalid in an ID.
  std::uint32_t digest = 2'166'136'261U;
  bool lossy = false;
  for (const char c : name) {
    digest = (digest ^ static_cast<unsigned char>(c)) * 16'777'619U;
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '/';
    lossy = lossy || !plain;
    id += plain ? c : '-';
  }
  return lossy ? id + fmt::format("-{:08x}", digest) : id;
}

std::string anchored(int level, const std::string& id, const std::string& title) {
  return fmt::format("<h{0} id=\"{1}\"><a href=\"#{1}\">{2}</a></h{0}>\n", level, id,
                     escape(title));
}

std::string meter(const Meter& meter) {
  const auto at = [](double share) { return 100 * std::clamp(share, 0.0, 1.0); };
  std::string out =
      fmt::format("<span class=\"meter\"><i class=\"{}\" style=\"width:{:.2f}%\"></i>",
                  meter.css_class, at(meter.share));
  if (meter.low && meter.high)
    out += fmt::format("<u style=\"left:{:.2f}%;width:{:.2f}%\"></u>", at(*meter.low),
                       std::max(0.0, at(*meter.high) - at(*meter.low)));
  if (meter.mark) out += fmt::format("<s style=\"left:{:.2f}%\"></s>", at(*meter.mark));
  return out + "</span>";
}

}  // namespace headcrash::report
