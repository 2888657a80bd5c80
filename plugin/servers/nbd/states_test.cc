// Tests the loaded plugin as a crash-state server: exports, negotiation, control socket, errors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "plugin/servers/nbd/testing/served_disk.h"

namespace headcrash::nbd {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSectors = 16384;

class StateServer : public ServedDisk {
 public:
  explicit StateServer(const TemporaryFolder& folder,
                       std::vector<std::string> arguments = {"states=2"})
      : ServedDisk(folder, std::move(arguments)) {}

  json load(int stage, const json& what) const {
    json order = {{"state", "load"}, {"stage", stage}};
    order.update(what);
    const json answer = control(order.dump());
    EXPECT_TRUE(answer["ok"]) << answer;
    return answer;
  }
  json blank(int stage) const { return load(stage, {{"sectors", kSectors}}); }
  json state(const char* verb, int stage) const {
    return control(json{{"state", verb}, {"stage", stage}}.dump());
  }
};

/// Writes 'a' at sector 0, flushes, and writes 'b' at sector 0. This records 6 events, or 7 with
/// the mark in between.
std::string record_a_run(const TemporaryFolder& folder) {
  const std::string path = folder / "run.hcrec";
  StateServer server(folder);
  server.load(0, {{"sectors", kSectors}, {"record", path}});
  Client disk(server, "stage/0");
  Client mark(server, "mark/0");
  EXPECT_EQ(disk.write(0, block('a')), 0);
  EXPECT_EQ(disk.flush(), 0);
  std::vector<char> text = block('\0', 1);
  std::strcpy(text.data(), "persisted 0");
  EXPECT_EQ(mark.write(0, text), 0);
  EXPECT_EQ(disk.write(0, block('b')), 0);
  const json sealed = server.state("seal", 0);
  EXPECT_EQ(sealed["events"], 7) << sealed;
  EXPECT_EQ(sealed["bytes"], std::filesystem::file_size(path));
  return path;
}

TEST(States, CanBeSwitchedUnderAnOpenConnection) {
  TemporaryFolder folder;
  const std::string run = record_a_run(folder);
  StateServer server(folder);
  const json first = server.load(0, {{"recording", run}, {"id", "w7"}});
  EXPECT_EQ(first["sectors"], kSectors);
  Client disk(server, "stage/0");
  Client mark(server, "mark/0");
  EXPECT_EQ(read_block(disk, 0), block('b'));
  EXPECT_EQ(std::string(read_block(mark, 0, 1).data()), first["nonce"].get<std::string>());
  EXPECT_EQ(disk.write(0, block('x')), 0);
  const json second = server.load(0, {{"recording", run}, {"id", "w7-"}});
  EXPECT_NE(second["nonce"], first["nonce"]);
  EXPECT_NE(second["digest"], first["digest"]);
  EXPECT_EQ(std::string(read_block(mark, 0, 1).data()), second["nonce"].get<std::string>());
  EXPECT_EQ(read_block(disk, 0), block('a')) << "neither 'b' nor later writes";
  const json again = server.load(0, {{"recording", run}, {"id", "w7"}});
  EXPECT_EQ(again["digest"], first["digest"]);
}

TEST(States, ServesTwoStagesAndTwoConnections) {
  TemporaryFolder folder;
  StateServer server(folder);
  server.blank(0);
  server.blank(1);
  Client writer(server, "stage/0");
  Client reader(server, "stage/0/hd0");
  Client other(server, "stage/1");
  EXPECT_EQ(nbd_can_multi_conn(writer.handle()), 1);
  EXPECT_EQ(writer.write(5, block('m')), 0);
  EXPECT_EQ(read_block(reader, 5), block('m'));
  EXPECT_EQ(read_block(other, 5), block('\0'));
  EXPECT_EQ(server.state("status", 0)["writes"], 1);
  EXPECT_EQ(server.state("status", 1)["writes"], 0);
}

TEST(States, NegotiateTheDevicesProperties) {
  TemporaryFolder folder;
  StateServer server(folder);
  server.blank(0);
  Client disk(server, "stage/0");
  EXPECT_EQ(nbd_get_size(disk.handle()), static_cast<std::int64_t>(kSectors * 512));
  EXPECT_EQ(nbd_can_flush(disk.handle()), 1);
  EXPECT_EQ(nbd_can_fua(disk.handle()), 1);
  EXPECT_EQ(nbd_can_zero(disk.handle()), 1);
  EXPECT_EQ(nbd_can_fast_zero(disk.handle()), 1);
  EXPECT_EQ(nbd_can_trim(disk.handle()), 1);
  EXPECT_EQ(nbd_can_cache(disk.handle()), 1);
  EXPECT_EQ(nbd_is_rotational(disk.handle()), 0);
  EXPECT_EQ(nbd_is_read_only(disk.handle()), 0);
  EXPECT_EQ(nbd_get_block_size(disk.handle(), LIBNBD_SIZE_MINIMUM), 512);
  EXPECT_EQ(nbd_get_block_size(disk.handle(), LIBNBD_SIZE_PREFERRED), 4096);
  EXPECT_EQ(disk.write(8, block('q', 64), LIBNBD_CMD_FLAG_FUA), 0);
  EXPECT_EQ(disk.zero(8, 8, LIBNBD_CMD_FLAG_FAST_ZERO | LIBNBD_CMD_FLAG_NO_HOLE), 0);
  EXPECT_EQ(disk.trim(16, 8, LIBNBD_CMD_FLAG_FUA), 0);
  EXPECT_EQ(disk.cache(8, 64), 0);
  EXPECT_EQ(read_block(disk, 8, 16), block('\0', 16));
  EXPECT_EQ(read_block(disk, 24, 48), block('q', 48));
}

/// A kernel's request to write zeroes permits holes. On a used disk, the server must not execute
/// the request as a trim, which would leave the prior contents.
TEST(States, WritingZeroesToAUsedDiskIsNotExecutedAsATrim) {
  TemporaryFolder folder;
  StateServer server(folder);
  server.load(0, {{"sectors", kSectors}, {"used_disk", true}, {"record", folder / "used.hcrec"}});
  Client disk(server, "stage/0");
  const auto before = read_block(disk, 0, 24);
  EXPECT_NE(before, block('\0', 24));
  EXPECT_EQ(disk.zero(8, 8), 0) << "libnbd allows holes by default";
  EXPECT_EQ(disk.trim(16, 8), 0);
  EXPECT_EQ(read_block(disk, 8, 8), block('\0', 8));
  auto expected = before;
  std::fill_n(expected.begin() + 8 * 512, 8 * 512, '\0');
  EXPECT_EQ(read_block(disk, 0, 24), expected) << "a trim must keep the prior contents";
  const json sealed = server.state("seal", 0);
  const std::string last = "w" + std::to_string(sealed["events"].get<int>());
  server.load(1, {{"recording", folder / "used.hcrec"}, {"id", last}});
  Client again(server, "stage/1");
  EXPECT_EQ(read_block(again, 0, 24), expected) << "the recording must keep them, too";
}

TEST(States, ExtentsShowEmptyRangesOfTheState) {
  TemporaryFolder folder;
  const std::string run = record_a_run(folder);
  StateServer server(folder);
  server.load(0, {{"recording", run}, {"id", "w7"}});
  Client writer(server, "stage/0");
  EXPECT_EQ(writer.write(256, block('x')), 0);
  nbd_handle* handle = nbd_create();
  nbd_add_meta_context(handle, LIBNBD_CONTEXT_BASE_ALLOCATION);
  nbd_set_export_name(handle, "stage/0");
  ASSERT_EQ(nbd_connect_unix(handle, server.socket().c_str()), 0) << nbd_get_error();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
  const auto collect = [](void* into, const char*, std::uint64_t, std::uint32_t* entries,
                          std::size_t count, int*) {
    for (std::size_t i = 0; i + 1 < count; i += 2)
      static_cast<decltype(runs)*>(into)->emplace_back(entries[i], entries[i + 1]);
    return 0;
  };
  ASSERT_EQ(nbd_block_status(handle, kSectors * 512, 0,
                             {.callback = collect, .user_data = &runs, .free = nullptr}, 0),
            0);
  nbd_close(handle);
  constexpr std::uint32_t kHole = LIBNBD_STATE_HOLE | LIBNBD_STATE_ZERO;
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[0], std::make_pair(65536U, 0U)) << "written in the state";
  EXPECT_EQ(runs[1], std::make_pair(65536U, kHole));
  EXPECT_EQ(runs[2], std::make_pair(65536U, 0U)) << "written after the load";
  EXPECT_EQ(runs[3].second, kHole);
}

