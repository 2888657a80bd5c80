// Tests foreign formats. QEMU's logs are imported; our exports are read by a reader that was
// written only from the format's description; text exports have their documented form.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/media/memory_store.h"
#include "plugin/record/dm_log_writes.h"
#include "plugin/record/log_store.h"
#include "plugin/record/state.h"
#include "plugin/record/testing/drive.h"
#include "plugin/record/text_export.h"

namespace headcrash::record {
namespace {

namespace fs = std::filesystem;

class FormatsTest : public testing::Test {
 protected:
  fs::path operator/(const char* name) const { return folder_ / name; }

  std::string text_of(const char* name) const { return folder_.get(name); }
  void put(const char* name, const std::string& bytes) const { folder_.put(name, bytes); }
  static int shell(const std::string& command) {
    return std::system(("(" + command + ") >/dev/null 2>&1").c_str());
  }
  static bool has(const char* program) { return shell(std::string("command -v ") + program) == 0; }

  const TemporaryFolder folder_;
};

std::vector<Event> events_of(const fs::path& path) {
  std::vector<Event> events;
  auto reader = RecordingReader::open(path);
  EXPECT_TRUE(reader) << reader.error().message();
  if (!reader) return events;
  for (auto event = reader->next(); event && *event; event = reader->next())
    events.push_back(std::move(**event));
  EXPECT_EQ(reader->tail(), Tail::whole);
  return events;
}

// ---- dm-log-writes files, parsed independently of our code, from the format's description

struct LogEntry {
  std::uint64_t sector, sectors, flags, data_bytes;
  std::string data;
};

std::uint64_t u64_at(const std::string& bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)));
  return value;
}

std::vector<LogEntry> read_independently(const std::string& log) {
  EXPECT_EQ(u64_at(log, 0), 0x6a736677736872U);
  EXPECT_EQ(u64_at(log, 8), 1U);
  const std::uint64_t count = u64_at(log, 16);
  const std::size_t unit = u64_at(log, 24) & 0xffffffff;
  EXPECT_EQ(unit, 512U);
  std::vector<LogEntry> entries;
  std::size_t at = unit;
  for (std::uint64_t i = 0; i < count; ++i) {
    LogEntry entry{
        u64_at(log, at), u64_at(log, at + 8), u64_at(log, at + 16), u64_at(log, at + 24), {}};
    if ((entry.flags & 8) != 0) {
      entry.data = log.substr(at + 32, entry.data_bytes);
      at += unit;
    } else {
      const std::size_t data = (entry.flags & 4) != 0 ? 0 : entry.sectors * unit;
      entry.data = log.substr(at + unit, data);
      EXPECT_EQ(entry.data.size(), data);
      at += unit + data;
    }
    entries.push_back(entry);
  }
  EXPECT_EQ(at, log.size());
  return entries;
}

