// Writes the head, the picture (for wide and for narrow paper), the tables, and the script's data
// as JSON (crash_page.h).
//
// Strings come from guests and imported files, so each string is escaped when it is inserted into
// HTML. The JSON contains no '<', so no string can end the element that contains the JSON. The
// script inserts strings only as text nodes.
#include "results/report/crash/crash_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "results/report/crash/crash_picture.h"
#include "results/report/frame/embedded_text.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/page.h"

namespace headcrash::report {
namespace {

// Widths in CSS pixels: the column of the page, and a phone that is 390 pixels wide.
constexpr double kWide = 1180, kNarrow = 358;
constexpr std::size_t kWritesListed = 40;
constexpr std::size_t kStatesListed = 60;

/// Stores each text once, so that other data can refer to it by number.
class StringTable {
 public:
  std::size_t number(const std::string& text) {
    const auto [place, is_new] = numbers_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(valid_utf8(text));
    return place->second;
  }
  const nlohmann::json& all() const { return texts_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  nlohmann::json texts_ = nlohmann::json::array();
};

std::int64_t event_or_none(const std::optional<Moment>& moment) {
  return moment ? static_cast<std::int64_t>(moment->event) : -1;
}
std::int64_t time_or_none(const std::optional<Moment>& moment) {
  return moment ? moment->at_ns : -1;
}
template <typename Number>
std::int64_t or_none(const std::optional<Number>& number) {
  return number ? static_cast<std::int64_t>(*number) : -1;
}
double tenths(double value) {
  return std::round(value * 10) / 10;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

/// Returns the requests as columns. In JSON, columns are shorter than one object per request.
nlohmann::json columns_of_requests(const CrashPage& page, const PicturePlan& plan,
                                   StringTable& texts) {
  nlohmann::json columns;
  for (const char* name :
       {"device", "id", "op", "fua",  "lba",    "sectors", "se",   "st",    "ae",      "at",  "de",
        "dt",     "me", "ce", "what", "issuer", "stack",   "file", "bytes", "finding", "row", "y"})
    columns[name] = nlohmann::json::array();
  for (std::size_t i = 0; i < page.requests.size(); ++i) {
    const TimelineRequest& request = page.requests[i];
    columns["device"].push_back(request.device);
    columns["id"].push_back(request.request);
    columns["op"].push_back(static_cast<int>(request.op));
    columns["fua"].push_back(request.fua ? 1 : 0);
    columns["lba"].push_back(request.lba);
    columns["sectors"].push_back(request.sectors);
    columns["se"].push_back(request.submitted.event);
    columns["st"].push_back(request.submitted.at_ns);
    columns["ae"].push_back(event_or_none(request.acked));
    columns["at"].push_back(time_or_none(request.acked));
    columns["de"].push_back(event_or_none(request.durable));
    columns["dt"].push_back(time_or_none(request.durable));
    columns["me"].push_back(or_none(request.on_medium));
    columns["ce"].push_back(or_none(request.cycle_ended));
    columns["what"].push_back(texts.number(request.what));
    columns["issuer"].push_back(texts.number(request.issuer));
    columns["stack"].push_back(texts.number(request.stack));
    columns["file"].push_back(texts.number(request.file));
    columns["bytes"].push_back(hex(request.bytes));
    columns["finding"].push_back(or_none(request.finding));
    columns["row"].push_back(plan.requests[i].row);
    columns["y"].push_back(tenths(plan.requests[i].y));
  }
  return columns;
}

nlohmann::json rows_of(const PicturePlan& plan) {
  nlohmann::json rows = nlohmann::json::array();
  const auto wide = plan.tops(kWide), narrow = plan.tops(kNarrow);
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const PictureRow& row = plan.rows[i];
    rows.push_back({{"kind", static_cast<int>(row.kind)},
                    {"label", valid_utf8(row.label)},
                    {"device", row.device},
                    {"strategy", valid_utf8(row.strategy)},
                    {"series", row.series},
                    {"wide", wide[i]},
                    {"narrow", narrow[i]},
                    {"height", row.height}});
  }
  return rows;
}

nlohmann::json states_of(const CrashPage& page) {
  nlohmann::json states = nlohmann::json::array();
  for (const TimelineState& state : page.states) {
    nlohmann::json torn = nlohmann::json::array(), stopped = nlohmann::json::array();
    for (const auto& each : state.torn) torn.push_back({each.request, each.first, each.count});
    for (const auto& [device, moment] : state.stopped)
      stopped.push_back({device, moment.event, moment.at_ns});
    states.push_back({{"name", valid_utf8(state.name)},
                      {"strategy", valid_utf8(state.strategy)},
                      {"verdict", valid_utf8(state.verdict)},
                      {"summary", valid_utf8(state.summary)},
                      {"outcome", static_cast<int>(state.outcome)},
                      {"event", state.event},
                      {"lost", state.lost},
                      {"torn", torn},
                      {"members", state.by_members},
                      {"stopped", stopped},
                      {"undone", state.undone}});
  }
  return states;
}

nlohmann::json series_of(const CrashPage& page) {
  nlohmann::json all = nlohmann::json::array();
  for (const TimelineSeries& series : page.series) {
    nlohmann::json times = nlohmann::json::array(), values = nlohmann::json::array();
    for (const auto& [at_ns, value] : series.values) {
      times.push_back(at_ns);
      values.push_back(std::round(value));
    }
    all.push_back({{"unit", static_cast<int>(series.unit)},
                   {"shape", static_cast<int>(series.shape)},
                   {"times", times},
                   {"values", values}});
  }
  return all;
}

/// Returns JSON for a <script> element. '<' can occur only in strings, where it is escaped.
std::string data_of(const CrashPage& page, const PicturePlan& plan) {
  StringTable texts;
  nlohmann::json devices = nlohmann::json::array(), flushes = nlohmann::json::array(),
                 media = nlohmann::json::array(), marks = nlohmann::json::array(),
                 power = nlohmann::json::array(), findings = nlohmann::json::array(),
                 knots = nlohmann::json::array();
  for (const TimelineDevice& device : page.devices) devices.push_back(valid_utf8(device.name));
  for (const TimelineFlush& flush : page.flushes)
    flushes.push_back({flush.device, flush.request, flush.submitted.event, flush.submitted.at_ns,
                       event_or_none(flush.acked), time_or_none(flush.acked),
                       flush.promise ? nlohmann::json(*flush.promise) : nlohmann::json(-1)});
  for (std::size_t i = 0; i < page.media.size(); ++i) {
    const TimelineMediaWrite& each = page.media[i];
    media.push_back({each.at.event, each.at.at_ns, plan.media[i].row, tenths(plan.media[i].y),
                     each.whole ? 1 : 0});
  }
  for (const TimelineMark& mark : page.marks) {
    const bool known = mark.operation && *mark.operation < page.operations.size();
    const std::string text =
        known ? fmt::format("{} {}", *mark.operation, page.operations[*mark.operation].text)
              : mark.text;
    marks.push_back({mark.at.event, mark.at.at_ns, mark.promise ? 1 : 0, texts.number(text),
                     texts.number(known ? page.operations[*mark.operation].text : mark.text)});
  }
  for (const auto& [moment, on] : page.power)
    power.push_back({moment.event, moment.at_ns, on ? 1 : 0});
  for (const TimelineFinding& finding : page.findings)
    findings.push_back(valid_utf8(fmt::format("{}: {}: expected {}, found {}", finding.path,
                                              finding.kind, finding.expected, finding.found)));
  for (const TimeScale::Knot& knot : plan.scale.knots()) knots.push_back({knot.at_ns, knot.place});
  nlohmann::json data = {{"requests", columns_of_requests(page, plan, texts)},
                         {"devices", devices},
                         {"flushes", flushes},
                         {"media", media},
                         {"marks", marks},
                         {"power", power},
                         {"states", states_of(page)},
                         {"findings", findings},
                         {"rows", rows_of(plan)},
                         {"series", series_of(page)},
                         {"knots", knots},
                         {"quiet", plan.scale.quiet()},
                         {"window", {plan.window_begin, plan.window_end}},
                         {"shown", or_none(page.shown)},
                         {"cut", page.cut},
                         {"events", page.events},
                         {"recovery", time_or_none(page.recovery)}};
  data["texts"] = texts.all();
  std::string out;
  for (const char c : data.dump()) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

const TimelineState* shown_state(const CrashPage& page) {
  return page.shown ? &page.states[*page.shown] : nullptr;
}

struct Risk {
  std::size_t writes = 0, in_flight = 0;
  std::uint64_t bytes = 0;
};
Risk risk_of(const CrashPage& page) {
  Risk risk;
  for (const TimelineRequest& request : page.requests) {
    if (!at_risk(request, page.cut)) continue;
    ++risk.writes;
    risk.bytes += 512ULL * request.sectors;
    if (!request.acked || request.acked->event >= page.cut) ++risk.in_flight;
  }
  return risk;
}

std::string head(const CrashPage& page) {
  std::string out = "<header>\n<p class=\"kind\">headcrash &middot; ";
  out += page.shown ? "one power cut</p>\n" : "a recording</p>\n";
  out += fmt::format("<h1>{}</h1>\n<p class=\"answer\">{}</p>\n<dl class=\"facts\">",
                     escape(page.title), escape(page.summary));
  for (const auto& [name, value] : page.facts)
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
  return out + "</dl>\n</header>\n";
}

std::string legend(const CrashPage& page) {
  std::string out = "<p class=\"legend\" aria-hidden=\"true\">";
  const auto entry = [&](const char* drawing, const char* text) {
    out += fmt::format("<span><svg viewBox=\"0 0 34 12\" class=\"key\">{}</svg>{}</span>", drawing,
                       text);
  };
  entry("<path class=\"k-write\" d=\"M2 6h14\"/><path class=\"k-tail\" d=\"M16 6h16\"/>",
        "write in flight, then unflushed");
  const TimelineState* state = shown_state(page);
  if (state != nullptr && !state->by_members) {
    entry("<path class=\"k-kept-tail\" d=\"M6 6h26\"/><path class=\"k-kept\" d=\"M6 6h0\"/>",
          "at risk, and there");
    entry(
        "<path class=\"k-lost-tail\" d=\"M6 6h26\"/><path class=\"k-lost\" d=\"M2.5 2.5l7 7m0-7l-7 7\"/>",
        "lost");
    if (!state->torn.empty())
      entry(
          "<path class=\"k-torn-tail\" d=\"M6 6h26\"/><path class=\"k-torn\" d=\"M6 1.5l5 8h-10z\"/>",
          "torn");
  }
  entry(
      "<path class=\"k-risk-tail\" d=\"M6 6h26\"/><path class=\"k-risk\" d=\"M6 2l4 4-4 4-4-4z\"/>",
      "at risk, either is possible");
  if (!page.flushes.empty())
    entry("<path class=\"k-flush\" d=\"M4 6h20\"/><path class=\"k-flush-line\" d=\"M24 0v12\"/>",
          "flush, and the writes that it covers");
  if (std::ranges::any_of(page.flushes,
                          [](const auto& flush) { return flush.promise.has_value(); }))
    entry("<path class=\"k-promised\" d=\"M4 6h20\"/>", "flush before a promise");
  if (!page.media.empty())
    entry("<path class=\"k-media\" d=\"M8 3v6M14 3v6M20 3v6\"/>", "reached the medium");
  if (state != nullptr && !state->undone.empty())
    entry("<path class=\"k-lost\" d=\"M13.5 2.5l7 7m0-7l-7 7\"/>",
          "not on the medium: its member had stopped");
  entry("<path class=\"k-cut\" d=\"M17 0v12\"/>", "power cut");
  if (page.states.size() > 1) {
    entry("<path class=\"k-state-kept\" d=\"M17 6h0\"/>", "promises kept");
    entry("<path class=\"k-state-failed\" d=\"M17 1l5 5-5 5-5-5z\"/>", "promises broken");
  }
  return out + "</p>\n";
}

std::string at_the_cut(const CrashPage& page, const PicturePlan& plan) {
  const Risk risk = risk_of(page);
  std::string out = fmt::format(
      "At {}, after {} events: {} {} ({}) {} not covered by a completed flush",
      time_text(plan.cut_ns), page.cut, risk.writes, risk.writes == 1 ? "write" : "writes",
      bytes(static_cast<double>(risk.bytes)), risk.writes == 1 ? "was" : "were");
  if (risk.in_flight > 0) out += fmt::format(", {} of them in flight", risk.in_flight);
  if (const TimelineState* state = shown_state(page); state != nullptr && state->by_members) {
    out += fmt::format("; {} media writes to stopped members are missing in state {}",
                       state->undone.size(), state->name);
  } else if (state != nullptr && risk.writes > 0) {
    out += fmt::format("; {} lost, {} torn in state {}", state->lost.size(), state->torn.size(),
                       state->name);
  }
  out += ".";
  const TimelineMark* last = nullptr;
  for (const TimelineMark& mark : page.marks)
    if (mark.promise && mark.at.event < page.cut) last = &mark;
  if (last != nullptr) {
    const auto number = static_cast<std::size_t>(last - page.marks.data());
    const bool known = last->operation && *last->operation < page.operations.size();
    out += fmt::format(
        " The last promise was {}.",
        known ? fmt::format("{} {}", *last->operation, page.operations[*last->operation].text)
              : last->text);
    out += flushed_for(page, number);
  }
  return out;
}

std::string picture(const CrashPage& page, const PicturePlan& plan) {
  std::string out = "<section id=\"timeline\">\n<h2>What happened</h2>\n" + legend(page);
  out += "<div class=\"crash wide\">" + draw_picture(page, plan, kWide) + "</div>\n";
  out += "<div class=\"crash narrow\">" + draw_picture(page, plan, kNarrow) + "</div>\n";
  out +=
      "<div class=\"moves\" hidden><label for=\"cut\">Move the cut</label>"
      "<input type=\"range\" id=\"cut\" step=\"1\">"
      "<div class=\"buttons\"><button id=\"flush-before\">&lsaquo; flush</button><button id=\"flush-after\">flush &rsaquo;</button>"
      "<button id=\"failure-before\">&lsaquo; failure</button><button id=\"failure-after\">failure &rsaquo;</button>"
      "<button id=\"back\">this cut</button><span></span>"
      "<button id=\"out\" aria-label=\"zoom out\">&minus;</button><button id=\"in\" aria-label=\"zoom in\">+</button>"
      "<button id=\"all\">all</button></div></div>\n";
  out +=
      fmt::format("<p id=\"at-cut\" aria-live=\"polite\">{}</p>\n", escape(at_the_cut(page, plan)));
  out += "<p id=\"verdicts\" hidden></p>\n<div id=\"request\" aria-live=\"polite\" hidden></div>\n";
  for (const std::string& sentence : page.left_out)
    out += fmt::format("<p class=\"note\">{}</p>\n", escape(sentence));
  std::string notes;
  for (const std::string& sentence : page.series_notes)
    notes += (notes.empty() ? "" : " ") + escape(sentence);
  if (!notes.empty()) out += fmt::format("<p class=\"note\" id=\"known\">{}</p>\n", notes);
  return out + "</section>\n";
}

std::string writes_at_risk(const CrashPage& page) {
  const TimelineState* state = shown_state(page);
  std::vector<std::vector<std::string>> rows;
  const bool any_finding = std::ranges::any_of(
      page.requests, [](const auto& request) { return request.finding.has_value(); });
  std::size_t all = 0;
  // Lists lost writes first, then torn, unknown and kept ones.
  for (const Fate wanted : {Fate::lost, Fate::torn, Fate::unknown, Fate::kept}) {
    for (std::size_t i = 0; i < page.requests.size(); ++i) {
      const TimelineRequest& request = page.requests[i];
      if (!at_risk(request, page.cut) || fate_of(state, i) != wanted) continue;
      if (++all > kWritesListed) continue;
      const char* fate = wanted == Fate::lost   ? "<b class=\"fate-lost\">&times; lost</b>"
                         : wanted == Fate::torn ? "<b class=\"fate-torn\">&#9651; torn</b>"
                         : wanted == Fate::kept
                             ? "<span class=\"fate-kept\">&#9679; there</span>"
                             : "<span class=\"fate-risk\">&#9671; at risk</span>";
      std::string what = escape(request.what);
      if (!request.issuer.empty())
        what += fmt::format("<small title=\"{}\">issued by {}</small>", escape(request.stack),
                            escape(request.issuer));
      if (!request.file.empty()) what += fmt::format("<small>{}</small>", escape(request.file));
      const std::string device =
          page.devices.size() > 1 ? escape(page.devices[request.device].name) + " " : std::string();
      std::vector<std::string> row{fate,
                                   fmt::format("{}", request.request),
                                   fmt::format("{}{} + {}", device, request.lba, request.sectors),
                                   what,
                                   time_text(request.submitted.at_ns),
                                   request.acked && request.acked->event < page.cut
                                       ? time_text(request.acked->at_ns)
                                       : "in flight"};
      if (any_finding)
        row.push_back(request.finding ? escape(page.findings[*request.finding].path) : "");
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) return {};
  std::string out = "<section id=\"writes\">\n<h2>Writes at risk</h2>\n";
  std::vector<Column> columns{{"", Column::Kind::text},
                              {"request", Column::Kind::number},
                              {"LBA + sectors"},
                              {"what"},
                              {"submitted", Column::Kind::number},
                              {"acknowledged", Column::Kind::number}};
  if (any_finding) columns.push_back({"finding about"});
  out += html_table(columns, rows, "cards writes");
  if (all > kWritesListed)
    out +=
        fmt::format("<p class=\"note\">{} more writes are not listed.</p>\n", all - kWritesListed);
  return out + "</section>\n";
}

std::string findings(const CrashPage& page) {
  if (page.findings.empty()) return {};
  std::string out = "<section id=\"findings\">\n<h2>Expected and found</h2>\n";
  std::vector<std::vector<std::string>> rows;
  rows.reserve(page.findings.size());
  for (const TimelineFinding& finding : page.findings)
    rows.push_back({fmt::format("<b>{}</b>", escape(finding.path)),
                    fmt::format("{}<small>{}</small>", escape(finding.kind), escape(finding.tier)),
                    escape(finding.expected), escape(finding.found)});
  out += html_table({{"object"}, {"kind"}, {"expected"}, {"found"}}, rows, "cards values");
  return out + "</section>\n";
}

/// Lists the operations, and marks the last one that is known to have returned.
std::string operations(const CrashPage& page) {
  if (page.operations.empty()) return {};
  std::optional<std::size_t> persisted;
  for (const TimelineMark& mark : page.marks)
    if (mark.operation && mark.at.event < page.cut) persisted = mark.operation;
  std::string list;
  for (std::size_t i = 0; i < page.operations.size(); ++i) {
    const TimelineOperation& operation = page.operations[i];
    const bool after = persisted ? i > *persisted : true;
    list += fmt::format(
        "<li class=\"{}{}\" value=\"{}\"><code>{}</code>{}</li>\n",
        operation.promises ? "promise" : "", after ? " after" : "", i, escape(operation.text),
        persisted == i ? " <b>the last operation that is known to have returned before the "
                         "cut</b>"
                       : "");
  }
  return "<section id=\"operations\">\n<h2>Operations</h2>\n" +
         details(
             fmt::format(
                 "{} operations; bold operations promise persistence, and grey operations may or "
                 "may not have begun",
                 page.operations.size()),
             "<ol class=\"operations\">\n" + list + "</ol>\n", "", page.operations.size() <= 24) +
         "</section>\n";
}

std::string states(const CrashPage& page) {
  if (page.states.size() < 2) return {};
  std::size_t failed = 0;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < page.states.size(); ++i) {
    const TimelineState& state = page.states[i];
    if (state.outcome != TimelineState::Outcome::failed) continue;
    if (++failed > kStatesListed) continue;
    rows.push_back({fmt::format("<code>{}</code>{}", escape(state.name),
                                page.shown == i ? " (this page)" : ""),
                    escape(state.strategy), escape(state.verdict), escape(state.summary)});
  }
  std::string out = fmt::format(
      "<section id=\"states\">\n<h2>Other cuts</h2>\n<p>{} crash states of this recording were "
      "checked; {} of them broke a promise.</p>\n",
      page.states.size(), failed);
  if (!rows.empty())
    out += details("those that did",
                   html_table({{"state"}, {"strategy"}, {"verdict"}, {"what was wrong"}}, rows,
                              "cards values"));
  if (failed > kStatesListed)
    out += fmt::format("<p class=\"note\">{} more states are not listed.</p>\n",
                       failed - kStatesListed);
  return out + "</section>\n";
}

std::string foot(const CrashPage& page) {
  std::string out;
  if (!page.log.empty())
    out += "<section id=\"recovery\">\n<h2>Recovery</h2>\n" +
           details("commands, their output, the kernel's messages",
                   "<pre>" + escape(page.log) + "</pre>\n") +
           "</section>\n";
  if (!page.reproduce.empty()) {
    out += "<section id=\"reproduce\">\n<h2>To reproduce</h2>\n<pre><code>";
    for (const std::string& command : page.reproduce) out += escape(command) + "\n";
    out += "</code></pre>\n</section>\n";
  }
  out +=
      "<section id=\"reading\">\n<h2>How to read the picture</h2>\n<p>A bar is a request from "
      "submission to completion. The thin line after the bar ends when a later flush has "
      "completed. If the bar or the line crosses the cut, the write is at risk: the drive may "
      "have stored it completely, partly or not at all. A row is a kind of block, and a line in "
      "the row is one place on the disk. Idle intervals are drawn shorter; a grey mark above "
      "them shows their length.</p>\n<p class=\"script-only\" hidden>Move the cut with the "
      "slider or by dragging along the time axis. If the picture has the focus, left and right "
      "move from request to request, up and down through the requests at risk, + and &minus; "
      "zoom, and 0 shows everything.</p>\n</section>\n";
  return out;
}

}  // namespace

bool at_risk(const TimelineRequest& request, std::uint64_t event) {
  if (request.op == TimelineRequest::Op::read || request.submitted.event >= event) return false;
  if (request.durable && request.durable->event < event) return false;
  return !request.cycle_ended || *request.cycle_ended >= event;
}

Fate fate_of(const TimelineState* state, std::size_t request) {
  if (state == nullptr || state->by_members) return Fate::unknown;
  if (std::ranges::find(state->lost, request) != state->lost.end()) return Fate::lost;
  if (std::ranges::any_of(state->torn, [&](const auto& each) { return each.request == request; }))
    return Fate::torn;
  return Fate::kept;
}

std::string flushed_for(const CrashPage& page, std::size_t mark) {
  std::string flushed, missed;
  std::size_t written = 0;
  for (std::size_t device = 0; device < page.devices.size(); ++device) {
    const bool writes = std::ranges::any_of(page.requests, [&](const TimelineRequest& request) {
      return request.device == device && request.op != TimelineRequest::Op::read;
    });
    if (!writes) continue;
    ++written;
    const auto flush = std::ranges::find_if(page.flushes, [&](const TimelineFlush& each) {
      return each.device == device && each.promise == mark;
    });
    std::string& list = flush == page.flushes.end() ? missed : flushed;
    if (!list.empty()) list += ", ";
    list += page.devices[device].name;
    if (flush != page.flushes.end()) list += fmt::format(" (request {})", flush->request);
  }
  if (written < 2) return "";
  return fmt::format(" Disks flushed for this promise: {}{}.", flushed.empty() ? "none" : flushed,
                     missed.empty() ? "" : "; not flushed: " + missed);
}

std::string crash_page(const CrashPage& page) {
  const PicturePlan plan = plan_picture(page);
  std::string content = head(page) + picture(page, plan) + findings(page) + writes_at_risk(page) +
                        operations(page) + states(page) + foot(page);
  content +=
      "<script type=\"application/json\" id=\"crash-data\">" + data_of(page, plan) + "</script>\n";
  content += fmt::format("<script>\n{}</script>\n", embedded_text("crash.js"));
  return whole_page(page.title, content, embedded_text("crash.css"));
}

}  // namespace headcrash::report