TEST(States, ListsStagesAndRejectsOtherExports) {
  TemporaryFolder folder;
  StateServer server(folder);
  server.blank(0);
  nbd_handle* handle = nbd_create();
  nbd_set_opt_mode(handle, true);
  ASSERT_EQ(nbd_connect_unix(handle, server.socket().c_str()), 0) << nbd_get_error();
  std::set<std::string> names;
  const auto collect = [](void* all, const char* name, const char*) {
    static_cast<std::set<std::string>*>(all)->insert(name);
    return 0;
  };
  ASSERT_EQ(nbd_opt_list(handle, {.callback = collect, .user_data = &names, .free = nullptr}), 4)
      << nbd_get_error();
  EXPECT_EQ(names, (std::set<std::string>{"stage/0", "mark/0", "stage/1", "mark/1"}));
  for (const char* name :
       {"stage/1", "stage/2", "stage/", "stage/0x", "stage/-1", "stage/0/hd1", "stage/0/", "mark",
        "mark/2", "mark/0/hd0", "state/w0", "disk/hd0", "%s%n"}) {
    nbd_set_export_name(handle, name);
    EXPECT_EQ(nbd_opt_go(handle), -1) << name << " (stage 1 is not loaded yet)";
  }
  nbd_set_export_name(handle, "");
  EXPECT_EQ(nbd_opt_go(handle), 0) << "the first stage: " << nbd_get_error();
  nbd_close(handle);
  EXPECT_NE(server.log_text().find("stage 1: has no state yet; load a state first"),
            std::string::npos)
      << server.log_text();
}