TEST_F(FormatsTest, AnIndependentReaderReadsDmLogWrites) {
  {
    auto log =
        LogStore::open(folder_ / "run.hcrec", {1, {{"hd0", "t", 64, 1}, {"hd1", "t", 64, 1}}});
    ASSERT_TRUE(log);
    TestDrive drive(0, *(*log)->store(0), **log, 1);
    TestDrive other(1, *(*log)->store(1), **log, 2);
    other.last_request = 1000;
    drive.write(3, filled(2, 0xaa));
    other.write(9, filled(1, 0xee));
    (*log)->marked(0, "persisted 1");
    // A write is acknowledged before the flush, although it was submitted after the flush. The
    // flush covers only the first write.
    (*log)->submitted(0, 5, {.id = 500, .op = model::Op::flush});
    drive.write(8, filled(1, 0xbb), true);
    (*log)->acknowledged(0, {.id = 500});
    drive.zero(model::Op::trim, 10, 4);
    drive.zero(model::Op::write_zeroes, 20, 2);
    (*log)->marked(0, std::string(500, 'm'));
    const auto lost = filled(1, 0xcc);
    (*log)->submitted(0, 6,
                      {.id = 600, .op = model::Op::write, .lba = 1, .sectors = 1, .data = lost});
    (*log)->submitted(0, 6, {.id = 601, .op = model::Op::flush});
    (*log)->submitted(0, 6,
                      {.id = 602, .op = model::Op::write, .lba = 1, .sectors = 1, .data = lost});
    (*log)->acknowledged(0, {.id = 602, .status = model::Status::power_lost});
  }
  const auto summary = export_dm_log_writes(folder_ / "run.hcrec", 0, folder_ / "out.log");
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_EQ(summary->unacknowledged, 2U);
  EXPECT_EQ(summary->marks_cut, 1U);
  const auto entries = read_independently(text_of("out.log"));
  ASSERT_EQ(entries.size(), 7U);
  EXPECT_EQ(entries[0].sector, 3U);
  EXPECT_EQ(entries[0].flags, 0U);
  EXPECT_EQ(entries[0].data, std::string(1024, '\xaa'));
  EXPECT_EQ(entries[1].flags, 8U);
  EXPECT_EQ(entries[1].data, "persisted 1");
  EXPECT_EQ(entries[2].flags, 1U);
  EXPECT_EQ(entries[2].sectors, 0U);
  EXPECT_EQ(entries[3].flags, 2U);
  EXPECT_EQ(entries[3].data, std::string(512, '\xbb'));
  EXPECT_EQ(entries[4].flags, 4U);
  EXPECT_EQ(entries[4].sector, 10U);
  EXPECT_EQ(entries[4].sectors, 4U);
  EXPECT_EQ(entries[5].data, std::string(1024, '\0'));
  EXPECT_EQ(entries[6].data, std::string(479, 'm'));

  // The file out.log already exists, so the export fails.
  EXPECT_FALSE(export_dm_log_writes(folder_ / "run.hcrec", 0, folder_ / "out.log"));
  EXPECT_FALSE(export_dm_log_writes(folder_ / "run.hcrec", 2, folder_ / "none.log"));
}

TEST_F(FormatsTest, DmLogWritesBeginsWithTheBaseAndTheSize) {
  {
    auto log = LogStore::open(folder_ / "run.hcrec", {1, {{"hd0", "t", 900, 1}}});
    ASSERT_TRUE(log);
    (*log)->marked(0, "persisted 1");
  }
  const auto before = filled(2, 0xdd);
  const auto exported = export_dm_log_writes(folder_ / "run.hcrec", 0, folder_ / "based.log",
                                             [&](const DmLogPut& put) { return put(7, before); });
  ASSERT_TRUE(exported) << exported.error().message();
  EXPECT_EQ(exported->writes, 2U);
  const auto entries = read_independently(text_of("based.log"));
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].sector, 7U);
  EXPECT_EQ(entries[0].data, std::string(1024, '\xdd'));
  EXPECT_EQ(entries[1].sector, 899U) << "the last sector conveys the size";
  EXPECT_EQ(entries[2].flags, 1U);
  EXPECT_EQ(entries[3].data, "persisted 1");

  ASSERT_TRUE(import_dm_log_writes(folder_ / "based.log", folder_ / "as-logged.hcrec"));
  ASSERT_TRUE(import_dm_log_writes(folder_ / "based.log", folder_ / "larger.hcrec", 2000));
  for (const auto& [name, sectors] :
       {std::pair{"as-logged.hcrec", 900U}, std::pair{"larger.hcrec", 2000U}}) {
    const auto reader = RecordingReader::open(folder_ / name);
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_EQ(reader->header().devices.at(0).sectors, sectors);
  }
}

