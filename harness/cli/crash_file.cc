// Adds title, facts and summary to a page and writes it (crash_file.h).
#include "harness/cli/crash_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "harness/explorer/explain/lost_writes.h"
#include "plugin/base/text_file.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

explorer::TimelineOptions options_of(const CrashFile& of) {
  explorer::TimelineOptions options{
      .state = of.state, .findings = of.findings, .hardware = of.hardware};
  const std::string before = of.recovery_of.empty() ? "" : of.recovery_of + "/";
  for (explorer::JudgedState state : of.states) {
    if (!state.name.starts_with(before) || state.name.find('/', before.size()) != std::string::npos)
      continue;
    state.name.erase(0, before.size());
    options.states.push_back(std::move(state));
  }
  if (of.filesystem != nullptr) options.type = of.filesystem->type;
  if (of.workload != nullptr) {
    options.operations = of.workload->operations;
    options.from_event = of.workload->from_event;
    options.to_event = of.workload->to_event;
  }
  if (!of.state || !of.checked) return options;
  const std::string name = states::format(*of.state), verdict(oracle::name(of.judgement.verdict));
  const auto found = std::ranges::find(options.states, name, &explorer::JudgedState::name);
  if (found == options.states.end()) {
    options.states.push_back({name, "", verdict, of.judgement.summary});
  } else {
    found->verdict = verdict;
    found->summary = of.judgement.summary;
  }
  return options;
}

std::string title_of(const CrashFile& of) {
  const std::string subject =
      of.filesystem != nullptr ? of.filesystem->name : of.run->path().filename().string();
  if (of.checked) return fmt::format("{}: {}", subject, oracle::name(of.judgement.verdict));
  if (of.state) return fmt::format("{}: a power cut", subject);
  return fmt::format("{}: a recording", subject);
}

std::string count_of(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string summary_of(const CrashFile& of, const report::CrashPage& page) {
  if (of.checked && !of.judgement.summary.empty()) return of.judgement.summary;
  if (of.checked && oracle::keeps_promises(of.judgement.verdict))
    return "The file system recovered, and kept everything that it had promised.";
  return fmt::format("{} and {} were recorded.",
                     count_of(page.requests.size(), "request", "requests"),
                     count_of(page.flushes.size(), "flush", "flushes"));
}

}  // namespace

Result<void> check_output_path(const std::filesystem::path& path, const std::string& option) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(path, ignored);
  const std::filesystem::path place = there ? path : std::filesystem::absolute(path).parent_path();
  if (::access(place.c_str(), W_OK) == 0) return {};
  return fail(path.string(), "cannot be written: " + std::generic_category().message(errno),
              fmt::format("choose a file in a writable folder for {}", option));
}

Result<void> save_crash_file(const CrashFile& of, const fs::path& path) {
  TRY(auto page, explorer::crash_timeline(*of.run, options_of(of)));
  page.title = title_of(of);
  page.summary = summary_of(of, page);
  if (of.filesystem != nullptr) {
    page.facts.emplace_back("file system", of.filesystem->title);
  } else if (!page.filesystem_type.empty()) {
    page.facts.emplace_back("file system, according to its superblock", page.filesystem_type);
  }
  page.facts.emplace_back("device", of.run->header().devices.front().profile);
  if (!of.recovery_of.empty()) page.facts.emplace_back("during the recovery of", of.recovery_of);
  if (of.state) page.facts.emplace_back("crash state", states::format(*of.state));
  page.facts.emplace_back(
      "recording", fmt::format("{}, {} events", of.run->path().filename().string(), page.events));
  if (!of.faults.empty())
    page.facts.emplace_back("faults when the power returned",
                            fmt::format("{}", fmt::join(of.faults, ", ")));
  page.log = of.log;
  page.reproduce = of.reproduce;
  return base::write_text_file(path.string(), report::crash_page(page));
}

Result<void> write_crash_file(const CrashFile& of, const fs::path& path) {
  TRY(save_crash_file(of, path));
  fmt::print(stderr, "headcrash: page of the crash: {}\n", path.string());
  return {};
}

std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state) {
  if (state.base == states::CrashState::Base::members) return state.stopped.size();
  if (state.base == states::CrashState::Base::physical)
    return std::numeric_limits<std::size_t>::max();
  const auto unflushed = explorer::unflushed_requests(run, state);
  return static_cast<std::size_t>(std::ranges::count_if(unflushed, [&](const auto request) {
    return explorer::missing_write(state, request).has_value();
  }));
}

}  // namespace headcrash::cli
