#include "harness/workload/catalogue.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "harness/workload/draft.h"
#include "harness/workload/small_files.h"

namespace headcrash::workload {
namespace {

TEST(Catalogue, EveryNameGivesAnExecutableWorkload) {
  for (const WorkloadSummary& each : known_workloads()) {
    for (std::uint64_t trial = 0; trial < 5; ++trial) {
      const WorkloadRequest request{.name = each.name, .seed = 11 + trial, .trial = trial};
      const auto list = make_workload(request);
      ASSERT_TRUE(list) << list.error().message();
      Draft draft;
      for (const Operation& operation : *list) {
        ASSERT_TRUE(draft.possible(operation)) << each.name << ": " << format(operation);
        draft.add(operation);
      }
      EXPECT_EQ(draft.operations(), *list)
          << each.name << " must number files and versions like a draft";
      EXPECT_EQ(make_workload(request).value(), *list) << each.name;
    }
  }
}

TEST(Catalogue, TakesWorkloadNumbersFromTheTrialOrTheName) {
  EXPECT_EQ(make_workload({.name = "ace-seq1", .trial = 17}).value(),
            make_workload({.name = "ace-seq1/17"}).value());
  EXPECT_EQ(numbered_name({.name = "ace-seq1", .trial = 17}), "ace-seq1/17");
  EXPECT_EQ(numbered_name({.name = "small-files", .trial = 17}), "small-files");
  EXPECT_EQ(make_workload({.name = "small-files", .seed = 3, .rounds = 9}).value(),
            small_files({.seed = 3, .rounds = 9}));
}

TEST(Catalogue, FillsTheDiskBeforeTheWorkload) {
  const auto list = make_workload({.name = "append-log", .fill_bytes = 3ULL << 30}).value();
  EXPECT_EQ(format(list[1]), "allocate filler0 0 1073741824");
  EXPECT_EQ(format(list[5]), "allocate filler2 0 1073741824");
}

TEST(Catalogue, NumberedWorkloadsAreNotListFiles) {
  for (const char* name :
       {"ace-seq1/17", "reuse/3", "small-files", "list.txt+aged", "reuse/3+aged"})
    EXPECT_FALSE(is_list_file(name)) << name;
  for (const char* name : {"list.txt", "./list", "folder/ace-seq1", "/lists/17"})
    EXPECT_TRUE(is_list_file(name)) << name;
}

TEST(Catalogue, ErrorsSuggestAFix) {
  EXPECT_NE(make_workload({.name = "mail-spol"}).error().message().find("mail-spool"),
            std::string::npos);
  EXPECT_NE(make_workload({.name = "ace-seq1/99999999"}).error().message().find("only"),
            std::string::npos);
  for (const char* name :
       {"ace-seq9", "ace-seq", "ace-more3", "ace-seq1/x", "ace-seq1/", "no/such.txt"})
    EXPECT_FALSE(make_workload({.name = name})) << name;
  const auto path = std::filesystem::temp_directory_path() / "headcrash_catalogue_test.txt";
  std::ofstream(path) << "create a\n";
  EXPECT_NE(make_workload({.name = path}).error().message().find("persistence point"),
            std::string::npos);
  std::ofstream(path) << "create a\nfsync a\n";
  EXPECT_EQ(make_workload({.name = path})->size(), 2u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace headcrash::workload
