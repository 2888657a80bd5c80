// Tests histories and images against a reference that follows every event and every sector.
#include "plugin/states/run_history.h"

#include <gtest/gtest.h>

#include <fstream>

#include "plugin/record/dm_log_writes.h"
#include "plugin/states/testing/random_run.h"

namespace headcrash::states {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const RunHistory> load(const fs::path& path) {
  auto run = RunHistory::load(path);
  EXPECT_TRUE(run) << run.error().message();
  return run ? *run : nullptr;
}

std::vector<model::RequestId> unflushed_requests(const RunHistory& run, std::uint64_t event,
                                                 std::optional<model::RequestId> lies = {}) {
  std::vector<model::RequestId> requests;
  for (const std::size_t i : run.unflushed_at(0, event, lies))
    requests.push_back(run.writes(0)[i].request);
  return requests;
}

/// Writes a recording; each call adds one event.
class Script {
 public:
  explicit Script(const fs::path& path,
                  record::RecordingHeader header = {1, {{"hd0", "t", 64, 1}}}) {
    auto writer = record::RecordingWriter::create(path, header);
    EXPECT_TRUE(writer);
    writer_ = std::move(*writer);
  }
  Script& write(model::RequestId id, std::uint64_t lba, int value, std::uint32_t sectors = 1,
                bool fua = false, model::DeviceId device = 0) {
    const Bytes data(sectors * model::kSectorBytes, static_cast<std::byte>(value));
    writer_->submitted(device, 0,
                       {.id = id,
                        .op = model::Op::write,
                        .fua = fua,
                        .lba = lba,
                        .sectors = sectors,
                        .data = data});
    return *this;
  }
  Script& trim(model::RequestId id, std::uint64_t lba, std::uint32_t sectors) {
    writer_->submitted(0, 0, {.id = id, .op = model::Op::trim, .lba = lba, .sectors = sectors});
    return *this;
  }
  Script& flush(model::RequestId id) {
    writer_->submitted(0, 0, {.id = id, .op = model::Op::flush});
    return *this;
  }
  Script& ack(model::RequestId id, model::Status status = model::Status::ok) {
    writer_->acknowledged(0, {.id = id, .status = status});
    return *this;
  }
  Script& media(model::DeviceId device, model::RequestId id, std::uint64_t lba, int value) {
    const Bytes data(model::kSectorBytes, static_cast<std::byte>(value));
    writer_->media_written(device, 0, {id, lba, 1, model::MediaWrite::Outcome::written, data});
    return *this;
  }
  Script& mark(const char* text) {
    writer_->marked(0, text);
    return *this;
  }
  Script& power(bool on) {
    writer_->power_changed(0, on ? model::PowerState::on : model::PowerState::off);
    return *this;
  }

