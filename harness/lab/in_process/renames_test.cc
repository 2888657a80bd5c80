// Every kind of rename under every kind of scheme: what a power cut inside one leaves is what the scheme may
// leave, and nobody's only name is lost. Small groups, so that directories have their inodes in different
// blocks, which go to the disk in any order that the scheme does not forbid.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/lab/in_process/exploration.h"
#include "plugin/model/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kRenameDiskBytes = 8 << 20;

struct Renames {
  const char* what;
  const char* set_up;  ///< and then a sync
  const char* operations;
};

const std::vector<Renames>& kinds_of_rename() {
  static const std::vector<Renames> kinds{
      {"file", "create A/f", "rename A/f A/g"},
      {"file, another parent", "create A/f", "rename A/f B/g"},
      {"file over file", "create A/f\ncreate A/g", "rename A/f A/g"},
      {"file over file, another parent", "create A/f\ncreate B/g", "rename A/f B/g"},
      {"file, on and on", "create A/f", "rename A/f B/f\nrename B/f C/f\nrename C/f A/f"},
      {"directory", "mkdir A/d\ncreate A/d/f", "rename A/d A/e"},
      {"directory, another parent", "mkdir A/d\ncreate A/d/f", "rename A/d B/d"},
      {"directory over directory", "mkdir A/d\nmkdir A/e\ncreate A/d/f", "rename A/d A/e"},
      {"directory over directory, another parent", "mkdir A/d\nmkdir B/e\ncreate A/d/f", "rename A/d B/e"},
      {"directory, on and on", "mkdir A/d\ncreate A/d/f", "rename A/d B/d\nrename B/d C/d\nrename C/d A/d"},
      {"directory over directories, on and on", "mkdir A/d\nmkdir B/d\nmkdir C/d\ncreate A/d/f",
       "rename A/d B/d\nrename B/d C/d"},
      {"file, and its old parent goes", "create A/f", "rename A/f B/f\nrmdir A"},
      {"directory, and its old parent goes", "mkdir A/d\ncreate A/d/f", "rename A/d B/d\nrmdir A"},
      {"file, and its old parent is replaced", "create A/f", "rename A/f B/f\nrename C A"},
      {"directory, and a file in it is synced", "mkdir A/d\ncreate A/d/f",
       "rename A/d B/d\nwrite B/d/f 0 512 1 1\nfsync B/d/f\ncreate A/g"},
      {"directory, and a synced file in it is synced", "mkdir A/d\ncreate A/d/f\nfsync A/d/f",
       "rename A/d B/d\nfsync B/d/f\ncreate A/g"},
      {"directory, and a file in it that lies elsewhere is synced",
       "mkdir A/d\ncreate C/f\nlink C/f A/d/f\nsync\nfsync A/d/f", "rename A/d B/d\nfsync B/d/f\ncreate A/g"},
      {"directory, its parent stays, and a file in it that lies elsewhere is synced",
       "mkdir A/d\ncreate C/f\nlink C/f A/d/f\nsync\nfsync A/d/f", "rename A/d A/e\nfsync A/e/f\ncreate A/g"},
      {"directory, and it is synced", "mkdir A/d\ncreate A/d/f", "rename A/d B/d\nfsyncdir B/d\ncreate A/g"},
      {"directory, and its new parent is synced", "mkdir A/d\ncreate A/d/f",
       "rename A/d B/d\nfsyncdir B\ncreate A/g"},
      {"file into a new directory", "create A/f", "mkdir N\nrename A/f N/f"},
      {"directory into a new directory", "mkdir A/d\ncreate A/d/f", "mkdir N\nrename A/d N/d"},
      {"exchange of files", "create A/f\ncreate A/g", "rename-exchange A/f A/g"},
      {"exchange of files, two parents", "create A/f\ncreate B/g", "rename-exchange A/f B/g"},
      {"exchange of directories", "mkdir A/d\nmkdir A/e\ncreate A/d/f", "rename-exchange A/d A/e"},
      {"exchange of directories, two parents", "mkdir A/d\nmkdir B/e\ncreate A/d/f",
       "rename-exchange A/d B/e"},
      {"exchange of file and directory, two parents", "mkdir A/d\ncreate B/f", "rename-exchange B/f A/d"},
      {"exchange of directory and file, two parents", "mkdir A/d\ncreate B/f", "rename-exchange A/d B/f"},
  };
  return kinds;
}

class RenamesUnder : public testing::TestWithParam<std::string> {};

TEST_P(RenamesUnder, LeaveWhatTheSchemeMay) {
  const model::TemporaryFolder folder;
  const auto formatted =
      format_disk(kRenameDiskBytes, {.group_bytes = 1 << 20}, folder.path() / "formatted.hcrec");
  ASSERT_TRUE(formatted) << formatted.error().message();
  const auto scheme = ufs::find_scheme_variant(GetParam());
  ASSERT_TRUE(scheme) << scheme.error().message();
  Bench bench(*formatted);
  for (const Renames& kind : kinds_of_rename()) {
    const std::string text =
        fmt::format("mkdir A\nmkdir B\nmkdir C\n{}\nsync\n{}\nsync\n", kind.set_up, kind.operations);
    const auto operations = workload::parse_operations(text, kind.what);
    ASSERT_TRUE(operations) << operations.error().message();
    const auto result = bench.explore(
        *scheme, *operations,
        {.budget = 2000, .reorder_per_cut = 64, .run = {.pause_ns_max = 0}, .verify_one_in = 100},
        folder.path() / "run.hcrec");
    ASSERT_TRUE(result) << kind.what << ": " << result.error().message();
    EXPECT_FALSE(result->run.failure) << kind.what << ": " << *result->run.failure;
    EXPECT_GT(result->checked, 0U) << kind.what;
    EXPECT_EQ(result->clean, result->checked) << kind.what;
    if (!result->failures.empty()) {
      const ExploredState& first = result->failures.front();
      ADD_FAILURE() << kind.what << " " << first.state << " " << crash::name(first.outcome.judgement.verdict)
                    << ": " << first.outcome.judgement.summary;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RenamesUnder,
                         testing::Values("conventional", "part-nr-cb", "chains", "chains-cb",
                                         "chains-barrier-cb", "soft-updates", "journal"),
                         [](const auto& scheme) {
                           std::string name = scheme.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace headcrash::in_process