/// Returns the host's writes in acknowledgement order, with flushes and marks.
std::string story_of(const std::vector<Event>& events) {
  std::string story;
  for (const Event& e : events) {
    if (e.kind == Kind::mark)
      story +=
          "mark " + std::string(reinterpret_cast<const char*>(e.payload.data()), e.payload.size());
    if (e.kind != Kind::submit) continue;
    story += testing::PrintToString(static_cast<int>(e.op)) + " " + std::to_string(e.lba) + "+" +
             std::to_string(e.sectors) + (e.fua ? "f" : "") + " " +
             std::to_string(std::hash<std::string_view>{}(
                 {reinterpret_cast<const char*>(e.payload.data()), e.payload.size()})) +
             "\n";
  }
  return story;
}

TEST_F(FormatsTest, DmLogWritesRoundTrips) {
  {
    auto log = LogStore::open(folder_ / "run.hcrec", {1, {{"hd0", "t", 900, 1}}});
    ASSERT_TRUE(log);
    TestDrive drive(0, *(*log)->store(0), **log, 4);
    for (int i = 0; i < 300; ++i) drive.step(30);
  }
  ASSERT_TRUE(export_dm_log_writes(folder_ / "run.hcrec", 0, folder_ / "a.log"));
  const auto imported = import_dm_log_writes(folder_ / "a.log", folder_ / "a.hcrec");
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_GT(imported->marks, 0U);
  EXPECT_GT(imported->discards, 0U);
  ASSERT_TRUE(export_dm_log_writes(folder_ / "a.hcrec", 0, folder_ / "b.log"));
  EXPECT_EQ(text_of("a.log"), text_of("b.log"));
  ASSERT_TRUE(import_dm_log_writes(folder_ / "b.log", folder_ / "b.hcrec"));
  EXPECT_EQ(story_of(events_of(folder_ / "a.hcrec")), story_of(events_of(folder_ / "b.hcrec")));
  // An imported recording does not show what reached the media.
  auto reader = RecordingReader::open(folder_ / "a.hcrec");
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->header().media);
  EXPECT_EQ(reader->header().origin, "dm-log-writes");
  const auto line = Timeline::load(folder_ / "a.hcrec", 0);
  ASSERT_FALSE(line);
  EXPECT_NE(line.error().message().find("imported"), std::string::npos);
  EXPECT_FALSE(LogStore::open(folder_ / "a.hcrec", reader->header()));
}

TEST_F(FormatsTest, ImportsLogsWrittenByQemu) {
  if (!has("qemu-io") || !has("qemu-img")) GTEST_SKIP() << "no qemu-io";
  const std::string disk = (folder_ / "disk.raw").string();
  const std::string log = (folder_ / "qemu.log").string();
  ASSERT_EQ(shell("qemu-img create -f raw " + disk + " 4M && qemu-img create -f raw " + log + " 0"),
            0);
  for (const char* unit : {"512", "4096"}) {
    SCOPED_TRACE(unit);
    fs::remove(folder_ / "qemu.hcrec");
    ASSERT_EQ(
        shell(
            "qemu-io --image-opts driver=blklogwrites,file.driver=file,file.filename=" + disk +
            ",log.driver=file,log.filename=" + log + ",log-sector-size=" + unit +
            " -c 'write -P 0x11 0 8k' -c flush -c 'write -P 0x22 4k 4k' -c 'write -f -P 0x33 1M 64k'"
            " -c 'discard 2M 128k' -c 'write -z 64k 4k' -c flush"),
        0);
    const auto imported = import_dm_log_writes(log, folder_ / "qemu.hcrec");
    ASSERT_TRUE(imported) << imported.error().message();
    EXPECT_GE(imported->flushes, 2U);
    EXPECT_EQ(imported->discards, 1U);
    EXPECT_GE(imported->writes, 3U);
    // If the imported writes are replayed in log order, the result must equal QEMU's disk.
    auto replayed = media::MemoryStore::create((4 << 20) / kSector);
    for (const Event& e : events_of(folder_ / "qemu.hcrec")) {
      if (e.kind != Kind::submit || e.op == model::Op::flush) continue;
      if (e.op == model::Op::write) {
        ASSERT_TRUE((*replayed)->write(e.lba, e.payload));
      } else {
        ASSERT_TRUE((*replayed)->write_zeroes(e.lba, e.sectors));
      }
    }
    const std::string made = text_of("disk.raw");
    const auto bytes = all_of(**replayed);
    ASSERT_EQ(made.size(), bytes.size());
    EXPECT_EQ(std::memcmp(made.data(), bytes.data(), made.size()), 0);
    ASSERT_EQ(shell("qemu-img create -f raw " + disk + " 4M && rm " + log +
                    " && qemu-img create -f raw " + log + " 0"),
              0);
  }
}