 private:
  std::unique_ptr<record::RecordingWriter> writer_;
};

/// Returns the first byte of every sector that `device` has in the crash state `name`.
std::vector<int> firsts(const RunHistory& run, const std::string& name, model::DeviceId device = 0,
                        std::size_t sectors = 4) {
  const auto state = parse_crash_state(name);
  EXPECT_TRUE(state) << state.error().message();
  const auto image = run.image(*state, device);
  EXPECT_TRUE(image) << image.error().message();
  if (!image) return {};
  const Bytes bytes = all_of(*image);
  std::vector<int> values;
  for (std::size_t i = 0; i < sectors; ++i)
    values.push_back(std::to_integer<int>(bytes[i * model::kSectorBytes]));
  return values;
}

std::string image_error(const RunHistory& run, const std::string& name,
                        model::DeviceId device = 0) {
  const auto state = parse_crash_state(name);
  EXPECT_TRUE(state) << state.error().message();
  const auto image = run.image(*state, device);
  EXPECT_FALSE(image) << name;
  return image ? "" : image.error().message();
}

using Requests = std::vector<model::RequestId>;
using Values = std::vector<int>;

TEST(RunHistory, AFlushCoversWritesAcknowledgedBeforeItsSubmission) {
  const TemporaryFolder folder;
  // events: 0 W1  1 W2  2 ack W1  3 F3  4 ack W2  5 W4  6 ack F3  7 W5(fua)  8 ack W5
  Script(folder / "r")
      .write(1, 0, 1)
      .write(2, 1, 2)
      .ack(1)
      .flush(3)
      .ack(2)
      .write(4, 2, 4)
      .ack(3)
      .write(5, 3, 5, 1, true)
      .ack(5);
  const auto run = load(folder / "r");
  EXPECT_EQ(run->events(), 9U);
  EXPECT_EQ(unflushed_requests(*run, 6), (Requests{1, 2, 4}));  // F3 has not been acknowledged yet
  EXPECT_EQ(unflushed_requests(*run, 7),
            (Requests{2, 4}));  // W2 was acknowledged after F3 was submitted
  EXPECT_EQ(unflushed_requests(*run, 8), (Requests{2, 4, 5}));
  EXPECT_EQ(unflushed_requests(*run, 9), (Requests{2, 4}));  // W5 has FUA
  EXPECT_EQ(unflushed_requests(*run, 9, 5), (Requests{2, 4, 5}));
  EXPECT_EQ(unflushed_requests(*run, 9, 3), (Requests{1, 2, 4, 5}));
  EXPECT_EQ(firsts(*run, "w9-"), (Values{1, 0, 0, 5}));
  EXPECT_EQ(firsts(*run, "w9"), (Values{1, 2, 4, 5}));
  EXPECT_EQ(firsts(*run, "w9-2"), (Values{1, 0, 4, 5}));
  EXPECT_EQ(firsts(*run, "w9+2"), (Values{1, 2, 0, 5}));
  EXPECT_EQ(firsts(*run, "w9!3-"), (Values{0, 0, 0, 0}));
  EXPECT_NE(image_error(*run, "w9-1").find("request 1 is durable at that cut"), std::string::npos);
  EXPECT_NE(image_error(*run, "w6-5").find("after the cut"), std::string::npos);
  EXPECT_NE(image_error(*run, "w9-3").find("is not a write of hd0"), std::string::npos);
  EXPECT_NE(image_error(*run, "w10").find("has only 9 events"), std::string::npos);
  EXPECT_NE(image_error(*run, "w9~2:0x2").find("has 1 sectors"), std::string::npos);
  EXPECT_NE(image_error(*run, "w9", 1).find("has 1 devices"), std::string::npos);
  EXPECT_NE(image_error(*run, "d1w9").find("has 1 devices"), std::string::npos);
}

TEST(RunHistory, FailedFlushesAndWritesMakeNothingDurable) {
  const TemporaryFolder folder;
  Script(folder / "r")
      .write(1, 0, 1)
      .ack(1)
      .flush(2)
      .ack(2, model::Status::medium_error)
      .write(3, 1, 3, 1, true)
      .ack(3, model::Status::medium_error)
      .flush(4)
      .ack(4)
      .write(9, 60, 1, 8);  // beyond the end, so the device rejects it
  const auto run = load(folder / "r");
  EXPECT_EQ(unflushed_requests(*run, 4), (Requests{1}));
  EXPECT_EQ(unflushed_requests(*run, run->events()), (Requests{3}));
}

TEST(RunHistory, AnOldUnflushedWriteDoesNotOverrideANewDurableOne) {
  const TemporaryFolder folder;
  Script(folder / "r").write(1, 0, 1, 2).write(2, 0, 2).ack(2).flush(3).ack(3);
  const auto run = load(folder / "r");
  EXPECT_EQ(unflushed_requests(*run, 5), (Requests{1}));
  EXPECT_EQ(firsts(*run, "w5"), (Values{2, 1, 0, 0}));
  EXPECT_EQ(firsts(*run, "w5-"), (Values{2, 0, 0, 0}));
}

TEST(RunHistory, ALostTrimLeavesTheOldBytes) {
  const TemporaryFolder folder;
  Script(folder / "r").write(1, 0, 1, 4).ack(1).flush(2).ack(2).trim(3, 1, 2).ack(3);
  const auto run = load(folder / "r");
  EXPECT_EQ(firsts(*run, "w6"), (Values{1, 0, 0, 1}));
  EXPECT_EQ(firsts(*run, "w6-"), (Values{1, 1, 1, 1}));
  EXPECT_EQ(firsts(*run, "w6~3:1x1"), (Values{1, 1, 0, 1}));
}

TEST(RunHistory, StatesAfterAPowerCutInTheRunStartFromTheMedium) {
  const TemporaryFolder folder;
  Script(folder / "r")
      .write(1, 0, 1)
      .write(2, 1, 2)
      .ack(1)
      .ack(2)
      .media(0, 2, 1, 2)
      .power(false)
      .power(true)
      .write(3, 2, 3)
      .ack(3);
  const auto run = load(folder / "r");
  EXPECT_EQ(unflushed_requests(*run, 5), (Requests{1, 2}));
  EXPECT_EQ(unflushed_requests(*run, 6), (Requests{}));
  EXPECT_EQ(unflushed_requests(*run, 9), (Requests{3}));
  EXPECT_EQ(firsts(*run, "w5"), (Values{1, 2, 0, 0}));
  EXPECT_EQ(firsts(*run, "w9"), (Values{0, 2, 3, 0}));
  EXPECT_EQ(firsts(*run, "w9-"), (Values{0, 2, 0, 0}));
  EXPECT_NE(image_error(*run, "w9-1").find("before the last power cut"), std::string::npos);
}

TEST(RunHistory, EveryStateMatchesTheReference) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 36; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    RandomRunOptions options;
    options.media = seed % 2 == 0;
    options.steps = 40 + seed * 4;
    const RandomRun reference(path, seed, options);
    const auto run = load(path);
    ASSERT_EQ(run->events(), reference.events());
    Random random(seed);
    std::map<Bytes, std::uint64_t> digests;
    for (int i = 0; i < 60; ++i) {
      CrashState state = random_state_of(reference, random);
      if (options.media && random.below(5) == 0) {
        state = {.base = CrashState::Base::physical, .event = state.event};
        if (random.below(2) == 0) {
          state.base = CrashState::Base::members;
          state.stopped = {{0, random.below(state.event + 1)}};
        }
      }
      const std::string where = "seed " + std::to_string(seed) + ", state " + format(state);
      if (state.base == CrashState::Base::writes) {
        ASSERT_EQ(unflushed_requests(*run, state.event, state.lies_from),
                  reference.unflushed(state.event, state.lies_from))
            << where;
      }
      const auto image = run->image(state, 0);
      ASSERT_TRUE(image) << where << ": " << image.error().message();
      const Bytes bytes = reference.image(state);
      ASSERT_EQ(all_of(*image), bytes) << where;
      // Digests must be equal if and only if the contents are equal.
      const auto digest = image->digest();
      ASSERT_TRUE(digest);
      const auto [known, fresh] = digests.emplace(bytes, *digest);
      ASSERT_EQ(known->second, *digest) << where;
    }
    std::map<std::uint64_t, int> different;
    for (const auto& [bytes, digest] : digests)
      ASSERT_EQ(++different[digest], 1) << "seed " << seed;
  }
}

