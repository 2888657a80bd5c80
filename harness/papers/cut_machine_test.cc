// Tests machines in virtual time that start from a recording. The recording was made on a stage
// with an array and caches above its media.
#include "harness/papers/cut_machine.h"

#include "fs-adapters/registry.h"
#include "plugin/media/memory_store.h"
#include "plugin/stages/testing/stage_fixture.h"

namespace headcrash::experiment {
namespace {

constexpr const char* kPresto = "netra-raid5-presto";
constexpr std::uint64_t kSectors = 64 << 11;

/// Writes a file system through the hardware, as mkfs would on an empty disk.
void write_file_system(stages::StageClient& client) {
  const auto image = media::MemoryStore::create(client.sectors());
  ASSERT_TRUE(image);
  const auto type = adapters::find_file_system_type("ufs");
  ASSERT_TRUE(type);
  ASSERT_TRUE((*type)->mkfs(**image, {}));
  constexpr std::uint64_t kPiece = 64;
  for (std::uint64_t lba = (*image)->next_written(0); lba < (*image)->sectors();
       lba = (*image)->next_written(lba + kPiece)) {
    std::vector<std::byte> bytes(std::min(kPiece, (*image)->sectors() - lba) * model::kSectorBytes);
    ASSERT_TRUE((*image)->read(lba, bytes));
    ASSERT_EQ(client.write(lba, bytes), 0);
  }
}

/// A recording with two of its states. In `at_mark`, the caches contain the whole file system; in
/// `at_end`, the drives contain it.
struct Recorded {
  std::shared_ptr<const states::RunHistory> run;
  states::CrashState at_mark, at_end;
};
Recorded record(const std::filesystem::path& path) {
  const auto server = stages::start_stages(1, 1 << 28);
  stages::load(*server, {.stage = 0, .sectors = kSectors, .record = path, .machine = kPresto});
  stages::StageClient client(**server->stage(0));
  write_file_system(client);
  EXPECT_TRUE((*server->stage(0))->mark("made"));
  const auto sealed = (*server->stage(0))->seal();
  EXPECT_TRUE(sealed);
  Recorded recorded{.run = states::RunHistory::load(path).value_or(nullptr)};
  const auto physical = [](std::uint64_t event) {
    return states::CrashState{.base = states::CrashState::Base::physical, .event = event};
  };
  recorded.at_mark = physical(recorded.run->marks().front().event);
  recorded.at_end = physical(sealed->events);
  return recorded;
}

/// Starts a machine from the state, and verifies that it recovers to a correct file system. Returns
/// the number of blocks that are rewritten through the cache.
std::uint64_t blocks_written_again(const Recorded& recorded, const states::CrashState& state,
                                   const std::vector<const char*>& faults = {}) {
  ModelledMachineOptions options = machine_of(*recorded.run);
  options.system = machine_with("ufs", "conventional")->system;
  for (const char* const fault : faults) options.faults.push_back(*model::parse_fault(fault));
  const auto found = cut_machine_of(recorded.run, state);
  EXPECT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->media.leaves.size(), 11U);
  const auto machine = ModelledMachine::found_cut(options, *found);
  EXPECT_TRUE(machine) << machine.error().message();
  const std::uint64_t again = (*machine)->nvram_counters(NvramPlace::above).cached_writes;
  const auto recovery = (*machine)->recover(Repair::always);
  EXPECT_TRUE(recovery) << recovery.error().message();
  EXPECT_EQ(recovery->findings, 0U);
  EXPECT_GT(recovery->repair.elapsed_ns, 0);
  return again;
}

TEST(CutMachine, StartsWithMediaAndDirtyCacheContents) {
  TemporaryFolder folder;
  const Recorded recorded = record(folder / "made.hcrec");
  EXPECT_GT(blocks_written_again(recorded, recorded.at_mark), 0U);
  EXPECT_EQ(blocks_written_again(recorded, recorded.at_end), 0U)
      << "the drives already have the data";
}

TEST(CutMachine, StartsWithAMissingArrayMember) {
  TemporaryFolder folder;
  const Recorded recorded = record(folder / "made.hcrec");
  blocks_written_again(recorded, recorded.at_end, {"dead:hd0.below.3.below"});
}

TEST(CutMachine, RejectsDifferentHardware) {
  TemporaryFolder folder;
  const Recorded recorded = record(folder / "made.hcrec");
  ModelledMachineOptions options = machine_of(*recorded.run);
  options.system = machine_with("ufs", "conventional")->system;
  options.size_bytes = kSectors * 2 * model::kSectorBytes;
  const auto machine =
      ModelledMachine::found_cut(options, *cut_machine_of(recorded.run, recorded.at_end));
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().message().find("different drives"), std::string::npos)
      << machine.error().message();
}

}  // namespace
}  // namespace headcrash::experiment
