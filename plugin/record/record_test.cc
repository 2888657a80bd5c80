// Tests that the events read from a recording equal those written, that damage only shortens the
// readable part, and that a rebuilt medium matches the store.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "plugin/base/crc32c.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/media/memory_store.h"
#include "plugin/record/event_format.h"
#include "plugin/record/media_image.h"
#include "plugin/record/recording.h"
#include "plugin/record/same_requests.h"
#include "plugin/record/testing/drive.h"

namespace headcrash::record {
namespace {

namespace fs = std::filesystem;
using model::kSectorBytes;

class RecordTest : public testing::Test {
 protected:
  std::unique_ptr<RecordingWriter> create(const RecordingHeader& header = {
                                              42, {{"hd0", "hp-c2447", 64, 1}}}) {
    auto writer = RecordingWriter::create(path_, header);
    EXPECT_TRUE(writer) << writer.error().message();
    return writer ? std::move(*writer) : nullptr;
  }
  std::string contents() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set_contents(const std::string& bytes) const {
    // Removes the old file instead of truncating it, because some file systems flush a truncated
    // file when it is closed.
    fs::remove(path_);
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "run.rec";
};

model::Request write_request(model::RequestId id, std::uint64_t lba,
                             std::span<const std::byte> data) {
  model::Request request;
  request.id = id;
  request.op = model::Op::write;
  request.lba = lba;
  request.sectors = static_cast<std::uint32_t>(data.size() / kSectorBytes);
  request.data = data;
  return request;
}

/// Records a short run that has every kind of event.
void record_short_run(RecordingWriter& writer) {
  const auto data = filled(2, 0xab);
  model::Request request = write_request(1, 7, data);
  request.fua = true;
  writer.submitted(0, 100, request);
  writer.media_written(
      0, 200, {1, 7, 1, model::MediaWrite::Outcome::written, std::span(data).first(kSectorBytes)});
  writer.media_written(
      0, 210, {1, 8, 1, model::MediaWrite::Outcome::torn, std::span(data).first(kSectorBytes)});
  writer.acknowledged(0, {1, model::Status::power_lost, 100, 210, {}});
  writer.marked(220, "persisted 1");
  writer.power_changed(230, model::PowerState::off);
  writer.power_changed(240, model::PowerState::on);
}
constexpr int kShortRunEvents = 7;

/// Returns the offset of the first event.
std::size_t header_bytes_of(const std::string& file) {
  std::uint32_t text_bytes = 0;
  std::memcpy(&text_bytes, file.data() + 8, 4);
  return kTextAt + padded(text_bytes);
}

/// Reads the recording to its end and returns the number of complete events.
int count_events(RecordingReader& reader) {
  int events = 0;
  for (;;) {
    auto event = reader.next();
    EXPECT_TRUE(event) << event.error().message();
    if (!event || !*event) return events;
    ++events;
  }
}

TEST(Crc32c, MatchesKnownValues) {
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  EXPECT_EQ(crc32c(bytes("123456789")), 0xe3069283U);
  const std::array<std::byte, 32> zeroes = {};  // RFC 3720, B.4
  EXPECT_EQ(crc32c(zeroes), 0x8a9136aaU);
  EXPECT_EQ(crc32c(bytes("456789"), crc32c(bytes("123"))), 0xe3069283U);
}

TEST_F(RecordTest, RoundTrips) {
  record_short_run(*create());
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_EQ(reader->header().seed, 42U);
  ASSERT_EQ(reader->header().devices.size(), 1U);
  EXPECT_EQ(reader->header().devices[0].profile, "hp-c2447");
  std::vector<Event> events;
  for (auto event = reader->next(); event && *event; event = reader->next())
    events.push_back(**event);
  ASSERT_EQ(events.size(), static_cast<std::size_t>(kShortRunEvents));
  EXPECT_EQ(events[0].kind, Kind::submit);
  EXPECT_EQ(events[0].op, model::Op::write);
  EXPECT_TRUE(events[0].fua);
  EXPECT_EQ(events[0].at, 100);
  EXPECT_EQ(events[0].lba, 7U);
  EXPECT_EQ(events[0].sectors, 2U);
  EXPECT_EQ(events[0].payload, filled(2, 0xab));
  EXPECT_TRUE(events[1].payload.empty());
  EXPECT_EQ(events[2].payload, filled(1, 0xab));
  EXPECT_EQ(events[2].detail, 1U);
  EXPECT_EQ(events[3].detail, static_cast<std::uint32_t>(model::Status::power_lost));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(events[4].payload.data()),
                        events[4].payload.size()),
            "persisted 1");
  EXPECT_EQ(events[5].detail, 0U);
  EXPECT_EQ(events[6].detail, 1U);
  EXPECT_EQ(reader->truncated_bytes(), 0U);
}

TEST_F(RecordTest, SameRequestsComparesDataAndOrderButNotTimes) {
  struct Write {
    std::uint8_t byte = 1;
    std::uint64_t lba = 7;
    model::TimeNs at = 100;
    std::string mark = "done";
  };
  int number = 0;
  const auto record = [&](const std::vector<Write>& writes) {
    const fs::path path = folder_ / std::to_string(++number);
    const auto writer = RecordingWriter::create(path, {1, {{"hd0", "p", 64, 1}}}).value();
    model::RequestId id = 0;
    for (const Write& each : writes) {
      const auto bytes = filled(1, each.byte);
      writer->submitted(0, each.at, write_request(++id, each.lba, bytes));
      writer->marked(each.at + 1, each.mark);
    }
    return path;
  };
  const fs::path one = record({{}, {.byte = 2}});
  const auto same = [&](const std::vector<Write>& writes) {
    return same_requests(one, record(writes)).value();
  };
  EXPECT_TRUE(same({{.at = 50}, {.byte = 2, .at = 900}}));
  EXPECT_FALSE(same({{}, {.byte = 3}}));
  EXPECT_FALSE(same({{}, {.byte = 2, .lba = 8}}));
  EXPECT_FALSE(same({{}, {.byte = 2, .mark = "other"}}));
  EXPECT_FALSE(same({{.byte = 2}, {}}));
  EXPECT_FALSE(same({{}}));
  EXPECT_FALSE(same({{}, {.byte = 2}, {}}));
  EXPECT_FALSE(same_requests(one, folder_ / "absent"));
}

TEST_F(RecordTest, LargePayloadsBypassTheBuffer) {
  std::vector<std::byte> large = filled(5000, 1);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i * 31 >> 3);
  {
    auto writer = create({1, {{"hd0", "p", 1 << 20, 1}}});
    for (model::RequestId id = 1; id <= 20; ++id)
      writer->submitted(0, 10,
                        write_request(id, 0, std::span(large).first(id * 250 * kSectorBytes)));
  }
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader);
  for (model::RequestId id = 1; id <= 20; ++id) {
    auto event = reader->next();
    ASSERT_TRUE(event && *event);
    EXPECT_EQ((*event)->request, id);
    ASSERT_EQ((*event)->payload.size(), id * 250 * kSectorBytes);
    EXPECT_TRUE(std::equal((*event)->payload.begin(), (*event)->payload.end(), large.begin()));
  }
}

