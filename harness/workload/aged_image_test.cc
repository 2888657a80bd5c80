#include "harness/workload/aged_image.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/workload/catalogue.h"
#include "harness/workload/stamp.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

TEST(AgedImage, CoversAllOperationsWithinItsBounds) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const AgedImageOptions options{
        .seed = seed, .rounds = 400, .files_most = 20, .largest_blocks = 10};
    const auto list = age(options);
    EXPECT_EQ(list, age(options));
    EXPECT_EQ(list.back().kind, Kind::sync);
    std::map<std::string, std::uint64_t> files;
    std::set<Kind> kinds;
    std::uint64_t removed = 0, most = 0;
    for (const Operation& each : list) {
      kinds.insert(each.kind);
      EXPECT_TRUE(each.path.empty() || each.path.starts_with("aged")) << format(each);
      if (each.kind == Kind::unlink) removed += files.erase(each.path);
      if (each.kind == Kind::rename) {
        files[each.target] = files[each.path];
        files.erase(each.path);
      }
      if (is_write(each.kind)) {
        EXPECT_GE(each.file, kAgedFirst);
        EXPECT_GE(each.version, kAgedFirst);
        files[each.path] = std::max(files[each.path], each.offset + each.length);
      }
      std::uint64_t used = 0;
      for (const auto& [path, bytes] : files) used += bytes;
      most = std::max(most, used);
    }
    EXPECT_LE(most, std::uint64_t{20} * 8 * 10 * kStampBytes) << "seed " << seed;
    EXPECT_GT(removed, 20U) << "seed " << seed;
    EXPECT_FALSE(files.empty()) << "seed " << seed << ": all files were removed";
    EXPECT_EQ(kinds.size(), 7U) << "seed " << seed;
  }
}

TEST(AgedImage, CanPrecedeAnyWorkloadOfTheCatalogue) {
  const WorkloadRequest plain{.name = "ace-seq1", .seed = 3, .trial = 17};
  WorkloadRequest aged = plain;
  aged.name += "+aged";
  auto expected = age({.seed = 3});
  const auto list = make_workload(plain).value();
  expected.insert(expected.end(), list.begin(), list.end());
  EXPECT_EQ(make_workload(aged).value(), expected);
  EXPECT_EQ(numbered_name(aged), "ace-seq1/17+aged");
  EXPECT_EQ(make_workload({.name = "ace-seq1/17+aged", .seed = 3}).value(), expected);
  EXPECT_FALSE(make_workload({.name = "+aged"}));
}

}  // namespace
}  // namespace headcrash::workload
