// Formats a command's outcome (outcomes.h). JUnit: the schema of Jenkins' xunit plugin, which
// GitLab also reads. SARIF: the OASIS standard 2.1.0.
#include "results/report/ci/outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "results/report/frame/html.h"
#include "results/report/frame/whole_file.h"

namespace headcrash::report {
namespace {

using Verdict = CiCase::Verdict;

constexpr const char* kLostRule = "lost-promise";
constexpr const char* kErrorRule = "laboratory-error";
constexpr const char* kNoteRule = "redundant-flush";

std::string word(Verdict verdict) {
  constexpr std::array<const char*, 5> kWords{"passed", "failed", "error", "skipped", "note"};
  return kWords.at(static_cast<std::size_t>(verdict));
}

/// Escapes text for XML 1.0. XML also forbids U+FFFE and U+FFFF; the other forbidden characters are
/// replaced by valid_utf8().
std::string xml(const std::string& text) {
  std::string out = escape(text);
  for (const char* never : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (auto at = out.find(never); at != std::string::npos; at = out.find(never, at))
      out.replace(at, 3, "\xef\xbf\xbd");
  }
  return out;
}

/// Escapes the message of a workflow command. In a property, ':' and ',' are escaped as well.
std::string workflow(std::string_view text, bool property) {
  std::string made;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      made += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      made += c;
  }
  return made;
}

std::string cell(std::string_view text) {
  std::string made;
  for (const char c : text)
    made += c == '|' ? std::string("\\|") : std::string(1, c == '\n' ? ' ' : c);
  return made;
}

std::string body(const CiCase& each) {
  std::string text = each.details;
  for (const std::string& file : each.files) text += (text.empty() ? "" : "\n") + file;
  return text;
}

std::size_t count(const std::vector<CiCase>& cases, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(cases, verdict, &CiCase::verdict));
}

std::string junit_case(const CiCase& each) {
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"",
                                       xml(each.group), xml(each.name), each.seconds);
  if (each.verdict == Verdict::passed || each.verdict == Verdict::note) return head + "/>\n";
  constexpr std::array<const char*, 4> kElements{"", "failure", "error", "skipped"};
  const std::string element = kElements.at(static_cast<std::size_t>(each.verdict));
  const std::string text = each.verdict == Verdict::skipped ? "" : body(each);
  return fmt::format("{}><{} message=\"{}\"{}</testcase>\n", head, element, xml(each.message),
                     text.empty() ? "/>" : fmt::format(">{}</{}>", xml(text), element));
}

}  // namespace

std::string as_junit(const std::string& title, const std::vector<CiCase>& cases) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">\n", xml(title));
  for (std::size_t first = 0; first < cases.size();) {
    std::vector<CiCase> suite;
    double seconds = 0;
    for (; first + suite.size() < cases.size() &&
           cases[first + suite.size()].group == cases[first].group;)
      suite.push_back(cases[first + suite.size()]);
    for (const CiCase& each : suite) seconds += each.seconds;
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.6f}\">\n",
        xml(suite[0].group), suite.size(), count(suite, Verdict::failed),
        count(suite, Verdict::error), count(suite, Verdict::skipped), seconds);
    for (const CiCase& each : suite) text += junit_case(each);
    text += "  </testsuite>\n";
    first += suite.size();
  }
  return text + "</testsuites>\n";
}

std::string as_sarif(const std::vector<CiCase>& cases, const std::string& version) {
  nlohmann::json results = nlohmann::json::array();
  for (const CiCase& each : cases) {
    if (each.verdict == Verdict::passed || each.verdict == Verdict::skipped) continue;
    const bool failed = each.verdict == Verdict::failed, note = each.verdict == Verdict::note;
    nlohmann::json result = {
        {"ruleId", failed ? kLostRule
                   : note ? kNoteRule
                          : kErrorRule},
        {"level", failed ? "error"
                  : note ? "note"
                         : "warning"},
        {"message",
         {{"text", fmt::format("{} {}: {}{}{}", each.group, each.name, each.message,
                               body(each).empty() ? "" : "\n", body(each))}}}};
    if (!each.source.empty())
      result["locations"] = nlohmann::json::array({{{"physicalLocation",
                                                     {{"artifactLocation", {{"uri", each.source}}},
                                                      {"region", {{"startLine", each.line}}}}}}});
    results.push_back(std::move(result));
  }
  const auto rule = [](const char* id, const char* words) {
    return nlohmann::json{{"id", id}, {"shortDescription", {{"text", words}}}};
  };
  const nlohmann::json sarif = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       nlohmann::json::array(
           {{{"tool",
              {{"driver",
                {{"name", "headcrash"},
                 {"version", version},
                 {"rules", nlohmann::json::array({rule(kLostRule,
                                                       "Data that was promised to be "
                                                       "durable is lost after a power cut"),
                                                  rule(kErrorRule, "The test has no verdict"),
                                                  rule(kNoteRule,
                                                       "No crash state fails without this "
                                                       "flush")})}}}}},
             {"results", results}}})}};
  return sarif.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_annotations(const std::vector<CiCase>& cases) {
  std::string text;
  for (const CiCase& each : cases) {
    if (each.verdict != Verdict::failed && each.verdict != Verdict::error) continue;
    text +=
        fmt::format("::error {}title={}::{}\n",
                    each.source.empty()
                        ? ""
                        : fmt::format("file={},line={},", workflow(each.source, true), each.line),
                    workflow(each.group + " " + each.name, true),
                    workflow(each.message + (body(each).empty() ? "" : "\n" + body(each)), false));
  }
  return text;
}

std::string as_markdown(const std::string& title, const std::vector<CiCase>& cases) {
  std::string text = fmt::format(
      "### {}\n\n{} passed, {} failed, {} without a verdict, {} skipped\n\n"
      "| test | verdict | seconds | |\n|---|---|---|---|\n",
      title, count(cases, Verdict::passed) + count(cases, Verdict::note),
      count(cases, Verdict::failed), count(cases, Verdict::error), count(cases, Verdict::skipped));
  for (const CiCase& each : cases)
    text += fmt::format("| {} {} | {} | {:.1f} | {} |\n", cell(each.group), cell(each.name),
                        word(each.verdict), each.seconds, cell(each.message));
  return text;
}

Result<void> write_ci_files(const CiFiles& files, const std::string& title,
                            const std::vector<CiCase>& cases, const std::string& version) {
  const auto write = [](const std::string& file, const char* option,
                        const std::string& text) -> Result<void> {
    if (file.empty()) return {};
    TRY(make_folder(std::filesystem::path(file).parent_path(),
                    fmt::format("choose another path with {}", option)));
    return write_whole(file, text);
  };
  TRY(write(files.junit, "--junit", as_junit(title, cases)));
  TRY(write(files.sarif, "--sarif", as_sarif(cases, version)));
  TRY(write(files.summary, "--summary", as_markdown(title, cases)));
  if (files.annotations) fmt::print("{}", as_annotations(cases));
  return {};
}

}  // namespace headcrash::report