TEST(RunHistory, EveryStateContainsAllDurableWrites) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const fs::path path = folder / std::to_string(seed);
    const RandomRun reference(path, seed, {.steps = 120, .media = false});
    const auto run = load(path);
    Random random(seed);
    for (int i = 0; i < 40; ++i) {
      CrashState state = random_state_of(reference, random);
      state.lies_from.reset();
      std::vector<std::size_t> unflushed = run->unflushed_at(0, state.event);
      const auto is_unflushed = [&](model::RequestId request) {
        return std::any_of(unflushed.begin(), unflushed.end(),
                           [&](std::size_t w) { return run->writes(0)[w].request == request; });
      };
      std::erase_if(state.listed, [&](model::RequestId request) { return !is_unflushed(request); });
      std::erase_if(state.torn, [&](const TornWrite& torn) { return !is_unflushed(torn.request); });
      const auto image = run->image(state, 0);
      ASSERT_TRUE(image) << image.error().message();
      const Bytes bytes = all_of(*image);
      // If the last write to a sector is durable, the image must have that write's contents.
      for (std::uint64_t at = 0; at < state.event; ++at) {
        const RunEvent& write = reference.all_events()[at];
        if (!RandomRun::is_write(write) || !reference.durable(at, state.event, {})) continue;
        for (std::uint64_t s = 0; s < write.sectors; ++s) {
          bool later = false;
          for (std::uint64_t next = at + 1; next < state.event; ++next) {
            const RunEvent& other = reference.all_events()[next];
            later |= RandomRun::is_write(other) && other.lba <= write.lba + s &&
                     write.lba + s < other.lba + other.sectors;
          }
          if (later) continue;
          const auto place = static_cast<std::ptrdiff_t>((write.lba + s) * model::kSectorBytes);
          ASSERT_TRUE(
              std::equal(bytes.begin() + place, bytes.begin() + place + model::kSectorBytes,
                         write.data.begin() + static_cast<std::ptrdiff_t>(s * model::kSectorBytes)))
              << "seed " << seed << ", state " << format(state) << ", request " << write.request;
        }
      }
    }
  }
}

