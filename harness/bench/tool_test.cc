#include "harness/bench/tool.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headcrash::bench {
namespace {

double metric(const ToolReport& report, const std::string& name) {
  for (const db::MetricRecord& each : report.metrics) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << "no " << name;
  return -1;
}

TEST(Tool, ParsesFioReportsPerJobAndDirection) {
  const ToolJob job{.tool = "fio", .job = "[a]"};
  const auto report = parse_report(job, R"(fio: a warning
{"fio version":"fio-3.33","jobs":[
 {"jobname":"a","error":0,
  "read":{"io_bytes":4096,"bw_bytes":8192,"iops":2.0,"total_ios":1,
          "clat_ns":{"mean":5000000.0,"max":6000000,"percentile":{"50.000000":5000000,"99.000000":6000000}}},
  "write":{"io_bytes":0,"total_ios":0}},
 {"jobname":"a","error":0,"write":{"io_bytes":8192,"bw_bytes":100,"iops":7.5,"total_ios":2,"clat_ns":{"mean":1.0}}}]})");
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->operations, 3);
  EXPECT_EQ(report->bytes_read, 4096);
  EXPECT_EQ(report->bytes_written, 8192);
  EXPECT_EQ(metric(*report, "fio.a.read.iops"), 2);
  EXPECT_EQ(metric(*report, "fio.a.read.latency.p99"), 6);
  EXPECT_EQ(metric(*report, "fio.a#1.write.iops"), 7.5);
}

TEST(Tool, ReportsAFailedFioJobAsAnError) {
  const auto report =
      parse_report({.tool = "fio"}, R"({"jobs":[{"jobname":"a","error":28,"write":{}}]})");
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message().find("error 28"), std::string::npos)
      << report.error().message();
}

TEST(Tool, ConvertsUnitsInPostmarkReports) {
  const auto report = parse_report({.tool = "postmark"}, R"(Time:
	5 seconds total
	4 seconds of transactions (1250 per second)
Files:
	5064 created (1012 per second)
		Creation alone: 2500 files (2500 per second)
	5064 deleted (1013 per second)
Data:
	27.50 megabytes read (5.55 megabytes per second)
	512.00 kilobytes written (1.00 kilobytes per second)
)");
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->operations, 5000);
  EXPECT_EQ(report->bytes_read, 28'835'840);
  EXPECT_EQ(report->bytes_written, 524'288);
  EXPECT_EQ(metric(*report, "postmark.transactions"), 1250);
  EXPECT_EQ(metric(*report, "postmark.deleted"), 1013);
}

TEST(Tool, ParsesDbenchAndFsMark) {
  const auto dbench = parse_report({.tool = "dbench"}, R"( Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX       1234     0.012     1.500
 Close            900     0.002     0.100

Throughput 25.5 MB/sec  4 clients  4 procs  max_latency=61.250 ms
)");
  ASSERT_TRUE(dbench) << dbench.error().message();
  EXPECT_EQ(dbench->operations, 2134);
  EXPECT_EQ(metric(*dbench, "dbench.throughput"), 25.5e6);
  const auto fs_mark = parse_report({.tool = "fs_mark"}, R"(#	Version 3.3, 1 thread(s)
FSUse%        Count         Size    Files/sec     App Overhead
     1         1000        10240        120.0            23456
     2         2000        10240        100.0            23456
)");
  ASSERT_TRUE(fs_mark) << fs_mark.error().message();
  EXPECT_EQ(fs_mark->operations, 2000);
  EXPECT_EQ(metric(*fs_mark, "fs_mark.files"), 110);
}