TEST_F(FormatsTest, ErrorsAboutBrokenDmLogsNameEntryAndOffset) {
  const auto u64 = [](std::uint64_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const auto unit = [](std::string text) {
    text.resize(512);
    return text;
  };
  const auto super = [&](std::uint64_t entries, std::uint64_t size = 512,
                         std::uint64_t version = 1) {
    return unit(u64(0x6a736677736872U) + u64(version) + u64(entries) + u64(size));
  };
  const auto entry = [&](std::uint64_t sector, std::uint64_t sectors, std::uint64_t flags,
                         std::uint64_t length) {
    return unit(u64(sector) + u64(sectors) + u64(flags) + u64(length));
  };
  const auto refusal = [&](const std::string& bytes) {
    put("x.log", bytes);
    const auto imported = import_dm_log_writes(folder_ / "x.log", folder_ / "x.hcrec");
    EXPECT_EQ(fs::exists(folder_ / "x.hcrec"), imported.has_value());
    fs::remove(folder_ / "x.hcrec");
    return imported ? "" : imported.error().message();
  };
  EXPECT_EQ(refusal(super(0)), "");
  EXPECT_EQ(refusal(super(1) + entry(0, 1, 0, 0) + unit("data")), "");
  EXPECT_EQ(refusal(super(1) + entry(0, 0, 9, 4)), "");
  EXPECT_NE(refusal("short").find("not a dm-log-writes"), std::string::npos);
  EXPECT_NE(refusal(unit("nonsense")).find("not a dm-log-writes"), std::string::npos);
  EXPECT_NE(refusal(super(0, 512, 2)).find("version 2"), std::string::npos);
  EXPECT_NE(refusal(super(0, 511)).find("511"), std::string::npos);
  EXPECT_NE(refusal(super(0, 1U << 31)).find("sectors of"), std::string::npos);
  EXPECT_NE(refusal(super(2) + entry(0, 0, 1, 0)).find("entry 1 at offset 1024"),
            std::string::npos);
  EXPECT_NE(refusal(super(1) + entry(0, 2, 0, 0) + unit("")).find("data beyond"),
            std::string::npos);
  EXPECT_NE(refusal(super(1) + entry(0, ~0ULL, 0, 0)).find("size of any device"),
            std::string::npos);
  EXPECT_NE(refusal(super(1) + entry(~0ULL, 1, 4, 0)).find("size of any device"),
            std::string::npos);
  EXPECT_NE(refusal(super(1) + entry(0, 0, 8, 481)).find("not a valid mark"), std::string::npos);
  EXPECT_NE(refusal(super(1) + entry(0, 0, 32, 0)).find("unknown flags"), std::string::npos);
}

TEST_F(FormatsTest, DoesNotExportDamagedBytes) {
  {
    auto writer = RecordingWriter::create(folder_ / "run.hcrec", {1, {{"hd0", "t", 64, 1}}});
    ASSERT_TRUE(writer);
    const auto data = filled(1, 0x77);
    (*writer)->submitted(0, 1,
                         {.id = 1, .op = model::Op::write, .lba = 3, .sectors = 1, .data = data});
    (*writer)->acknowledged(0, {.id = 1});
  }
  std::string bytes = text_of("run.hcrec");
  bytes[bytes.find(std::string(kSector, 0x77)) + 5] ^= 1;
  put("bad.hcrec", bytes);
  EXPECT_TRUE(export_dm_log_writes(folder_ / "run.hcrec", 0, folder_ / "good.log"));
  const auto exported = export_dm_log_writes(folder_ / "bad.hcrec", 0, folder_ / "bad.log");
  ASSERT_FALSE(exported);
  EXPECT_NE(exported.error().problem.find("checksum"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "bad.log"));
}

/// If the writer was killed, the super block does not count the entries since the last flush.
/// Before the first flush, there is no super block.
TEST_F(FormatsTest, ImportsDmLogEntriesThatTheSuperblockDoesNotCount) {
  for (const std::size_t unit : {512U, 4096U}) {
    SCOPED_TRACE(unit);
    const auto u64 = [](std::uint64_t value) {
      return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    const auto padded_to_unit = [&](std::string text) {
      text.resize(unit);
      return text;
    };
    const auto entry = [&](std::uint64_t sector, std::uint64_t sectors, std::uint64_t flags,
                           std::uint64_t length = 0) {
      return padded_to_unit(u64(sector) + u64(sectors) + u64(flags) + u64(length));
    };
    const auto super = [&](std::uint64_t entries) {
      return padded_to_unit(u64(0x6a736677736872U) + u64(1) + u64(entries) + u64(unit));
    };
    const std::string write = entry(3, 1, 0) + std::string(unit, 'a');
    const std::string later = entry(9, 1, 0) + std::string(unit, 'b');
    const std::string end_mark =
        padded_to_unit(u64(0) + u64(0) + u64(8) + u64(17) + "dm-log-writes-end");
    const auto imported = [&](const std::string& bytes) -> std::optional<DmLogSummary> {
      put("x.log", bytes);
      fs::remove(folder_ / "x.hcrec");
      const auto done = import_dm_log_writes(folder_ / "x.log", folder_ / "x.hcrec");
      return done ? std::optional(*done) : std::nullopt;
    };
    const auto expect = [&](const std::string& bytes, std::uint64_t writes, std::uint64_t uncounted,
                            bool without_super) {
      const auto summary = imported(bytes);
      ASSERT_TRUE(summary);
      EXPECT_EQ(summary->writes, writes);
      EXPECT_EQ(summary->uncounted, uncounted);
      EXPECT_EQ(summary->without_super, without_super);
    };
    const std::string none = std::string(unit, '\0');
    expect(super(1) + write, 1, 0, false);
    expect(super(1) + write + later, 2, 1, false);
    expect(super(0) + write + later, 2, 2, false);
    /// the data of the second entry is incomplete
    expect(super(1) + write + later.substr(0, unit + 40), 1, 0, false);
    expect(super(1) + write + later.substr(0, 20), 1, 0, false);
    // After a hole of unknown length, the next entry cannot be found.
    expect(super(1) + write + none + later, 1, 0, false);
    expect(super(1) + write + entry(9, 1, 64) + later, 1, 0, false);
    expect(super(2) + write + end_mark + later, 1, 0,
           false);  // an entry from an earlier log on the same device
    expect(none + write + later, 2, 2, true);
    expect(none + entry(0, 1, 0) + std::string(unit, 'a'), 1, 1, true);
    EXPECT_FALSE(imported(none + write.substr(0, unit)));
    EXPECT_FALSE(imported(none + entry(0, 1, 64) + std::string(unit, 'a')));
    EXPECT_FALSE(imported(std::string(256 << 10, '\0')));
    EXPECT_FALSE(imported(super(2) + write + later.substr(0, unit + 40)));
  }
}

// ---- text

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Splits a CSV line as in RFC 4180. The fields in these tests have no line breaks.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && inside && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      inside = !inside;
    } else if (line[i] == ',' && !inside) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

void record_a_bit_of_everything(const fs::path& path) {
  auto log = LogStore::open(path, {1, {{"md0", "raid1", 64, 1, false}, {"hd0", "t", 64, 1}}});
  ASSERT_TRUE(log);
  TestDrive drive(1, *(*log)->store(1), **log, 1);
  drive.now = 12345;
  drive.write(8, filled(2, 1), true);
  drive.now = 1'500'000'000;
  drive.flush();
  drive.zero(model::Op::trim, 30, 4);
  std::vector<std::byte> into(kSector);
  (*log)->submitted(1, drive.now,
                    {.id = 70, .op = model::Op::read, .lba = 5, .sectors = 1, .into = into});
  (*log)->acknowledged(
      1, {.id = 70, .status = model::Status::medium_error, .completed_at = drive.now});
  (*log)->marked(drive.now, R"(say "a, b")");
  (*log)->incident(1, drive.now, "it, too");
  drive.power_cut();
}

TEST_F(FormatsTest, CsvHasTheDocumentedColumns) {
  record_a_bit_of_everything(folder_ / "run.hcrec");
  const auto summary = export_csv(folder_ / "run.hcrec", folder_ / "run.csv");
  ASSERT_TRUE(summary) << summary.error().message();
  const auto lines = lines_of(text_of("run.csv"));
  ASSERT_EQ(lines.size(), summary->lines + 1);
  const auto names = fields_of(lines[0]);
  ASSERT_EQ(names.size(), 14U);
  for (const std::string& line : lines) EXPECT_EQ(fields_of(line).size(), names.size()) << line;
  EXPECT_EQ(lines[1].substr(lines[1].find("submit")),
            "submit,hd0,12345,1,write,1,8,2,,carried,368,");
  EXPECT_EQ(lines[2].substr(lines[2].find("media")),
            "media,hd0,12345,1,,,8,2,written,referred,368,");
  EXPECT_EQ(lines[3].substr(lines[3].find("ack")), "ack,hd0,12345,1,,,,,ok,,,");
  bool mark = false;
  for (const std::string& line : lines) mark |= fields_of(line).back() == R"(say "a, b")";
  EXPECT_TRUE(mark);
  EXPECT_FALSE(export_csv(folder_ / "run.hcrec", folder_ / "run.csv"));
}

TEST_F(FormatsTest, BlkparseLinesAreParseable) {
  record_a_bit_of_everything(folder_ / "run.hcrec");
  ASSERT_TRUE(export_blkparse(folder_ / "run.hcrec", folder_ / "run.txt"));
  const auto lines = lines_of(text_of("run.txt"));
  ASSERT_EQ(lines.size(), 12U);  // 4 requests, each with Q and D; 3 C; one mark
  EXPECT_EQ(lines[0], "259,1    0        1     0.000012345     1  Q  WF 8 + 2 [headcrash]");
  EXPECT_EQ(lines[2], "259,1    0        3     0.000012345     1  C  WF 8 + 2 [0]");
  EXPECT_EQ(lines[3], "259,1    0        4     1.500000000     1  Q  FN [headcrash]");
  EXPECT_EQ(lines[11], "259,0    0       12     1.500000000     1  m   N say \"a, b\"");
  for (const std::string& line : lines) {  // a script must be able to parse the lines
    int major = 0, minor = 0, cpu = 0, sequence = 0, pid = 0;
    double at = 0;
    char action[8], letters[8];
    EXPECT_EQ(std::sscanf(line.c_str(), "%d,%d %d %d %lf %d %7s %7s", &major, &minor, &cpu,
                          &sequence, &at, &pid, action, letters),
              8)
        << line;
  }
}

TEST_F(FormatsTest, ATruncatedRecordingIsExportedUpToItsEnd) {
  record_a_bit_of_everything(folder_ / "run.hcrec");
  const std::string whole = text_of("run.hcrec");
  put("cut.hcrec", whole.substr(0, 368 + 1024 + 60));
  const auto summary = export_csv(folder_ / "cut.hcrec", folder_ / "cut.csv");
  ASSERT_TRUE(summary);
  ASSERT_TRUE(summary->tail_error);
  EXPECT_NE(summary->tail_error->message().find("offset"), std::string::npos);
  EXPECT_EQ(summary->events, 2U);
}

}  // namespace
}  // namespace headcrash::record