TEST(RunHistory, BasesCanBeNested) {
  const TemporaryFolder folder;
  Bytes before;
  std::optional<record::RecordingHeader::Base> base;
  std::shared_ptr<const RunHistory> below;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string name = std::to_string(seed);
    RandomRunOptions options;
    options.media = seed % 3 == 0;
    options.base = base;
    options.before = before;
    const RandomRun reference(folder / name, seed, options);
    const auto run = load(folder / name);
    ASSERT_TRUE(run);
    const auto same = RunHistory::load(folder / name, below);
    ASSERT_TRUE(same);
    if (below) {
      EXPECT_NE(run->base_image(0), RunHistory::load(folder / name).value()->base_image(0));
      EXPECT_EQ((*same)->base_image(0),
                RunHistory::load(folder / name, below).value()->base_image(0));
    }
    Random random(seed);
    CrashState state;
    for (int i = 0; i < 30; ++i) {
      state = random_state_of(reference, random);
      const auto image = run->image(state, 0);
      ASSERT_TRUE(image) << image.error().message();
      const Bytes bytes = all_of(*image);
      ASSERT_EQ(bytes, reference.image(state)) << "seed " << seed << ", state " << format(state);
      // The image's written ranges must cover all nonzero sectors, and its digest must equal the
      // digest computed from the plain bytes.
      Bytes covered(bytes.size());
      std::uint64_t last_end = 0;
      image->visit_written([&](std::uint64_t lba, std::uint64_t sectors) {
        EXPECT_TRUE(lba > last_end || lba == 0);
        last_end = lba + sectors;
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(lba * model::kSectorBytes),
                    sectors * model::kSectorBytes,
                    covered.begin() + static_cast<std::ptrdiff_t>(lba * model::kSectorBytes));
      });
      ASSERT_EQ(covered, bytes);
      // Loading with a known base must give the same contents.
      const auto known = (*same)->image(state, 0);
      ASSERT_TRUE(known);
      EXPECT_EQ(all_of(*known), bytes);
      const std::uint64_t from = random.below(image->sectors());
      EXPECT_EQ(*known->digest(), *image->digest());
      EXPECT_EQ(*known->digest(from, image->sectors() - from),
                *image->digest(from, image->sectors() - from));
    }
    below = run;
    before = reference.image(state);
    base = {name, format(state)};
  }
}

std::string load_error(const fs::path& path) {
  const auto run = RunHistory::load(path);
  EXPECT_FALSE(run);
  return run ? "" : run.error().message();
}