TEST(Tool, ParsesReportsOfApplications) {
  const auto rows = parse_report({.tool = "sqlite"}, "rows changed|382\nok\n");
  ASSERT_TRUE(rows) << rows.error().message();
  EXPECT_EQ(rows->operations, 382);
  EXPECT_FALSE(parse_report({.tool = "sqlite"}, "rows changed|382\n*** in database main ***\n"));
  const auto files =
      parse_report({.tool = "compile"}, "compiled 61 files of 312345 bytes into 98765 bytes\n");
  ASSERT_TRUE(files) << files.error().message();
  EXPECT_EQ(files->operations, 61);
  EXPECT_EQ(files->bytes_read, 312'345);
  EXPECT_EQ(files->bytes_written, 98'765);
}

ToolJob taken(const std::string& text) {
  const auto table = base::StrictTable::parse(text, "mine.toml");
  EXPECT_TRUE(table) << table.error().message();
  const auto job = parse_tool(*table, "");
  if (job) return *job;
  return {.tool = "", .job = job.error().message()};
}

TEST(Tool, UsesADefaultJobUnlessOneIsGiven) {
  EXPECT_NE(taken("tool = \"sqlite\"").job.find("CREATE TABLE"), std::string::npos);
  EXPECT_EQ(taken("tool = \"sqlite\"\njob = \"VACUUM;\"").job, "VACUUM;");
  EXPECT_NE(taken("tool = \"compile\"").job.find("tcc -nostdinc"), std::string::npos);
  const ToolCommand compile = tool_command(taken("tool = \"compile\"\noptions = [\"20\"]"), "/mnt");
  EXPECT_EQ(compile.prepare.back(), "20");
  EXPECT_EQ(compile.argv.back(), "20");
  EXPECT_NE(taken("tool = \"compile\"\njob = \"x\"").job.find("does not take a job"),
            std::string::npos);
  EXPECT_NE(taken("tool = \"fio\"").job.find("verify="), std::string::npos);
  EXPECT_NE(taken("tool = \"postmark\"").job.find("set location {root}"), std::string::npos);
  const ToolJob dbench = taken("tool = \"dbench\"");
  EXPECT_NE(dbench.job.find("Rename \"\\clients\\client1\\d"), std::string::npos);
  EXPECT_LE(dbench.job.size(), 256U << 10) << "the size limit of a user's own job";
  EXPECT_EQ(taken("tool = \"dbench\"\njob = '''" + dbench.job + "'''").job, dbench.job);
  EXPECT_EQ(dbench.options.back(), "2");
  EXPECT_EQ(taken("tool = \"fs_mark\"\noptions = [\"-n\", \"7\"]").options.back(), "7");
  EXPECT_NE(taken("tool = \"fio\"\njob-file = \"not-there.fio\"").job.find("not-there.fio"),
            std::string::npos);
  EXPECT_NE(taken("tool = \"dbench\"\njob = \"0.000 Mkdir /a 0x0\"")
                .job.find("line 1 is not a valid line"),
            std::string::npos);
  EXPECT_EQ(taken("tool = \"dbench\"\njob = 'Mkdir \"\\clients\" NT_STATUS_OK'").tool, "dbench");
}

TEST(Tool, RejectsOutputWithoutAReport) {
  for (const char* tool : {"fio", "postmark", "dbench", "fs_mark", "sqlite", "compile"}) {
    const auto report = parse_report({.tool = tool}, "open failed: no space");
    ASSERT_FALSE(report) << tool;
    EXPECT_NE(report.error().message().find("no space"), std::string::npos)
        << report.error().message();
  }
}

TEST(Tool, CommandsIncludeTheRootAndTheJobFile) {
  const auto command =
      tool_command({.tool = "fio", .job = "[a]", .options = {"--eta=never", "x={root}/y"}}, "/mnt");
  EXPECT_EQ(command.argv.front(), "fio");
  EXPECT_EQ(command.argv[3], "--directory=/mnt");
  EXPECT_EQ(command.argv[4], command.job_path);
  EXPECT_EQ(command.argv.back(), "x=/mnt/y");
  EXPECT_EQ(command.argv[2], "--output=" + command.report_path);
  EXPECT_TRUE(tool_command({.tool = "fs_mark"}, "/mnt").job_path.empty());
}

TEST(Tool, ReportsTheTimeLimitThatEndedARun) {
  const auto fixed = [](const ToolJob& job, const std::string& text) {
    const auto report = parse_report(job, text);
    EXPECT_TRUE(report) << report.error().message();
    const auto found =
        std::ranges::find(report->metrics, db::kFixedTimeMetric, &db::MetricRecord::name);
    return found == report->metrics.end() ? 0 : found->value;
  };
  const auto fio = [&](FioExtras extras, int took_ms) {
    return fixed({.tool = "fio", .fio = std::move(extras)},
                 R"({"jobs":[{"jobname":"a","job_runtime":)" + std::to_string(took_ms) + "}]}");
  };
  EXPECT_EQ(fio({.time_based = true, .runtime_s = 5}, 5001), 5);
  EXPECT_EQ(fio({.runtime_s = 5}, 4000), 0) << "fio completed its work";
  EXPECT_EQ(fio({.runtime_s = 5}, 5000), 5) << "the time limit stopped fio";
  EXPECT_EQ(fio({}, 5000), 0);
}

TEST(Tool, CopiesIologsToTheGuest) {
  const ToolJob job{.tool = "fio",
                    .job = "[a]\nread_iolog={iolog0}\n",
                    .fio = {.iologs = {"fio version 2 iolog\n"}, .replayed_bytes = 1 << 20}};
  const ToolCommand command = tool_command(job, "/mnt");
  ASSERT_EQ(command.more_files.size(), 1U);
  EXPECT_NE(command.job_text.find("read_iolog=" + command.more_files[0].first), std::string::npos);
  EXPECT_EQ(std::ranges::count(command.argv, "--directory=/mnt"), 0)
      << "fio 3.33 crashes with this option";
  EXPECT_EQ(command.prepare.back(), "/mnt/replayed");
}

}  // namespace
}  // namespace headcrash::bench