TEST_F(RecordTest, RejectsAnExistingFile) {
  create();
  auto again = RecordingWriter::create(path_, {});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message().find("exists"), std::string::npos);
  EXPECT_FALSE(RecordingWriter::create(folder_ / "no/such", {}));
}

TEST_F(RecordTest, KeepsReportingAFullDisk) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  auto writer = create();
  ASSERT_FALSE(writer->error());
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  // Replaces every descriptor of the file, including the writer's, with one of /dev/full.
  for (int fd = 3; fd < 64; ++fd) {
    std::error_code none;
    if (fs::read_symlink("/proc/self/fd/" + std::to_string(fd), none) == path_) {
      ASSERT_GE(dup2(full, fd), 0);
    }
  }
  close(full);
  const auto data = filled(4096, 3);
  writer->submitted(0, 1, write_request(1, 0, data));
  writer->marked(2, "after");
  ASSERT_TRUE(writer->error());
  EXPECT_NE(writer->error()->message().find("run.rec"), std::string::npos);
  EXPECT_FALSE(writer->flush());
}

TEST_F(RecordTest, ReadingATruncatedFileEndsCleanlyAtAnyLength) {
  record_short_run(*create());
  const std::string whole = contents();
  const std::size_t header_bytes = header_bytes_of(whole);
  int last_events = 0;
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    set_contents(whole.substr(0, cut));
    auto reader = RecordingReader::open(path_);
    ASSERT_EQ(reader.has_value(), cut >= header_bytes) << cut;
    if (!reader) continue;
    const int events = count_events(*reader);
    ASSERT_LT(events, kShortRunEvents) << cut;
    ASSERT_GE(events, last_events) << cut;
    last_events = events;
    EXPECT_LE(reader->truncated_bytes(), cut - header_bytes);
    if (events == 0) {
      EXPECT_EQ(reader->truncated_bytes(), cut - header_bytes);
    }
  }
  EXPECT_EQ(last_events, kShortRunEvents - 1);
}

