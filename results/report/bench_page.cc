// The parts in their order (bench_page.h).
#include "results/report/bench_page.h"

#include <fmt/format.h>

#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/page.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

std::string number_of(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
}

std::string numbers_line(const Benchmark& bench) {
  const Run& run = bench.facts.run;
  std::string out = "<dl class=\"facts\">";
  out +=
      number_of("trials", run.recorded == run.planned ? fmt::format("{}", run.recorded)
                                                      : fmt::format("{} of {}", run.recorded, run.planned));
  out += number_of("file systems", fmt::format("{}", bench.facts.filesystems.size()));
  out += number_of("comparisons", fmt::format("{}", bench.contests.size()));
  if (bench.failed() > 0) out += number_of("failed trials", fmt::format("{}", bench.failed()));
  out += number_of("run", fmt::format("{}, {}", run.id, run.started_at));
  if (run.finished_at) out += number_of("took", duration(run.seconds));
  out += number_of("seed", fmt::format("{}", run.seed));
  return out + "</dl>\n";
}

std::string names_legend(const Benchmark& bench) {
  std::string out = "<p class=\"legend\">";
  for (const std::string& name : bench.facts.filesystems) out += filesystem_name(bench.facts, name) + " ";
  return out + "</p>\n";
}

std::string plots_section(const Benchmark& bench, const BenchPlots& plots) {
  const std::int64_t run = bench.facts.run.id;
  std::string out;
  if (!plots.recovery.empty()) {
    out +=
        "<section>\n<h2>Recovery against size</h2>\n" + names_legend(bench) +
        "<p class=\"note\">Time of each step after a power cut (replay, then a check, then the mount of what "
        "is "
        "clean) against one parameter while the others stay: files on the disk, files since the last sync, "
        "bytes of each. Dashed where the processor was waited for, not the device.</p>\n" +
        plot_grid(plots.recovery) + query_note("bench_measures", run) + "</section>\n";
  }
  if (!plots.throughput.empty()) {
    out += "<section>\n<h2>Response time against throughput</h2>\n" + names_legend(bench) +
           "<p class=\"note\">A point per number of users, written beside it. Each user waits for an "
           "operation before "
           "the next one, so its mean response time is the number of users by the throughput.</p>\n" +
           plot_grid(plots.throughput) + query_note("bench_measures", run) + "</section>\n";
  }
  if (!plots.latency.empty()) {
    out += "<section>\n<h2>Response times of requests</h2>\n" + names_legend(bench) +
           "<p class=\"note\">Share of the device&#39;s requests that took at most the time below, over all "
           "measured "
           "phases and repetitions, by the model. Variants are dashed.</p>\n" +
           plot_grid(plots.latency) + query_note("bench_latency", run) + "</section>\n";
  }
  if (!plots.io.empty()) {
    out +=
        "<section>\n<h2>Where the I/O went</h2>\n<p class=\"legend\"><span><i class=\"box "
        "read\"></i>read</span> "
        "<span><i class=\"box write\"></i>write</span> <span><i class=\"box media\"></i>written to the "
        "medium</span></p>\n<p class=\"note\">First logical block (up) over model time since the workload "
        "began, one "
        "trial per file system and device; the plots of a device have the same axes.</p>\n" +
        plot_grid(plots.io) + query_note("bench_io", run) + "</section>\n";
  }
  return out;
}

}  // namespace

std::string entrant_name(const Benchmark& bench, const std::string& filesystem, const std::string& variant) {
  const std::string name = filesystem_name(bench.facts, filesystem);
  return variant.empty() ? name : name + fmt::format("<small>{}</small>", escape(variant));
}

std::string contest_name(const Contest& contest) {
  std::string small = contest.phase.empty() ? "" : contest.phase + " \xc2\xb7 ";
  small += contest.device;
  if (const std::string mark = contest.scale_mark(); !mark.empty()) small += " \xc2\xb7 " + mark;
  return fmt::format("<span class=\"setting\">{}</span><small>{}</small>", escape(contest.setting()),
                     escape(small));
}

std::string bench_opening(const Benchmark& bench, const BenchAnswer& answer,
                          const BaselineComparison* baseline) {
  const Run& run = bench.facts.run;
  std::string out = "<header>\n";
  if (baseline != nullptr && baseline->regressions() > 0) {
    out += fmt::format(
        "<div class=\"invalid\" role=\"alert\"><strong>Slower than the baseline</strong> Regressions: {} of {} "
        "cells</div>\n",
        baseline->regressions(), baseline->changes.size());
  }
  out +=
      fmt::format("<p class=\"kind\">Timed comparison</p>\n<h1>{}</h1>\n<p class=\"answer\">{}</p>\n",
                  escape(run.name.empty() ? fmt::format("run {}", run.id) : run.name), escape(answer.status));
  return out + notes_list(answer.notes) + numbers_line(bench) + "</header>\n";
}

Result<std::string> bench_page(const Benchmark& bench, const BaselineComparison* baseline) {
  const auto plots = bench_plots(bench);
  if (!plots) return pass_on(plots);
  std::string content = bench_opening(bench, answer_of(bench), baseline);
  content += bench_overview(bench);
  if (baseline != nullptr) content += baseline_section(bench, *baseline);
  content += ranking_section(bench, *plots);
  content += plots_section(bench, *plots);
  content += measures_section(bench);
  content += trials_section(bench);
  content += lateness_section(bench.facts);
  content += environment_section(bench.facts);
  return whole_page(bench.facts.run.name, content);
}

}  // namespace headcrash::report