TEST(RunHistory, RejectsMismatchedBases) {
  const TemporaryFolder folder;
  const auto based = [&](const char* name, const char* on, const char* state,
                         std::uint64_t sectors = 64) {
    fs::remove(folder / name);
    Script(folder / name, {1,
                           {{"hd0", "t", sectors, 1}},
                           "headcrash",
                           false,
                           record::RecordingHeader::Base{on, state}})
        .write(1, 0, 1);
    return folder / name;
  };
  EXPECT_NE(load_error(based("a", "missing", "w1")).find("missing"), std::string::npos);
  Script(folder / "good").write(1, 0, 7);
  EXPECT_TRUE(RunHistory::load(based("a", "good", "w1")));
  EXPECT_NE(load_error(based("a", "good", "w1", 128)).find("has 64 sectors"), std::string::npos);
  EXPECT_NE(load_error(based("a", "good", "w2")).find("too few for state"), std::string::npos);
  EXPECT_NE(load_error(based("a", "good", "w1-9")).find("request 9"), std::string::npos);
  EXPECT_NE(load_error(based("a", "good", "nonsense")).find("not a valid state name"),
            std::string::npos);
  EXPECT_NE(load_error(based("a", "a", "w1")).find("cycle"), std::string::npos);
  based("b", "c", "w1");
  based("c", "a", "w1");
  EXPECT_NE(load_error(based("a", "b", "w1")).find("cycle"), std::string::npos);
  std::ofstream(folder / "text") << "not a recording";
  EXPECT_NE(load_error(based("a", "text", "w1")).find("not a headcrash recording"),
            std::string::npos);
  // A chain of bases that is too long is rejected.
  std::string last = "good";
  for (int i = 0; i < 70; ++i)
    last = based(("chain" + std::to_string(i)).c_str(), last.c_str(), "w1").filename();
  EXPECT_NE(load_error(folder / last).find("recordings in a chain"), std::string::npos);
}

TEST(RunHistory, RejectsAnotherRecordingInPlaceOfTheBase) {
  const TemporaryFolder folder;
  Script(folder / "base").write(1, 0, 7).write(2, 1, 8);
  const auto base = load(folder / "base");
  Script(folder / "top", {1,
                          {{"hd0", "t", 64, 1}},
                          "headcrash",
                          false,
                          record::RecordingHeader::Base{"base", "w1", base->fingerprint(1)}})
      .write(1, 0, 1);
  EXPECT_TRUE(RunHistory::load(folder / "top"));

  fs::remove(folder / "base");
  // The new base has the same first write, which is all that the state "w1" contains.
  Script(folder / "base").write(1, 0, 7).write(2, 1, 9);
  EXPECT_TRUE(RunHistory::load(folder / "top"));
  const auto replace_by_a_write_of = [&](int value, std::uint64_t lba) {
    fs::remove(folder / "base");
    Script(folder / "base").write(1, lba, value).write(2, 1, 8);
    return load_error(folder / "top");
  };
  EXPECT_NE(replace_by_a_write_of(6, 0).find("not the recording that this one was made on"),
            std::string::npos);
  EXPECT_NE(replace_by_a_write_of(7, 1).find("not the recording"), std::string::npos);
  fs::remove(folder / "base");
  Script(folder / "base").write(1, 0, 7);
  EXPECT_TRUE(RunHistory::load(folder / "top"));
}

TEST(RunHistory, FindsABaseNextToItsRecordingAndDevicesByName) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "below");
  Script(folder / "below/base",
         {1, {{"md0", "raid1", 64, 1, false}, {"hd0", "t", 64, 1}, {"hd1", "t", 64, 1}}})
      .write(1, 0, 1, 1, false, 1)
      .write(2, 1, 2, 1, false, 2)
      .media(1, 1, 0, 1)
      .media(2, 2, 1, 2);
  Script(folder / "top", {1,
                          {{"hd1", "t", 64, 1}, {"hd0", "t", 64, 1}},
                          "headcrash",
                          false,
                          record::RecordingHeader::Base{"below/base", "p4"}})
      .write(1, 2, 3);
  const auto run = load(folder / "top");
  ASSERT_TRUE(run);
  EXPECT_EQ(firsts(*run, "w1", 0), (Values{0, 2, 3, 0}));
  EXPECT_EQ(firsts(*run, "w1", 1), (Values{1, 0, 0, 0}));
  EXPECT_EQ(firsts(*run, "d1w1", 0),
            /// Device 1 is chosen. Without MEDIA events, every write to device 0 counts as present.
            (Values{0, 2, 3, 0}));
}

