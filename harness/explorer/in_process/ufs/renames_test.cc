// Tests every kind of rename under every kind of scheme. A power cut during a rename must leave a
// state that the scheme permits, and no object may lose its only name. Cylinder groups are small,
// so that the inodes of different directories are in different blocks. The driver writes these
// blocks in any order that the scheme permits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "fs-adapters/ufs/under_test.h"
#include "harness/explorer/in_process/exploration.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kRenameDiskBytes = 8 << 20;

/// The type of the objects that may have no name after the cut, because the operations create or
/// remove them. An object that is only moved must always have a name (rule R1). If such an object
/// had no name, fsck would move it to lost+found, and the oracle would report this.
enum class MayVanish : std::uint8_t { nothing, file, directory };

struct Renames {
  const char* what;
  const char* set_up;  ///< operations before the test, followed by a sync
  const char* operations;
  MayVanish may_vanish = MayVanish::nothing;
};

const std::vector<Renames>& kinds_of_rename() {
  static const std::vector<Renames> kinds{
      {"file", "create A/f", "rename A/f A/g"},
      {"file, another parent", "create A/f", "rename A/f B/g"},
      {"file over file", "create A/f\ncreate A/g", "rename A/f A/g", MayVanish::file},
      {"file over file, another parent", "create A/f\ncreate B/g", "rename A/f B/g",
       MayVanish::file},
      {"file, repeatedly", "create A/f", "rename A/f B/f\nrename B/f C/f\nrename C/f A/f"},
      {"directory", "mkdir A/d\ncreate A/d/f", "rename A/d A/e"},
      {"directory, another parent", "mkdir A/d\ncreate A/d/f", "rename A/d B/d"},
      {"directory over directory", "mkdir A/d\nmkdir A/e\ncreate A/d/f", "rename A/d A/e",
       MayVanish::directory},
      {"directory over directory, another parent", "mkdir A/d\nmkdir B/e\ncreate A/d/f",
       "rename A/d B/e", MayVanish::directory},
      {"directory, repeatedly", "mkdir A/d\ncreate A/d/f",
       "rename A/d B/d\nrename B/d C/d\nrename C/d A/d"},
      {"directory over directories, repeatedly", "mkdir A/d\nmkdir B/d\nmkdir C/d\ncreate A/d/f",
       "rename A/d B/d\nrename B/d C/d", MayVanish::directory},
      {"file, and its old parent is removed", "create A/f", "rename A/f B/f\nrmdir A",
       MayVanish::directory},
      {"file created elsewhere, and its old parent is removed", "create C/f\nrename C/f A/f",
       "rename A/f B/f\nrmdir A", MayVanish::directory},
      {"file created elsewhere, and its old parent is replaced",
       "create C/f\nrename C/f A/f\nmkdir D", "rename A/f B/f\nrename D A", MayVanish::directory},
      {"directory, and its old parent is removed", "mkdir A/d\ncreate A/d/f",
       "rename A/d B/d\nrmdir A", MayVanish::directory},
      {"file, and its old parent is replaced", "create A/f", "rename A/f B/f\nrename C A",
       MayVanish::directory},
      {"directory, and a file in it is synced", "mkdir A/d\ncreate A/d/f",
       "rename A/d B/d\nwrite B/d/f 0 512 1 1\nfsync B/d/f\ncreate A/g", MayVanish::file},
      {"directory, and a synced file in it is synced", "mkdir A/d\ncreate A/d/f\nfsync A/d/f",
       "rename A/d B/d\nfsync B/d/f\ncreate A/g", MayVanish::file},
      {"directory, and a file in it, created elsewhere, is synced",
       "mkdir A/d\ncreate C/f\nlink C/f A/d/f\nsync\nfsync A/d/f",
       "rename A/d B/d\nfsync B/d/f\ncreate A/g", MayVanish::file},
      {"directory, its parent stays, and a file in it, created elsewhere, is synced",
       "mkdir A/d\ncreate C/f\nlink C/f A/d/f\nsync\nfsync A/d/f",
       "rename A/d A/e\nfsync A/e/f\ncreate A/g", MayVanish::file},
      {"exchange of directories, two parents, twice",
       "mkdir A/d\ncreate A/d/f\nmkdir B/e\ncreate C/g",
       "rename-exchange A/d B/e\nrename-exchange C/g B/e"},
      {"exchange of a directory and its parent, twice",
       "mkdir D\nmkdir D/e\ncreate A/f\nsymlink x A/g",
       "rename-exchange A/f D/e\nrename-exchange A/f D\nrename-exchange A/g D"},
      {"directory, and it is synced", "mkdir A/d\ncreate A/d/f",
       "rename A/d B/d\nfsyncdir B/d\ncreate A/g", MayVanish::file},
      {"directory, and its new parent is synced", "mkdir A/d\ncreate A/d/f",
       "rename A/d B/d\nfsyncdir B\ncreate A/g", MayVanish::file},
      {"file into a new directory", "create A/f", "mkdir N\nrename A/f N/f", MayVanish::directory},
      {"directory into a new directory", "mkdir A/d\ncreate A/d/f", "mkdir N\nrename A/d N/d",
       MayVanish::directory},
      {"exchange of files", "create A/f\ncreate A/g", "rename-exchange A/f A/g"},
      {"exchange of files, two parents", "create A/f\ncreate B/g", "rename-exchange A/f B/g"},
      {"exchange of directories", "mkdir A/d\nmkdir A/e\ncreate A/d/f", "rename-exchange A/d A/e"},
      {"exchange of directories, two parents", "mkdir A/d\nmkdir B/e\ncreate A/d/f",
       "rename-exchange A/d B/e"},
      {"exchange of file and directory, two parents", "mkdir A/d\ncreate B/f",
       "rename-exchange B/f A/d"},
      {"exchange of directory and file, two parents", "mkdir A/d\ncreate B/f",
       "rename-exchange A/d B/f"},
  };
  return kinds;
}

