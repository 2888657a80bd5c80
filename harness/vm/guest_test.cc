// Tests a real guest from start to end: image, boot, save, restore, every command of the agent,
// file systems, and the death of the guest. The disks are served by nbdkit's memory plugin. The
// cache is $HEADCRASH_CACHE or the default one, so the test is faster when it runs again.
#include "harness/vm/guest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "plugin/base/process.h"

namespace headcrash::vm {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::uint64_t kDiskBytes = 300ULL << 20;  // the smallest disk that mkfs.xfs accepts
constexpr std::uint64_t kMarkBytes = 4096;

fs::path cache_folder() {
  if (const char* folder = std::getenv("HEADCRASH_CACHE")) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME")) return fs::path(folder) / "headcrash";
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr ? home : "/tmp") / ".cache" / "headcrash";
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Returns true if the command line of any process contains the path of the test's scratch
// directory.
bool some_process_names(const fs::path& folder) {
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    std::ifstream file(process.path() / "cmdline", std::ios::binary);
    std::string words;
    std::getline(file, words, '\n');
    if (words.find(folder.string()) != std::string::npos) return true;
  }
  return false;
}

// An NBD server whose disk contains zeroes.
class MemoryDisk {
 public:
  MemoryDisk(const fs::path& socket, std::uint64_t bytes)
      : socket_(socket),
        server_(base::Process::start({.argv = {"nbdkit", "-f", "-U", socket.string(), "memory",
                                               fmt::format("{}", bytes)}})) {
    for (int tries = 0; tries < 500 && !fs::is_socket(socket); ++tries)
      std::this_thread::sleep_for(10ms);
  }
  ~MemoryDisk() {
    if (server_) server_->kill();
    fs::remove(socket_);
  }
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  void stop() { server_->kill(); }

 private:
  fs::path socket_;
  Result<base::Process> server_;
};

// A fixture with an image, an accelerator and a scratch directory that are shared by all tests.
class GuestTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cache() = cache_folder();
    auto start = std::chrono::steady_clock::now();
    const auto found = guest_image(cache());
    ASSERT_TRUE(found) << found.error().message();
    image() = *found;
    fmt::print("image: {:.2f} s, kernel {}\n", seconds_since(start), image().kernel_version);
    start = std::chrono::steady_clock::now();
    const AcceleratorProbe probe = probe_accelerator(cache());
    accelerator() = probe.accelerator;
    fmt::print("accelerator: {:.2f} s, {}\n", seconds_since(start), probe.reason);
  }

  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "headcrash-guest-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    scratch_ = pattern;
    disk_ = std::make_unique<MemoryDisk>(scratch_ / "disk.sock", kDiskBytes);
    mark_ = std::make_unique<MemoryDisk>(scratch_ / "mark.sock", kMarkBytes);
    fs::create_directory(scratch_ / "guest");
  }
  void TearDown() override {
    disk_.reset();
    mark_.reset();
    EXPECT_TRUE(fs::is_empty(scratch_ / "guest")) << "the guest's folder is not empty";
    EXPECT_FALSE(some_process_names(scratch_)) << "a process of the guest is still running";
    fs::remove_all(scratch_);
  }

  GuestSpec spec() const {
    return {
        .image = image(),
        .accelerator = accelerator(),
        .disks = {{.socket = scratch_ / "disk.sock", .export_name = "", .size_bytes = kDiskBytes},
                  {.socket = scratch_ / "mark.sock", .export_name = "", .size_bytes = kMarkBytes}}};
  }

  std::unique_ptr<Guest> start() const {
    const auto begin = std::chrono::steady_clock::now();
    auto guest = Guest::start(spec(), cache(), scratch_ / "guest");
    fmt::print("start: {:.2f} s\n", seconds_since(begin));
    if (!guest) {
      ADD_FAILURE() << guest.error().message();
      return nullptr;
    }
    return std::move(*guest);
  }

  static json must(Guest& guest, const json& request, const EventHandler& on_event = {}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = guest.call(request, 60s, on_event);
    fmt::print(
        "{}: {:.3f} s\n",
        request.value("do", "?") == "exec" ? request["argv"].dump() : request.value("do", "?"),
        seconds_since(begin));
    EXPECT_TRUE(answer) << request.dump() << ": " << answer.error().problem << "\n"
                        << guest.console_tail(20);
    return answer ? *answer : json::object();
  }
  static json exec(Guest& guest, const std::vector<std::string>& argv, int expected_exit = 0) {
    json answer = must(guest, {{"do", "exec"}, {"argv", argv}, {"timeout_ms", 50000}});
    EXPECT_EQ(answer.value("exit", -1), expected_exit) << answer.dump(1);
    return answer;
  }

  static fs::path& cache() {
    static fs::path folder;
    return folder;
  }
  static GuestImage& image() {
    static GuestImage found;
    return found;
  }
  static Accelerator& accelerator() {
    static Accelerator found;
    return found;
  }

  fs::path scratch_;
  std::unique_ptr<MemoryDisk> disk_, mark_;
};

