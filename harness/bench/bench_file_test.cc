#include "harness/bench/bench_file.h"

#include <gtest/gtest.h>

#include <set>

namespace headcrash::bench {
namespace {

const std::string kGood = R"(
filesystems = ["ext4", "xfs"]
[[device]]
profiles = ["hp-c2447", "sata-7200"]
size = "320M"
[[workload]]
name = "lfs-small-file"
scale = "scaled"
files = [200, 400]
[repetitions]
least = 2
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

void expect_refused(const std::string& text, const std::vector<std::string>& words) {
  const auto refused = parse_bench(text, "mine.toml");
  ASSERT_FALSE(refused) << text;
  for (const std::string& word : words)
    EXPECT_NE(refused.error().message().find(word), std::string::npos) << refused.error().message();
}

TEST(BenchFile, ExpandsListsIntoSeparateWorkloads) {
  const auto bench = parse_bench(kGood, "mine.toml");
  ASSERT_TRUE(bench) << bench.error().message();
  EXPECT_EQ(bench->name, "mine");
  EXPECT_EQ(bench->devices.size(), 2U);
  EXPECT_EQ(bench->devices[1].name, "sata-7200");
  EXPECT_EQ(bench->least, 2);
  ASSERT_EQ(bench->workloads.size(), 2U);
  EXPECT_EQ(bench->workloads[0].label, "lfs-small-file.scaled.files=200");
  EXPECT_EQ(bench->workloads[0].scale, "custom");
  EXPECT_EQ(bench->workloads[1].arguments.at("files"), 400);
  EXPECT_NE(parameters_text(bench->workloads[1]).find("files=400"), std::string::npos);
}

TEST(BenchFile, EachFileSystemIsCombinedWithEachKernel) {
  const auto bench =
      parse_bench("kernels = [\"6.1\", \"6.12\"]\n" + std::string(kGood), "mine.toml");
  ASSERT_TRUE(bench) << bench.error().message();
  const auto plain = parse_bench(kGood, "mine.toml");
  ASSERT_EQ(bench->filesystems.size(), 2 * plain->filesystems.size());
  EXPECT_EQ(bench->filesystems[1].name, plain->filesystems[0].name + "@6.12");
  EXPECT_EQ(load_bench("quick", {.kernels = {"7.3"}})->filesystems[0].guest.kernel, "7.3");
  EXPECT_FALSE(load_bench("quick", {.kernels = {"7 3"}}));
}

TEST(BenchFile, ScaleSelectsTheDefaultValues) {
  const auto exact =
      parse_bench(replaced(kGood, "scale = \"scaled\"\nfiles = [200, 400]", ""), "mine.toml");
  ASSERT_TRUE(exact) << exact.error().message();
  EXPECT_EQ(exact->workloads[0].scale, "exact");
  const auto scaled = parse_bench(replaced(kGood, "files = [200, 400]", ""), "mine.toml");
  ASSERT_TRUE(scaled) << scaled.error().message();
  EXPECT_EQ(scaled->workloads[0].scale, "scaled");
  EXPECT_NE(parameters_text(exact->workloads[0]), parameters_text(scaled->workloads[0]));
}

TEST(BenchFile, ErrorsSuggestTheNearestName) {
  expect_refused(replaced(kGood, "[repetitions]\nleast", "[repetition]\nleast"),
                 {"repetition", "did you mean \"repetitions\""});
  expect_refused(replaced(kGood, "lfs-small-file", "lfs-smal-file"),
                 {"workload[0].name", "did you mean \"lfs-small-file\""});
  expect_refused(replaced(kGood, "\nfiles = ", "\nfile = "),
                 {"workload[0].file", "did you mean \"files\""});
  expect_refused(replaced(kGood, "\"xfs\"", "\"xfss\""), {"filesystems", "xfs"});
  expect_refused(replaced(kGood, "sata-7200", "sata-720"), {"device[0].profiles", "sata-7200"});
  expect_refused(kGood + "[[workload]]\ntool = \"fios\"\njob = \"x\"\n",
                 {"workload[1].tool", "\"fio\""});
}

TEST(BenchFile, VirtualTimeAppliesToAllDevices) {
  const auto real = parse_bench(kGood, "mine.toml");
  EXPECT_FALSE(real->virtual_time);
  const auto bench = parse_bench(kGood + "[guest]\nkind = \"virtual\"\n", "mine.toml");
  ASSERT_TRUE(bench) << bench.error().message();
  EXPECT_TRUE(bench->virtual_time);
  for (const BenchDevice& device : bench->devices) EXPECT_EQ(device.clock, "virtual");
  EXPECT_NE(bench_digest(*bench), bench_digest(*real));
  EXPECT_FALSE(parse_bench(kGood + "[guest]\nkind = \"qemu\"\n", "mine.toml")->virtual_time);
  expect_refused(kGood + "[guest]\nkind = \"xen\"\n", {"guest.kind", "xen", "virtual"});
  // Simulates --guest.
  EXPECT_TRUE(load_bench("quick", {.kind = "virtual"})->virtual_time);
  EXPECT_FALSE(load_bench("quick")->virtual_time);
}

TEST(BenchFile, ProcessorTimeIsChargedOnlyInVirtualTime) {
  const std::string in_virtual_time = kGood + "[guest]\nkind = \"virtual\"\n";
  const auto charged = parse_bench(in_virtual_time + "charge = 2.5\n", "mine.toml");
  ASSERT_TRUE(charged) << charged.error().message();
  EXPECT_EQ(charged->charge, 2.5);
  for (const BenchDevice& device : charged->devices) EXPECT_EQ(device.clock, "charged:2.5");
  EXPECT_EQ(parse_bench(in_virtual_time, "mine.toml")->charge, 0);
  for (const char* wrong : {"0", "-1", "nan", "inf", "1001", "\"much\""})
    expect_refused(in_virtual_time + "charge = " + wrong + "\n",
                   {"guest.charge", "from 0.001 to 1000"});
  expect_refused(kGood + "[guest]\ncharge = 1\n", {"guest.charge", "--guest virtual"});
  // The values of --guest and --charge must appear in the stored text of the benchmark.
  const auto chosen = load_bench("quick", {.kind = "virtual", .charge = 3});
  ASSERT_TRUE(chosen) << chosen.error().message();
  EXPECT_EQ(chosen->charge, 3);
  EXPECT_EQ(parse_bench(chosen->text, "again.toml")->charge, 3);
  EXPECT_FALSE(load_bench("quick", {.charge = 3}));
}

TEST(BenchFile, RejectsUnmeasurableSettings) {
  expect_refused(replaced(kGood, "[[device]]", "clock = \"off\"\n[[device]]"), {"clock", "off"});
  expect_refused(replaced(kGood, "[[device]]", "clock = \"real:abc\"\n[[device]]"),
                 {"clock", "abc"});
  expect_refused(replaced(kGood, "[[device]]", "[[device]]\nclock = \"off\""),
                 {"device", "clock", "off"});
  expect_refused(replaced(kGood, "\"320M\"", "\"100M\""), {"size", "300 MiB"});
  expect_refused(replaced(kGood, "\"320M\"", "\"9000G\""), {"size", "holds only"});
  expect_refused(replaced(kGood, "[200, 400]", "[200, 200]"), {"files", "distinct"});
  expect_refused(replaced(kGood, "[200, 400]", "\"many\""), {"files", "whole number"});
  expect_refused(replaced(kGood, "[200, 400]", "[200, 2.5]"), {"files", "whole number"});
  expect_refused(replaced(kGood, "[200, 400]", "-1"), {"files", "out of range"});
  expect_refused(replaced(kGood, "least = 2", "least = 5\nmost = 4"), {"most"});
  expect_refused(replaced(kGood, "least = 2", "interval = 0"), {"interval"});
  expect_refused(replaced(kGood, "filesystems = [\"ext4\", \"xfs\"]", ""),
                 {"filesystems", "missing"});
  expect_refused(
      kGood + "[[workload]]\nname = \"lfs-small-file\"\nscale = \"scaled\"\nfiles = 200\n",
      {"workload[1].name", "is listed twice"});
  expect_refused(kGood + "[[workload]]\ntool = \"fio\"\njob-file = \"none.fio\"\n", {"none.fio"});
  expect_refused(kGood + "[[workload]]\ntool = \"fs_mark\"\njob = \"x\"\n",
                 {"workload[1].job", "does not take a job"});
}

TEST(BenchFile, AcceptsADifferentWorkloadSizePerDevice) {
  const std::string small =
      replaced(kGood, "files = [200, 400]", "files = 200\ndevices = [\"hp-c2447\"]");
  const std::string large =
      "[[workload]]\nname = \"lfs-small-file\"\nscale = \"scaled\"\nfiles = 200\n";
  const auto bench = parse_bench(small + large + "devices = [\"sata-7200\"]\n", "mine.toml");
  ASSERT_TRUE(bench) << bench.error().message();
  EXPECT_TRUE(bench->workloads.back().runs_on("sata-7200"));
  EXPECT_FALSE(bench->workloads.back().runs_on("hp-c2447"));
  expect_refused(small + large, {"workload[1].name", "is listed twice"});
  expect_refused(small + large + "devices = [\"sata-7300\"]\n",
                 {"workload[1].devices", "sata-7300", "did you mean \"sata-7200\"?"});
  expect_refused(small + large + "devices = [\"tape\"]\n",
                 {"workload[1].devices", "known: hp-c2447, sata-7200"});
}

TEST(BenchFile, AcceptsADifferentWorkloadSizePerFileSystem) {
  const std::string small =
      replaced(kGood, "files = [200, 400]", "files = 200\nfilesystems = [\"ext4\"]");
  const std::string large =
      "[[workload]]\nname = \"lfs-small-file\"\nscale = \"scaled\"\nfiles = 200\n";
  for (const bool kernels : {false, true}) {
    const auto bench =
        parse_bench((kernels ? "kernels = [\"6.1\", \"7.3\"]\n" : "") + small + large +
                        "filesystems = [\"xfs\"]\ndevices = [\"hp-c2447\"]\n",
                    "mine.toml");
    ASSERT_TRUE(bench) << bench.error().message();
    EXPECT_TRUE(bench->workloads.front().runs_with(bench->filesystems.front()));
    EXPECT_FALSE(bench->workloads.front().runs_with(bench->filesystems.back()));
    EXPECT_TRUE(bench->workloads.back().runs_with(bench->filesystems.back()));
  }
  expect_refused(small + large + "filesystems = [\"xfs\", \"ext4\"]\n",
                 {"workload[1].name", "is listed twice"});
  expect_refused(small + large + "filesystems = [\"xfsx\"]\n",
                 {"workload[1].filesystems", "did you mean \"xfs\"?"});
}

TEST(BenchFile, AYearOfIdleTimeRequiresVirtualTime) {
  const std::string ageing = replaced(kGood, "name = \"lfs-small-file\"", "name = \"ageing\"");
  const std::string year = replaced(ageing, "files = [200, 400]", "days = 364");
  expect_refused(year, {"workload", "604800 s", "--guest virtual"});
  EXPECT_TRUE(parse_bench(year + "[guest]\nkind = \"virtual\"\n", "mine.toml"));
  EXPECT_TRUE(parse_bench(replaced(year, "days = 364", "days = 364\nday-s = 1"), "mine.toml"));
}

TEST(BenchFile, FioNeedsRealTime) {
  const std::string fio =
      kGood + "[[workload]]\ntool = \"fio\"\nname = \"a\"\njob = \"[a]\\nrw=read\"\n";
  EXPECT_TRUE(parse_bench(fio, "mine.toml"));
  expect_refused(fio + "[guest]\nkind = \"virtual\"\n", {"workload", "fio", "--guest virtual"});
}

TEST(BenchFile, DevicesWithTheSameProfileNeedNames) {
  const std::string second =
      "[[device]]\nprofiles = [\"hp-c2447\"]\nsize = \"320M\"\nwrite-cache = true\n";
  expect_refused(kGood + second, {"device[1].profiles", "two devices have the name \"hp-c2447\""});
  const auto bench = parse_bench(kGood + second + "name = \"cached\"\n", "mine.toml");
  ASSERT_TRUE(bench) << bench.error().message();
  EXPECT_EQ(bench->devices.back().name, "cached");
  EXPECT_EQ(bench->devices.back().options.write_cache, true);
}

TEST(BenchFile, TheDigestDependsOnlyOnTheFile) {
  const auto one = parse_bench(kGood, "mine.toml"), again = parse_bench(kGood, "mine.toml"),
             other = parse_bench(replaced(kGood, "least = 2", "least = 4"), "mine.toml");
  ASSERT_TRUE(one && again && other);
  EXPECT_EQ(bench_digest(*one), bench_digest(*again));
  EXPECT_NE(bench_digest(*one), bench_digest(*other));
}

TEST(BenchFile, BuiltInBenchesAreValid) {
  std::set<std::string> names;
  for (const BenchSummary& summary : built_in_benches()) {
    names.insert(summary.name);
    EXPECT_FALSE(summary.takes.empty()) << summary.name;
    const auto bench = load_bench(summary.name);
    EXPECT_TRUE(bench) << bench.error().message();
  }
  EXPECT_TRUE(names.contains("quick"));
  EXPECT_TRUE(names.contains("reference"))
      << "an invalid built-in benchmark is missing from the list";
  const auto unknown = load_bench("quik");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("did you mean \"quick\""), std::string::npos);
}

}  // namespace
}  // namespace headcrash::bench
