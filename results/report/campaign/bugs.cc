// Groups failures and failed trials into bugs (bugs.h).
#include "results/report/campaign/bugs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "results/report/frame/html.h"

namespace headcrash::report {
namespace {

/// Maximum number of operations shown on one line. If there are more, only the last ones are shown,
/// because they matter most.
constexpr std::size_t kOperationsInALine = 8;
constexpr std::array<std::string_view, 8> kPromises = {
    "fsync", "fdatasync", "fsyncdir", "sync", "syncfs", "msync", "rest", "persist"};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Returns the name of the operation in a line, which may begin with the name of a process, such as
/// "@1 ".
std::string_view first_word(std::string_view line) {
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  return line.substr(0, line.find(' '));
}

bool promises(std::string_view operation) {
  return std::ranges::find(kPromises, operation) != kPromises.end();
}

/// Quotes a word for a shell if it contains characters other than those of names.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+=:,@").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// Returns the command that reproduces a failure. A `headcrash replay` command also names the HTML
/// page to create.
std::string command_of(const Facts& facts, const std::string& replay, const std::string& page) {
  if (replay.empty()) return {};
  std::string command = fmt::format("{} --db {}", replay, shell_word(facts.database));
  if (replay.starts_with("headcrash replay "))
    command += " --html " + shell_word((facts.folder / page).lexically_normal().string());
  return command;
}

/// Returns the file name of the page, for the command and the report's links.
std::string page_name(const std::string& key, const std::string& state) {
  std::string name = anchor("crash", state.empty() ? key : key + "." + state);
  std::ranges::replace(name, '/', '-');
  return name + ".html";
}

/// Returns the name of the state to be displayed. The name of a state during a recovery is
/// "RECOVERED/STATE". Such a state is minimised in the recording of the recovery, so
/// minimised_state may lack the part up to '/'. This function prepends the missing part.
std::string shown_state(const Failure& f) {
  if (f.minimised_state.empty()) return f.state;
  const std::size_t slash = f.state.find('/');
  const bool whole = slash == std::string::npos || f.minimised_state.find('/') != std::string::npos;
  return whole ? f.minimised_state : f.state.substr(0, slash + 1) + f.minimised_state;
}

Bug::Kind kind_of(const Failure& f) {
  if (!f.confirmed) return Bug::Kind::not_reproduced;
  return f.control == "lose" || f.control == "damage" ? Bug::Kind::wanted : Bug::Kind::found;
}

Bug::Kind kind_of(const Trial& t) {
  if (t.must == "lose" || t.must == "damage") return Bug::Kind::wanted;
  return t.must.empty() && t.expected == "any" ? Bug::Kind::unpromised : Bug::Kind::found;
}

class BugGrouping {
 public:
  Bug& of(Bug::Kind kind, const std::string& filesystem, const std::string& variant,
          const std::string& verdict, const std::string& tier) {
    const auto [place, is_new] =
        places_.try_emplace({kind, filesystem, variant, verdict, tier}, bugs.size());
    if (is_new)
      bugs.push_back({.kind = kind,
                      .filesystem = filesystem,
                      .variant = variant,
                      .verdict = verdict,
                      .tier = tier});
    return bugs[place->second];
  }
  std::vector<Bug> bugs;

 private:
  std::map<std::tuple<Bug::Kind, std::string, std::string, std::string, std::string>, std::size_t>
      places_;
};

}  // namespace

std::vector<Bug> bugs_of(const Facts& facts) {
  BugGrouping grouping;
  for (const Failure& f : facts.failures) {
    const std::string page = page_name(f.key, f.state);
    grouping.of(kind_of(f), f.filesystem, f.variant, f.verdict, f.tier)
        .instances.push_back({.key = f.key,
                              .state = f.state,
                              .trial_id = f.trial,
                              .shown_state = shown_state(f),
                              .operations = f.operations,
                              .summary = f.summary,
                              .account = f.account,
                              .command = command_of(facts, f.replay, page),
                              .page = page,
                              .disagreement = f.disagreement});
  }
  for (const Trial& t : facts.trials) {
    const bool broken_rule = t.verdict == "broken-rule";
    if ((t.device == "stage" && !broken_rule) || (t.outcome != "lost" && t.outcome != "other") ||
        t.verdict == "harness-error")
      continue;
    // A broken rule is found in the requests alone, so there is no cut to draw and no page.
    const std::string page = broken_rule ? "" : page_name(t.key, "");
    grouping
        .of(kind_of(t), t.filesystem, t.variant, t.verdict,
            t.findings.empty() ? "" : t.findings.front().tier)
        .instances.push_back(
            {.key = t.key,
             .state = {},
             .trial_id = t.id,
             .shown_state = {},
             .operations = {},
             .summary = t.summary,
             .account = {},
             .command = broken_rule
                            ? ""
                            : command_of(facts, "headcrash replay " + shell_word(t.key), page),
             .page = page,
             .disagreement = {},
             .trial = &t});
  }
  for (Bug& bug : grouping.bugs) {
    std::set<std::string> trials;
    for (const Instance& each : bug.instances) trials.insert(each.key);
    bug.trials = trials.size();
    std::ranges::stable_sort(bug.instances, {}, [](const Instance& each) {
      return each.operations.empty() ? std::string::npos : lines_of(each.operations).size();
    });
  }
  std::ranges::stable_sort(grouping.bugs, [](const Bug& a, const Bug& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.trials > b.trials;
  });
  return std::move(grouping.bugs);
}

std::string operation_of(const Instance& instance) {
  const auto lines = lines_of(instance.operations);
  std::string_view promise;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const std::string_view word = first_word(*line);
    if (word == "join" || word == "|") continue;
    if (!promises(word))
      return promise.empty() ? std::string(word) : fmt::format("{}, then {}", word, promise);
    if (promise.empty()) promise = word;
  }
  return std::string(promise);
}

std::string in_a_line(const std::string& operations) {
  const auto lines = lines_of(operations);
  const std::size_t first =
      lines.size() <= kOperationsInALine ? 0 : lines.size() - kOperationsInALine;
  return fmt::format(
      "{}{}", first == 0 ? "" : "...; ",
      fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), "; "));
}

}  // namespace headcrash::report