TEST_F(RecordTest, DetectsEveryFlippedBit) {
  record_short_run(*create());
  const std::string whole = contents();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at >= kSlotsAt && at < kTextAt) continue;  // an invalid checkpoint slot counts as absent
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    set_contents(damaged);
    auto reader = RecordingReader::open(path_);
    ASSERT_EQ(reader.has_value(), at >= header_bytes_of(whole)) << at;
    if (!reader) continue;
    ASSERT_LT(count_events(*reader), kShortRunEvents) << at;
    ASSERT_GT(reader->truncated_bytes(), 0U);
  }
}

TEST_F(RecordTest, ReadingADamagedPayloadIsAnError) {
  record_short_run(*create());
  const std::string good = contents();
  const std::size_t submit = header_bytes_of(good);
  std::string bad = good;
  // Flips a bit in the second sector of the payload.
  bad[submit + kEventHeaderBytes + kSectorBytes + 17] ^= 4;
  set_contents(bad);
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader);
  std::vector<Event> events;
  for (auto event = reader->next(PayloadUse::skip); event && *event;
       event = reader->next(PayloadUse::skip))
    events.push_back(**event);
  ASSERT_EQ(events.size(), std::size_t{kShortRunEvents}) << "the events themselves are intact";
  EXPECT_EQ(reader->tail(), Tail::whole);
  std::vector<std::byte> sector(kSectorBytes);
  const auto damage = fmt::format("offset {} do not match", submit);
  // A read of the undamaged part of the payload fails with the same error, at every attempt.
  for (int i = 0; i < 2; ++i) {
    const auto read = reader->read_bytes(events[0], 0, sector);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().problem.find(damage), std::string::npos) << read.error().message();
  }
  EXPECT_FALSE(reader->read_bytes(events[1], 0, sector)) << "MEDIA refers to the same payload";
  EXPECT_TRUE(reader->read_bytes(events[2], 0, sector))
      << "torn bytes are carried by the MEDIA event";
  EXPECT_FALSE(reader->read_at(submit + 8, sector)) << "an event's header is not data";
  const auto fresh = RecordingReader::open(path_);
  ASSERT_TRUE(fresh);
  EXPECT_FALSE(fresh->read_at(events[0].bytes_at, sector)) << "without reading earlier events";
  const auto store = media::MemoryStore::create(64).value();
  EXPECT_FALSE(rebuild_medium(path_, 0, std::nullopt, *store));
  set_contents(good);
  EXPECT_TRUE(rebuild_medium(path_, 0, std::nullopt, *store));
  const auto whole = RecordingReader::open(path_);
  EXPECT_TRUE(whole->read_at(events[0].bytes_at, sector));
}