class RenamesOfUfs : public testing::TestWithParam<std::string> {};

TEST_P(RenamesOfUfs, LeavePermittedStates) {
  const TemporaryFolder folder;
  const auto scheme = adapters::find_system("ufs", GetParam());
  ASSERT_TRUE(scheme) << scheme.error().message();
  const auto formatted =
      format_disk((*scheme)->type(), {.bytes = kRenameDiskBytes, .mkfs = {{"group-size", "1M"}}},
                  folder.path() / "formatted.hcrec");
  ASSERT_TRUE(formatted) << formatted.error().message();
  DiskExplorer explorer(*formatted);
  for (const Renames& kind : kinds_of_rename()) {
    const std::string before = fmt::format("mkdir A\nmkdir B\nmkdir C\n{}\n", kind.set_up);
    const auto set_up = workload::parse_operations(before, kind.what);
    const auto operations = workload::parse_operations(
        fmt::format("{}sync\n{}\nsync\n", before, kind.operations), kind.what);
    ASSERT_TRUE(set_up && operations) << kind.what;
    const auto result = explorer.explore(**scheme, *operations,
                                         {.budget = 2000,
                                          .reorder_per_cut = 64,
                                          .run = {.pause_ns_max = 0},
                                          .from_operation = set_up->size(),
                                          .verify_one_in = 100},
                                         folder.path() / "run.hcrec");
    ASSERT_TRUE(result) << kind.what << ": " << result.error().message();
    EXPECT_FALSE(result->run.failure) << kind.what << ": " << *result->run.failure;
    EXPECT_GT(result->checked, 0U) << kind.what;
    EXPECT_EQ(result->clean, result->checked) << kind.what;
    EXPECT_EQ(result->found.contains(ufs::kind_of(ufs::FindingKind::unreferenced_file)) &&
                  kind.may_vanish != MayVanish::file,
              false)
        << kind.what;
    EXPECT_EQ(result->found.contains(ufs::kind_of(ufs::FindingKind::unreferenced_directory)) &&
                  kind.may_vanish != MayVanish::directory,
              false)
        << kind.what;
    if (!result->failures.empty()) {
      const ExploredState& first = result->failures.front();
      ADD_FAILURE() << kind.what << " " << first.state << " "
                    << oracle::name(first.outcome.judgement.verdict) << ": "
                    << first.outcome.judgement.summary;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RenamesOfUfs,
                         testing::Values("conventional", "part-nr-cb", "chains", "chains-cb",
                                         "chains-barrier-cb", "soft-updates", "journal"),
                         [](const auto& scheme) {
                           std::string name = scheme.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace headcrash::in_process
