// Writes and parses the tracer's report (report.h).
#include "harness/audit/tracer/report.h"

#include <nlohmann/json.hpp>

namespace headcrash::audit {

using nlohmann::json;

std::string report_text(const Trace& trace) {
  json flushes = json::array(), changes = json::array(), stacks = json::object();
  for (const auto& [site, counts] : trace.flushes)
    flushes.push_back({{"kind", site.kind},
                       {"stack", site.stack},
                       {"target", site.target},
                       {"calls", counts.calls},
                       {"skipped", counts.skipped},
                       {"ns", counts.ns},
                       {"example", counts.example},
                       {"first", counts.first},
                       {"can_skip", counts.can_skip}});
  for (const auto& [site, change] : trace.unflushed)
    changes.push_back({{"stack", site.stack},
                       {"names", site.names},
                       {"call", site.call},
                       {"lines", change.lines},
                       {"target", change.target}});
  for (const auto& [key, frames] : trace.stacks) {
    json list = json::array();
    for (const Frame& frame : frames)
      list.push_back({{"object", frame.object}, {"offset", frame.offset}});
    stacks[key] = std::move(list);
  }
  const json report{{"exit", trace.exit_code},
                    {"ns", trace.ns},
                    {"flushed_by_tracer", trace.flushed_by_tracer},
                    {"flushes", std::move(flushes)},
                    {"unflushed", std::move(changes)},
                    {"stacks", std::move(stacks)}};
  return report.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

Result<Trace> parse_report(const std::string& text, const std::string& subject) {
  try {
    const json report = json::parse(text);
    Trace trace{.exit_code = report.at("exit"), .ns = report.at("ns")};
    trace.flushed_by_tracer = report.at("flushed_by_tracer");
    for (const json& each : report.at("flushes"))
      trace.flushes[{
          .kind = each.at("kind"), .stack = each.at("stack"), .target = each.at("target")}] = {
          .calls = each.at("calls"),
          .skipped = each.at("skipped"),
          .ns = each.at("ns"),
          .example = each.at("example"),
          .first = each.at("first"),
          .can_skip = each.at("can_skip")};
    for (const json& each : report.at("unflushed"))
      trace.unflushed[{
          .stack = each.at("stack"), .names = each.at("names"), .call = each.at("call")}] = {
          .lines = each.at("lines"), .target = each.at("target")};
    for (const auto& [key, frames] : report.at("stacks").items())
      for (const json& frame : frames)
        trace.stacks[key].push_back({.object = frame.at("object"), .offset = frame.at("offset")});
    return trace;
  } catch (const json::exception& error) {
    return fail(subject, std::string("invalid report: ") + error.what(),
                "the traced program did not end normally");
  }
}

}  // namespace headcrash::audit