TEST_F(RecordTest, RejectsInvalidValuesDespiteCorrectChecksums) {
  create();
  const std::string head = contents();
  const auto with_event = [&](EventHeader header, std::size_t payload_bytes) {
    const std::vector<std::byte> payload(padded(payload_bytes));
    header.payload_crc = crc32c(std::span(payload).first(payload_bytes));
    header.header_crc = crc_of(header);
    std::string all = head;
    all.append(reinterpret_cast<const char*>(&header), sizeof(header));
    all.append(reinterpret_cast<const char*>(payload.data()), payload.size());
    set_contents(all);
    auto reader = RecordingReader::open(path_);
    EXPECT_TRUE(reader);
    return reader ? count_events(*reader) : -1;
  };
  EXPECT_EQ(with_event({.kind = Kind::mark}, 0), 1);
  EXPECT_EQ(with_event({.kind = Kind::mark, .at = -1}, 0), 0);
  EXPECT_EQ(with_event({.kind = Kind::mark, .at = kTimeMax}, 0), 1);
  EXPECT_EQ(with_event({.kind = Kind::mark, .at = kTimeMax + 1}, 0), 0);
  EXPECT_EQ(with_event({.kind = Kind::ack, .request = kRequestIdMax + 1}, 0), 0);
  EXPECT_EQ(with_event({.payload_bytes = 0xffffffff, .kind = Kind::mark}, 0), 0);
  EXPECT_EQ(with_event({.payload_bytes = kPayloadBytesMax, .kind = Kind::mark}, 8), 0);
  EXPECT_EQ(with_event({.payload_bytes = 9, .kind = Kind::mark}, 8), 0);
  EXPECT_EQ(with_event({.payload_bytes = 8, .kind = Kind::mark}, 8), 1);
  EXPECT_EQ(with_event({.kind = static_cast<Kind>(0)}, 0), 0);
  EXPECT_EQ(with_event({.kind = static_cast<Kind>(8)}, 0), 0);
  EXPECT_EQ(with_event({.kind = Kind::submit, .flags = 5}, 0), 0);
  EXPECT_EQ(with_event({.kind = Kind::submit, .flags = 0x10}, 0), 0);
  EXPECT_EQ(with_event({.payload_bytes = 512, .kind = Kind::submit, .flags = 1, .sectors = 2}, 512),
            0);
  EXPECT_EQ(with_event({.payload_bytes = 512, .kind = Kind::submit, .flags = 0, .sectors = 1}, 512),
            0);
  EXPECT_EQ(with_event({.kind = Kind::ack, .detail = 99}, 0), 0);
  EXPECT_EQ(with_event({.kind = Kind::power, .detail = 2}, 0), 0);
  EXPECT_EQ(with_event({.payload_bytes = 8, .kind = Kind::opened}, 8), 0);
  const auto referred = [&](std::uint64_t at, std::uint32_t sectors) {
    return with_event({.kind = Kind::media, .flags = 1, .sectors = sectors, .bytes_at = at}, 0);
  };
  const std::uint64_t first = head.size();
  EXPECT_EQ(referred(first - 1, 1), 0);  // the event's header is not part of the data
  EXPECT_EQ(referred(first, 1), 0);      // an event must not refer to its own bytes
  EXPECT_EQ(referred(~0ULL, 1), 0);
  EXPECT_EQ(with_event({.kind = Kind::media, .flags = 8}, 0), 0);
  EXPECT_EQ(with_event({.kind = Kind::media, .flags = 3, .sectors = 1}, 0), 0);
  EXPECT_EQ(with_event({.payload_bytes = 512, .kind = Kind::media, .flags = 2, .sectors = 1}, 512),
            0);
  EXPECT_EQ(with_event({.kind = Kind::media, .detail = 5}, 0), 0);
}