TEST_F(GuestTest, RestoresTwiceAndKnowsItsClockAndDisks) {
  for (int round = 0; round < 2; ++round) {
    const auto guest = start();
    ASSERT_TRUE(guest);
    const json hello = must(*guest, {{"do", "hello"}});
    EXPECT_EQ(hello["agent"], 3);
    EXPECT_EQ(hello["kernel"], image().kernel_version);
    for (const char* module : {"ext4", "xfs", "virtio_blk"}) {
      EXPECT_NE(std::find(hello["modules"].begin(), hello["modules"].end(), module),
                hello["modules"].end())
          << module;
    }
    must(*guest,
         {{"do", "clock"}, {"unix_ns", 1'000'000'000'000'000'000}, {"seed", std::string(64, 'a')}});
    EXPECT_TRUE(exec(*guest, {"date", "-u", "+%Y-%m-%d"})["stdout"] == "2001-09-09\n");

    // The disk must contain what the previous guest wrote. Stale cached pages from the saved state
    // would show an empty nonce.
    const json disk = must(*guest, {{"do", "disk"}, {"path", "/dev/vda"}});
    EXPECT_EQ(disk["bytes"], kDiskBytes);
    EXPECT_EQ(disk["flush"], "write back");
    EXPECT_EQ(disk["nonce"], round == 0 ? "" : "nonce-0");
    exec(*guest, {"sh", "-c",
                  fmt::format("printf 'nonce-{}\\0' | dd of=/dev/vda conv=notrunc,fsync", round)});
    EXPECT_EQ(must(*guest, {{"do", "disk"}, {"path", "/dev/vda"}})["nonce"],
              fmt::format("nonce-{}", round));
    EXPECT_EQ(must(*guest, {{"do", "disk"}, {"path", "/dev/vdb"}})["bytes"], kMarkBytes);
    EXPECT_FALSE(guest->oops()) << *guest->oops();
    EXPECT_FALSE(guest->damage_message()) << *guest->damage_message();
  }
}