TEST(States, ReadOnlyServersDoNotWrite) {
  TemporaryFolder folder;
  ServedDisk server(folder, {"states=1"}, {"-r"});
  EXPECT_TRUE(server.control(R"({"state":"load","stage":0,"sectors":64})")["ok"]);
  Client disk(server, "stage/0");
  EXPECT_EQ(nbd_is_read_only(disk.handle()), 1);
  EXPECT_EQ(disk.write(0, block('x')), EPERM);
}

TEST(States, SingleStatesArePrivateToTheirConnection) {
  TemporaryFolder folder;
  const std::string run = record_a_run(folder);
  StateServer server(folder, {"states=1", "recording=" + run});
  Client one(server, "state/w7-");
  Client other(server, "state/w7-/hd0");
  EXPECT_EQ(nbd_can_multi_conn(one.handle()), 0);
  EXPECT_EQ(read_block(one, 0), block('a'));
  EXPECT_EQ(one.write(0, block('p')), 0);
  EXPECT_EQ(read_block(one, 0), block('p'));
  EXPECT_EQ(read_block(other, 0), block('a'));
  Client later(server, "state/w7-");
  EXPECT_EQ(read_block(later, 0), block('a'));
}

TEST(States, WritesToAFullOverlayFailWithEnospc) {
  TemporaryFolder folder;
  StateServer server(folder, {"states=1", "overlay-max=64k"});
  server.blank(0);
  Client disk(server, "stage/0");
  EXPECT_EQ(disk.write(0, block('f', 128)), 0);
  EXPECT_EQ(disk.write(256, block('f')), ENOSPC);
  const json status = server.state("status", 0);
  EXPECT_EQ(status["overlay_bytes"], 65536);
  EXPECT_NE(status["error"].get<std::string>().find("overlay-max"), std::string::npos) << status;
}