TEST_F(RecordTest, RejectsInvalidHeaders) {
  const auto with_text = [&](const std::string& text, std::uint32_t length) {
    const std::uint32_t crc = crc32c(std::as_bytes(std::span(text)));
    std::string all(reinterpret_cast<const char*>(kMagic.data()), kMagic.size());
    all.append(reinterpret_cast<const char*>(&length), 4)
        .append(reinterpret_cast<const char*>(&crc), 4)
        .append(2 * sizeof(CheckpointSlot), '\0')
        .append(text)
        .append(padded(text.size()) - text.size(), '\0');
    set_contents(all);
    return RecordingReader::open(path_).has_value();
  };
  const auto with = [&](const std::string& text) {
    return with_text(text, static_cast<std::uint32_t>(text.size()));
  };
  const auto with_device = [&](const std::string& device) {
    return with(R"({"origin":"x","media":true,"seed":1,"devices":[)" + device + "]}");
  };
  constexpr const char* kNone = R"({"origin":"x","media":true,"seed":1,"devices":[]})";
  EXPECT_TRUE(with(kNone));
  EXPECT_FALSE(with_text(kNone, 0xffffffff));
  EXPECT_FALSE(with(""));
  EXPECT_FALSE(with("[]"));
  EXPECT_FALSE(with(std::string(100000, '[')));
  EXPECT_FALSE(with(R"({"seed":1,"devices":[]})"));
  EXPECT_FALSE(with(R"({"origin":"x","media":true,"seed":-1,"devices":[]})"));
  EXPECT_FALSE(with_device("{}"));
  const std::string rest = R"(,"profile":"","medium":true,"physical_sector_sectors":)";
  EXPECT_TRUE(with_device(R"({"name":"","sectors":1)" + rest + "1}"));
  EXPECT_FALSE(with_device(R"({"name":1,"sectors":1)" + rest + "1}"));
  EXPECT_FALSE(with_device(R"({"name":"","sectors":1)" + rest + "4294967296}"));
  EXPECT_FALSE(with_device(R"({"name":"","sectors":36028797018963968)" + rest + "1}"));
  EXPECT_TRUE(with_device(R"({"name":"","sectors":2199023255552)" + rest + "1}"));
  EXPECT_FALSE(with_device(R"({"name":"","sectors":2199023255553)" + rest + "1}"));
  const auto with_base = [&](const std::string& base) {
    return with(R"({"origin":"x","media":false,"seed":1,"devices":[],"base":)" + base + "}");
  };
  EXPECT_TRUE(with_base(R"({"recording":"a","state":"w1"})"));
  for (const char* odd :
       {"null", "{}", "\"a\"", R"({"recording":"a"})", R"({"recording":"","state":"w1"})",
        R"({"recording":"a","state":""})", R"({"recording":1,"state":"w1"})",
        R"({"recording":"a\u0000b","state":"w1"})"})
    EXPECT_FALSE(with_base(odd)) << odd;
  EXPECT_FALSE(with_base(R"({"recording":")" + std::string(5000, 'a') + R"(","state":"w1"})"));
  EXPECT_FALSE(with_base(R"({"recording":"a","state":")" + std::string(5000, '1') + R"("})"));
}