TEST(RunHistory, MembersOfAnArrayCanStopAtDifferentEvents) {
  const TemporaryFolder folder;
  Script(folder / "r",
         {1, {{"md0", "raid1", 64, 1, false}, {"hd0", "t", 64, 1}, {"hd1", "t", 64, 1}}})
      .write(1, 0, 1)
      .write(2, 0, 1, 1, false, 1)
      .write(3, 0, 1, 1, false, 2)
      .media(1, 2, 0, 1)
      .media(2, 3, 0, 1);
  const auto run = load(folder / "r");
  EXPECT_EQ(firsts(*run, "m5:1@3", 1), (Values{0, 0, 0, 0}));
  EXPECT_EQ(firsts(*run, "m5:1@3", 2), (Values{1, 0, 0, 0}));
  // State w5 is built from the host's writes, so even the array has an image.
  EXPECT_EQ(firsts(*run, "w5", 0), (Values{1, 0, 0, 0}));
  EXPECT_NE(image_error(*run, "p5", 0).find("has no medium"), std::string::npos);
  EXPECT_NE(image_error(*run, "m5:0@3", 1).find("has no medium"), std::string::npos);
  EXPECT_NE(image_error(*run, "m5:7@3", 1).find("has 3 devices"), std::string::npos);
}

TEST(RunHistory, WithoutMediaEventsThereAreNoPhysicalStates) {
  const TemporaryFolder folder;
  const RandomRun reference(folder / "r", 3, {.media = true, .in_order = true});
  ASSERT_TRUE(record::export_dm_log_writes(folder / "r", 0, folder / "log"));
  ASSERT_TRUE(record::import_dm_log_writes(folder / "log", folder / "again"));
  const auto run = load(folder / "again");
  EXPECT_FALSE(run->has_media_events());
  EXPECT_NE(image_error(*run, "p1").find("was imported from dm-log-writes and has no MEDIA"),
            std::string::npos);
  EXPECT_NE(image_error(*run, "m1:0@1").find("member states"), std::string::npos);
  Script(folder / "stage", {1, {{"hd0", "t", 64, 1}}, "headcrash stage", false}).write(1, 0, 1);
  EXPECT_NE(image_error(*load(folder / "stage"), "p1").find("stage of a state server"),
            std::string::npos);
}

/// A flipped bit in an archived recording must be reported as damage to the recording, not as a
/// finding.
TEST(RunHistory, DamagedBytesCauseErrorsOnlyInStatesThatContainThem) {
  const TemporaryFolder folder;
  const fs::path path = folder / "run.rec";
  Script(path)
      .write(1, 0, 0x11)
      .ack(1)
      .media(0, 1, 0, 0x11)
      .write(2, 1, 0x77)
      .ack(2)
      .media(0, 2, 1, 0x77);
  std::string bytes = folder.get("run.rec");
  bytes[bytes.find(std::string(model::kSectorBytes, 0x77)) + 3] ^= 1;
  fs::remove(path);
  folder.put("run.rec", bytes);
  const auto run = load(path);
  ASSERT_TRUE(run);
  for (const char* name : {"w6", "p6"}) {
    SCOPED_TRACE(name);
    const auto state = parse_crash_state(name);
    ASSERT_TRUE(state);
    const auto image = run->image(*state, 0);
    ASSERT_TRUE(image);
    std::vector<std::byte> sector(model::kSectorBytes);
    EXPECT_TRUE(image->read(0, sector));
    EXPECT_FALSE(image->read(1, sector));
    EXPECT_FALSE(image->digest());
  }
}

TEST(RunHistory, ReportsATruncatedTail) {
  const TemporaryFolder folder;
  Script(folder / "r").mark("one").write(1, 0, 1).mark("two").write(2, 1, 2);
  fs::resize_file(folder / "r", fs::file_size(folder / "r") - 8);
  const auto run = load(folder / "r");
  EXPECT_EQ(run->events(), 3U);
  ASSERT_EQ(run->marks().size(), 2U);
  EXPECT_EQ(run->marks()[1].text, "two");
  EXPECT_EQ(run->marks()[1].event, 2U);
  ASSERT_TRUE(run->tail_error());
  EXPECT_NE(run->tail_error()->problem.find("incomplete"), std::string::npos);
  EXPECT_NE(image_error(*run, "w4").find("incomplete"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::states