TEST(States, RejectsALoadOfAnotherSizeWhileAClientIsAttached) {
  TemporaryFolder folder;
  StateServer server(folder);
  server.blank(0);
  Client disk(server, "stage/0");
  const json refused = server.control(R"({"state":"load","stage":0,"sectors":64})");
  EXPECT_FALSE(refused["ok"]);
  EXPECT_NE(refused["error"].get<std::string>().find("is attached with 16384 sectors"),
            std::string::npos);
  server.blank(1);
}

TEST(States, RejectsDamagedAndMissingRecordings) {
  TemporaryFolder folder;
  const std::string run = record_a_run(folder);
  const auto refusal = [&](const std::string& path, const char* id) {
    StateServer server(folder);
    const json order = {{"state", "load"}, {"stage", 0}, {"recording", path}, {"id", id}};
    const json answer = server.control(order.dump());
    EXPECT_FALSE(answer["ok"]) << answer;
    return answer.value("error", "");
  };
  EXPECT_NE(refusal(folder / "none.hcrec", "w0").find("none.hcrec"), std::string::npos);
  EXPECT_NE(refusal(run, "w8").find("run.hcrec"), std::string::npos) << refusal(run, "w8");
  {
    std::fstream file(run, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(90);  // a position in the header's text
    file.write("damage", 6);
  }
  EXPECT_NE(refusal(run, "w7").find("run.hcrec"), std::string::npos);
  const ExitResult ended = run_nbdkit(folder, {"states=1", "recording=" + run});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_NE(ended.stderr_text.find("recording="), std::string::npos) << ended.stderr_text;
}

TEST(States, StateAndHardwareServersRejectEachOthersCommands) {
  TemporaryFolder folder;
  {
    StateServer server(folder);
    const json refused = server.control(R"({"power":"cut"})");
    EXPECT_FALSE(refused["ok"]);
    EXPECT_NE(refused["error"].get<std::string>().find("server of crash states"),
              std::string::npos);
  }
  ServedDisk hardware(folder, kFast);
  const json refused = hardware.control(R"({"state":"status","stage":0})");
  EXPECT_FALSE(refused["ok"]);
  EXPECT_NE(refused["error"].get<std::string>().find("states=N"), std::string::npos);
}

TEST(States, ConflictingParametersAreRejected) {
  TemporaryFolder folder;
  const std::pair<std::vector<std::string>, const char*> table[] = {
      {{"states=0"}, "states: \"0\" is not a valid number of stages; use 1 to 64"},
      {{"states=65"}, "use 1 to 64"},
      {{"states=x"}, "is not a valid number of stages"},
      {{"states=1", "hp-c2447"}, "profile: applies to emulated hardware"},
      {{"states=1", "machine=m.toml"}, "machine: applies to emulated hardware"},
      {{"states=1", "size=1G"}, "size: applies to emulated hardware"},
      {{"states=1", "clock=off"}, "clock: applies to emulated hardware"},
      {{"states=1", "record=x"}, "a load with \"record\" makes a recording"},
      {{"states=1", "overlay-max=0"}, "overlay-max: "},
      {{"states=1", "overlay-max=lots"}, "overlay-max: \"lots\" is not a size"},
      {{"hp-c2447", "recording=x"},
       "recording: applies only to a server of crash states; add states=N, or use record=FILE"},
      {{"hp-c2447", "overlay-max=1M"}, "overlay-max: applies only to a server of crash states"},
      {{"hp-c2447", "virtual-time=x"}, "virtual-time: applies only to a server of crash states"},
      {{"states=1", "virtual-time="}, "virtual-time: the path is empty"},
      {{"states=1", "virtual-time=" + (folder / "none/x")}, "No such file or directory"},
  };
  for (const auto& [arguments, words] : table) {
    const ExitResult ended = run_nbdkit(folder, arguments);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_NE(ended.stderr_text.find(words), std::string::npos) << words << "\n"
                                                                << ended.stderr_text;
  }
}

/// Tests NBD and virtual time together: data that is loaded or written through NBD is visible to a
/// guest in virtual time (plugin/servers/timetravel).
TEST(States, CanBeServedToGuestsInVirtualTime) {
  TemporaryFolder folder;
  const std::string at = folder / "guest";
  const auto sockets = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder / ""))
      if (entry.path().filename().string().starts_with("guest."))
        names.insert(entry.path().filename());
    return names;
  };
  {
    StateServer server(folder, {"states=2", "virtual-time=" + at});
    server.blank(0);
    Client disk(server, "stage/0");
    EXPECT_EQ(disk.write(0, block('a')), 0);
    std::set<std::string> expected;
    for (const std::string guest : {"guest.0", "guest.1"}) {
      expected.insert(guest);
      for (const char* part : {"log", "mark", "port", "time", "agent", "hd1", "hd2", "hd3", "hd4",
                               "hd5", "hd6", "hd7"})
        expected.insert(guest + "." + part);
    }
    EXPECT_EQ(sockets(), expected);
  }
  EXPECT_TRUE(sockets().empty());
}