TEST_F(RecordTest, RoundTripsTheReferenceToItsBase) {
  RecordingHeader header{42, {{"hd0", "hp-c2447", 64, 1}}};
  create(header);
  EXPECT_FALSE(RecordingReader::open(path_)->header().base);
  fs::remove(path_);
  header.base = {"../formatted.hcrec", "w1234-17.21", 0xfedc'ba98'7654'3210};
  create(header);
  const auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader && reader->header().base);
  EXPECT_EQ(reader->header().base->recording, "../formatted.hcrec");
  EXPECT_EQ(reader->header().base->state, "w1234-17.21");
  EXPECT_EQ(reader->header().base->fingerprint, 0xfedc'ba98'7654'3210);
}

// A simple drive with a write cache. Writes are acknowledged at once. They are destaged in any
// order and in pieces; some pieces are destaged as zeroes. The cut tears one sector, and all other
// cached data is lost.
TEST_F(RecordTest, RebuiltMediumEqualsTheStore) {
  constexpr std::uint64_t kSectors = 64;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    fs::remove(path_);
    auto store = media::MemoryStore::create(kSectors);
    ASSERT_TRUE(store);
    struct Cached {
      model::RequestId id;
      std::vector<std::byte> data;
    };
    std::map<std::uint64_t, Cached> cache;  // by sector
    std::vector<std::byte> at_half;
    model::TimeNs now = 0;
    model::TimeNs half = 0;
    {
      auto writer = create();
      for (model::RequestId id = 1; id <= 200; ++id) {
        now += 1 + static_cast<model::TimeNs>(random() % 5);
        const std::uint64_t lba = random() % kSectors;
        const std::uint64_t count = 1 + random() % std::min<std::uint64_t>(kSectors - lba, 9);
        std::vector<std::byte> data(count * kSectorBytes);
        for (auto& byte : data) byte = static_cast<std::byte>(random());
        model::Request request = write_request(id, lba, data);
        if (id % 11 == 0) {
          request.op = model::Op::write_zeroes;
          std::fill(data.begin(), data.end(), std::byte{0});
          request.data = {};
        }
        writer->submitted(0, now, request);
        for (std::uint64_t i = 0; i < count; ++i) {
          const auto sector = std::span(data).subspan(i * kSectorBytes, kSectorBytes);
          cache[lba + i] = {id, {sector.begin(), sector.end()}};
        }
        writer->acknowledged(0, {id, model::Status::ok, now, now, {}});
        for (int destaged = 0; destaged < 3 && !cache.empty(); ++destaged) {
          auto entry = cache.lower_bound(random() % kSectors);
          if (entry == cache.end()) entry = cache.begin();
          const bool tear = random() % 17 == 0;
          auto bytes = entry->second.data;
          if (tear) {
            std::vector<std::byte> old(kSectorBytes);
            ASSERT_TRUE((*store)->read(entry->first, old));
            std::copy(old.begin() + 200, old.end(), bytes.begin() + 200);
          }
          ASSERT_TRUE((*store)->write(entry->first, bytes));
          writer->media_written(
              0, now,
              {entry->second.id, entry->first, 1,
               tear ? model::MediaWrite::Outcome::torn : model::MediaWrite::Outcome::written,
               bytes});
          cache.erase(entry);
        }
        if (id == 100) {
          half = now;
          at_half.resize(kSectors * kSectorBytes);
          ASSERT_TRUE((*store)->read(0, at_half));
          ++now;
        }
      }
      writer->power_changed(now, model::PowerState::off);
    }
    std::vector<std::byte> at_end(kSectors * kSectorBytes);
    ASSERT_TRUE((*store)->read(0, at_end));
    for (const auto& [until, expected] : {std::pair(std::optional<model::TimeNs>(), at_end),
                                          std::pair(std::optional(half), at_half)}) {
      auto rebuilt = media::MemoryStore::create(kSectors);
      auto image = rebuild_medium(path_, 0, until, **rebuilt);
      ASSERT_TRUE(image) << image.error().message();
      std::vector<std::byte> bytes(kSectors * kSectorBytes);
      ASSERT_TRUE((*rebuilt)->read(0, bytes));
      ASSERT_EQ(bytes, expected) << "seed " << seed;
      EXPECT_GT(image->sectors, 0U);
    }
  }
}

TEST_F(RecordTest, RebuildRejectsInvalidArguments) {
  const Until kToTheEnd;
  {
    auto writer = create();
    model::Request no_data = write_request(1, 3, {});
    no_data.sectors = 1;
    writer->submitted(0, 1, no_data);
    writer->media_written(0, 2, {1, 3, 1, model::MediaWrite::Outcome::written, {}});
  }
  auto store = media::MemoryStore::create(64);
  EXPECT_NE(
      rebuild_medium(path_, 0, kToTheEnd, **store).error().message().find("has no data for sector"),
      std::string::npos);
  EXPECT_FALSE(rebuild_medium(path_, 1, kToTheEnd, **store));
  EXPECT_FALSE(rebuild_medium(folder_ / "none", 0, kToTheEnd, **store));
  auto small = media::MemoryStore::create(63);
  EXPECT_FALSE(rebuild_medium(path_, 0, kToTheEnd, **small));
  fs::remove(path_);
  create()->media_written(0, 2, {77, 63, 2, model::MediaWrite::Outcome::written, {}});
  EXPECT_NE(rebuild_medium(path_, 0, kToTheEnd, **store)
                .error()
                .message()
                .find("beyond the device's 64 sectors"),
            std::string::npos);
}

}  // namespace
}  // namespace headcrash::record