TEST_F(GuestTest, RunsAWorkloadOnExt4AndDumpsIt) {
  const auto guest = start();
  ASSERT_TRUE(guest);
  exec(*guest, {"mkfs.ext4", "-q", "/dev/vda"});
  must(*guest, {{"do", "mount"},
                {"source", "/dev/vda"},
                {"target", "/mnt/t"},
                {"type", "ext4"},
                {"options", "noatime"}});

  std::vector<json> events;
  const json ran = must(*guest,
                        {{"do", "run"},
                         {"root", "/mnt/t"},
                         {"mark", "/dev/vdb"},
                         {"operations",
                          {"mkdir d", "create d/a", "write d/a 0 1536 1 1", "fsync d/a",
                           "write d/a 512 512 1 2", "rename d/a d/b", "fsyncdir d", "create c",
                           "write c 4096 600 2 3", "sync", "unlink nothing", "mkdir never"}}},
                        [&](const json& event) { events.push_back(event); });
  EXPECT_EQ(ran["done"], 10);
  ASSERT_EQ(events.size(), 4U);
  const int points[] = {3, 6, 9};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(events[i]["event"], "persisted");
    EXPECT_EQ(events[i]["operation"], points[i]);
  }
  EXPECT_EQ(events[3]["event"], "failed");
  EXPECT_EQ(events[3]["errno"], ENOENT);
  EXPECT_EQ(must(*guest, {{"do", "disk"}, {"path", "/dev/vdb"}})["nonce"], "persisted 9");

  std::map<std::string, json> tree;
  const json dumped = must(*guest, {{"do", "dump"}, {"root", "/mnt/t"}},
                           [&](const json& event) { tree[event["path"]] = event; });
  EXPECT_EQ(dumped["entries"], tree.size());
  ASSERT_EQ(tree.size(), 4U) << json(tree).dump(1);  // lost+found, d, d/b, c
  EXPECT_EQ(tree["d"]["type"], "directory");
  EXPECT_EQ(tree["d/b"]["size"], 1536);
  EXPECT_EQ(tree["d/b"]["runs"],
            json::parse(R"([[0,1,"stamp",1,1],[1,1,"stamp",1,2],[2,1,"stamp",1,1]])"));
  EXPECT_EQ(tree["c"]["runs"], json::parse(R"([[0,8,"zero"],[8,2,"stamp",2,3]])"));

  must(*guest, {{"do", "unmount"}, {"target", "/mnt/t"}});
  exec(*guest, {"e2fsck", "-f", "-n", "/dev/vda"});
  EXPECT_FALSE(guest->oops()) << *guest->oops();
}

TEST_F(GuestTest, FormatsAndRepairsXfs) {
  const auto guest = start();
  ASSERT_TRUE(guest);
  exec(*guest, {"mkfs.xfs", "-q", "/dev/vda"});
  must(*guest, {{"do", "mount"},
                {"source", "/dev/vda"},
                {"target", "/mnt/t"},
                {"type", "xfs"},
                {"options", ""}});
  const json ran = must(*guest, {{"do", "run"},
                                 {"root", "/mnt/t"},
                                 {"mark", ""},
                                 {"operations", {"create a", "write a 0 65536 1 1", "fsync a"}}});
  EXPECT_EQ(ran["done"], 3);
  // Operations beyond POSIX, all of which this file system supports.
  const std::vector<std::string> more{"collapse a 4096 4096",
                                      "insert a 0 4096",
                                      "create b",
                                      "clone a 0 8192 b 0",
                                      "dedupe a 0 4096 b 0",
                                      "store a 0 512 1 2",
                                      "msync a 0 512",
                                      "sync-range a 0 4096",
                                      "tmpfile %f",
                                      "write %f 0 512 3 3",
                                      "link %f c",
                                      "fsync %f",
                                      "close %f",
                                      "mknod p fifo",
                                      "freeze",
                                      "evict",
                                      "remount",
                                      "fsync c"};
  std::vector<std::string> events;
  const json done =
      must(*guest, {{"do", "run"}, {"root", "/mnt/t"}, {"mark", ""}, {"operations", more}},
           [&](const json& event) { events.push_back(event.dump()); });
  EXPECT_EQ(done["done"], more.size());
  std::vector<std::string> expected;
  for (const int point : {6, 11, 14, 16, 17})
    expected.push_back(json{{"event", "persisted"}, {"operation", point}}.dump());
  for (std::string& event : events) {
    json one = json::parse(event);
    one.erase("id");
    event = one.dump();
  }
  EXPECT_EQ(events, expected) << "no operation was skipped";
  std::map<std::string, json> tree;
  must(*guest, {{"do", "dump"}, {"root", "/mnt/t"}},
       [&](const json& event) { tree[event["path"]] = event; });
  EXPECT_EQ(tree["a"]["size"], 65536);
  EXPECT_EQ(tree["b"]["runs"][0], json::parse(R"([0,8,"zero"])")) << tree["b"].dump();
  EXPECT_EQ(tree["b"]["runs"][1], json::parse(R"([8,1,"moved",1,1,0])"));
  EXPECT_EQ(tree["c"]["runs"], json::parse(R"([[0,1,"stamp",3,3]])"));
  EXPECT_EQ(tree["p"]["type"], "fifo");
  must(*guest, {{"do", "unmount"}, {"target", "/mnt/t"}});
  exec(*guest, {"xfs_repair", "-n", "/dev/vda"});
}