/// Two guests use two stages, while a third client loads states, records marks and queries the
/// status. Intended for ThreadSanitizer.
TEST(States, ServesSeveralClientsConcurrently) {
  TemporaryFolder folder;
  const std::string run = record_a_run(folder);
  StateServer server(folder, {"states=3"});
  server.load(0, {{"sectors", kSectors}, {"record", folder / "zero.hcrec"}});
  server.blank(1);
  constexpr std::uint64_t kApart = 16;
  static_assert(2 * 60 * kApart <= kSectors);  // the clients of one stage use disjoint ranges
  const auto guest = [&](const char* name, char letter, std::uint64_t first) {
    Client disk(server, name);
    for (unsigned i = 0; i < 60; ++i) {
      const std::uint64_t lba = (first + i) * kApart;
      EXPECT_EQ(disk.write(lba, block(letter)), 0);
      EXPECT_EQ(read_block(disk, lba), block(letter));
      if (i % 8 == 0) {
        EXPECT_EQ(disk.flush(), 0);
      }
    }
  };
  std::vector<std::thread> guests;
  guests.emplace_back(guest, "stage/0", 'a', 0);
  guests.emplace_back(guest, "stage/0", 'b', 60);
  guests.emplace_back(guest, "stage/1", 'c', 0);
  for (int i = 0; i < 20; ++i) {
    server.load(2, {{"recording", run}, {"id", i % 2 == 0 ? "w7" : "w7-"}});
    Client disk(server, "stage/2");
    EXPECT_EQ(read_block(disk, 0), block(i % 2 == 0 ? 'b' : 'a'));
    EXPECT_TRUE(server.control(R"({"state":"mark","stage":0,"text":"tick"})")["ok"]);
    EXPECT_TRUE(server.state("status", 1)["ok"]);
  }
  for (auto& thread : guests) thread.join();
  const json digest = server.state("digest", 0);
  const json sealed = server.state("seal", 0);
  ASSERT_TRUE(sealed["ok"]) << sealed;
  EXPECT_EQ(sealed["events"], 20 + 2 * (2 * 60 + 2 * 8));
  const std::string last = "w" + std::to_string(sealed["events"].get<int>());
  EXPECT_EQ(server.load(2, {{"recording", folder / "zero.hcrec"}, {"id", last}})["digest"],
            digest["digest"]);
}

}  // namespace
}  // namespace headcrash::nbd