TEST_F(GuestTest, RejectsInvalidRequestsAndEnforcesLimits) {
  const auto guest = start();
  ASSERT_TRUE(guest);
  const auto refused = [&](const json& request) {
    const auto answer = guest->call(request, 20s);
    EXPECT_FALSE(answer);
    return answer ? std::string() : answer.error().problem;
  };
  EXPECT_NE(refused({{"do", "juggle"}}).find("unknown command \"juggle\""), std::string::npos);
  EXPECT_NE(refused({{"do", "disk"}}).find("path"), std::string::npos);
  EXPECT_NE(refused({{"do", "exec"}, {"argv", {"no-such-tool"}}, {"timeout_ms", 100}})
                .find("No such file"),
            std::string::npos);
  EXPECT_NE(
      refused({{"do", "mount"}, {"source", "/dev/vda"}, {"target", "/mnt/t"}, {"type", "ext4"}})
          .find("; the kernel: EXT4-fs (vda): "),
      std::string::npos);
  const json slow =
      must(*guest,
           {{"do", "exec"}, {"argv", {"sh", "-c", "sleep 100 & sleep 100"}}, {"timeout_ms", 300}});
  EXPECT_EQ(slow["timed_out"], true);
  EXPECT_EQ(slow["exit"], 128 + SIGKILL);
  // The answer arrives after the host's time limit, and must not be mistaken for the answer to the
  // next call.
  const auto late =
      guest->call({{"do", "exec"}, {"argv", {"sleep", "1"}}, {"timeout_ms", 5000}}, 200ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::timeout);
  EXPECT_EQ(must(*guest, {{"do", "hello"}})["agent"], 3);
}

TEST_F(GuestTest, ReportsDiskErrorsToTheGuestAndDeathToTheCaller) {
  const auto guest = start();
  ASSERT_TRUE(guest);
  disk_->stop();
  const auto answer = guest->call({{"do", "disk"}, {"path", "/dev/vda"}}, 20s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::refused);
  EXPECT_NE(answer.error().problem.find("Input/output error"), std::string::npos)
      << answer.error().problem;
  EXPECT_TRUE(guest->alive());

  ASSERT_TRUE(guest->send({{"do", "exec"}, {"argv", {"sleep", "50"}}, {"timeout_ms", 60000}}));
  guest->kill();
  EXPECT_FALSE(guest->alive());
  EXPECT_FALSE(guest->receive(5s));
  const auto dead = guest->call({{"do", "hello"}}, 5s);
  ASSERT_FALSE(dead);
  EXPECT_EQ(dead.error().kind, ErrorKind::guest_died);
}

TEST_F(GuestTest, ReportsAPanic) {
  const auto guest = start();
  ASSERT_TRUE(guest);
  const auto answer = guest->call({{"do", "exec"},
                                   {"argv", {"sh", "-c", "echo c > /proc/sysrq-trigger"}},
                                   {"timeout_ms", 20000}},
                                  30s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::guest_died);
  ASSERT_TRUE(guest->oops());
  EXPECT_NE(guest->oops()->find("sysrq triggered crash"), std::string::npos) << *guest->oops();
}

TEST_F(GuestTest, FailsFastOnAGarbageKernelOrAMissingServer) {
  const auto begin = std::chrono::steady_clock::now();
  GuestSpec garbage = spec();
  garbage.image.kernel = scratch_ / "garbage";
  garbage.image.key = "garbage";
  std::ofstream(garbage.image.kernel) << std::string(100'000, 'x');
  const auto broken = Guest::start(garbage, cache(), scratch_ / "guest");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().problem.find("QEMU printed"), std::string::npos)
      << broken.error().message();

  GuestSpec missing = spec();
  missing.disks[0].socket = scratch_ / "nobody.sock";
  const auto alone = Guest::start(missing, cache(), scratch_ / "guest");
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().subject.find("nobody.sock"), std::string::npos);
  EXPECT_LT(seconds_since(begin), 20);
  fmt::print("{}\n{}\n", broken.error().message(), alone.error().message());
}

}  // namespace
}  // namespace headcrash::vm
