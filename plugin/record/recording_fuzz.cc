// Fuzzes all parsers of untrusted files: every reader of recordings, and the reader of
// dm-log-writes logs. In half of the mutated recordings, the checksums are corrected. Otherwise,
// the readers would reject every mutation at the checksum test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/media/memory_store.h"
#include "plugin/record/dm_log_writes.h"
#include "plugin/record/event_format.h"
#include "plugin/record/log_store.h"
#include "plugin/record/media_image.h"
#include "plugin/record/state.h"
#include "plugin/record/testing/drive.h"
#include "plugin/record/text_export.h"

namespace headcrash::record {
namespace {

namespace fs = std::filesystem;

/// A mutated recording may give a device any size. Indexes are built only for devices of at most
/// this size.
constexpr std::uint64_t kSectorsMax = 1 << 20;

std::string short_run(const TemporaryFolder& folder, unsigned seed, int steps) {
  fs::remove(folder / "made.hcrec");
  for (unsigned server = 0; server < 2; ++server) {
    auto log = LogStore::open(folder / "made.hcrec",
                              {1, {{"md0", "raid1", 40, 1, false}, {"hd0", "t", 40, 1}}},
                              {.checkpoint_log_bytes = 6000});
    EXPECT_TRUE(log);
    TestDrive drive(1, *(*log)->store(1), **log, seed + server);
    for (int i = 0; i < steps; ++i) drive.step(2);
  }
  return folder.get("made.hcrec");
}

/// Corrects the checksums of every header and payload that is still recognisable.
std::string with_right_checksums(std::string file) {
  std::uint32_t text_bytes = 0;
  if (file.size() < kTextAt) return file;
  std::memcpy(&text_bytes, file.data() + 8, 4);
  if (text_bytes > file.size() - kTextAt) return file;
  const auto bytes = std::as_writable_bytes(std::span(file));
  const std::uint32_t text_crc = crc32c(bytes.subspan(kTextAt, text_bytes));
  std::memcpy(file.data() + 12, &text_crc, 4);
  for (std::uint64_t at = kTextAt + padded(text_bytes); at + sizeof(EventHeader) <= file.size();) {
    EventHeader header;
    std::memcpy(&header, file.data() + at, sizeof(header));
    const std::uint64_t room = file.size() - at - sizeof(header);
    if (padded(header.payload_bytes) > room) header.payload_bytes = 0;
    header.payload_crc = crc32c(bytes.subspan(at + sizeof(header), header.payload_bytes));
    header.header_crc = crc_of(header);
    std::memcpy(file.data() + at, &header, sizeof(header));
    at += sizeof(header) + padded(header.payload_bytes);
  }
  return file;
}

bool small(const RecordingHeader& header) {
  std::uint64_t sectors = 0;
  for (const RecordedDevice& device : header.devices) {
    if (device.sectors > kSectorsMax) return false;
    sectors += device.sectors;
  }
  return sectors <= kSectorsMax;
}

/// Reads the file to its end and checks the reader's invariants.
std::uint64_t read_all(const fs::path& path, std::uint64_t& events) {
  auto reader = RecordingReader::open(path);
  if (!reader) {
    EXPECT_FALSE(reader.error().hint.empty());
    return fuzz::novelty(reader.error().problem);
  }
  std::uint64_t kinds = 0;
  for (;;) {
    auto event = reader->next();
    EXPECT_TRUE(event);
    if (!event || !*event) break;
    ++events;
    const Event& e = **event;
    kinds |=
        std::uint64_t{1} << (static_cast<unsigned>(e.kind) * 4 + static_cast<unsigned>(e.bytes));
    if (e.kind == Kind::media && e.bytes_at != 0) {
      std::vector<std::byte> bytes(std::size_t{e.sectors} * kSector);
      EXPECT_TRUE(reader->read_bytes(e, 0, bytes));
    }
  }
  EXPECT_LE(reader->whole_bytes(), fs::file_size(path));
  EXPECT_EQ(reader->tail_error().has_value(), reader->tail() != Tail::whole);
  return kinds * 4 + static_cast<std::uint64_t>(reader->tail());
}

/// Opens the file with each of the readers in turn. The log store comes last, because it may
/// truncate the file.
void use_all(const TemporaryFolder& folder, const fs::path& path) {
  auto reader = RecordingReader::open(path);
  if (!reader || !small(reader->header())) return;
  const RecordingHeader header = reader->header();
  for (std::size_t i = 0; i < std::min<std::size_t>(header.devices.size(), 4); ++i) {
    const auto device = static_cast<model::DeviceId>(i);
    const auto line = Timeline::load(path, device);
    auto store = media::MemoryStore::create(header.devices[i].sectors + 1);
    if (line && store && rebuild_medium(path, device, Until{}, **store)) {
      std::vector<std::byte> rebuilt(header.devices[i].sectors * kSector);
      std::vector<std::byte> state(rebuilt.size());
      EXPECT_TRUE((*store)->read(0, rebuilt));
      EXPECT_TRUE((*line)->at_event((*line)->events()).read(0, state));
      EXPECT_EQ(rebuilt, state);
    }
    fs::remove(folder / "out.log");
    static_cast<void>(export_dm_log_writes(path, device, folder / "out.log"));
  }
  for (const char* name : {"out.csv", "out.txt"}) fs::remove(folder / name);
  EXPECT_TRUE(export_csv(path, folder / "out.csv"));
  EXPECT_TRUE(export_blkparse(path, folder / "out.txt"));
  auto log = LogStore::open(path, header);
  if (!log) {
    EXPECT_FALSE(log.error().message().empty());
    return;
  }
  for (std::size_t i = 0; i < header.devices.size(); ++i)
    if (model::SectorStore* store = (*log)->store(static_cast<model::DeviceId>(i))) all_of(*store);
}

TEST(Fuzz, Recording) {
  const TemporaryFolder folder;
  fuzz::Options options;
  options.name = "recording";
  options.corpus = {short_run(folder, 1, 6), short_run(folder, 2, 2)};
  for (std::string& stored : fuzz::read_corpus(fs::path(HEADCRASH_RECORD_CORPUS) / "recording"))
    options.corpus.push_back(std::move(stored));
  options.dictionary = {R"("devices":[)",
                        R"("medium":true)",
                        R"("sectors":)",
                        std::string(8, '\0'),
                        std::string(8, '\xff'),
                        std::string("\x01\0\0\0", 4),
                        std::string("HCREC\0\0\2", 8)};
  std::uint64_t run = 0;
  fuzz::run(options, [&](std::string_view input) {
    std::string bytes(input);
    if (++run % 2 == 0) bytes = with_right_checksums(std::move(bytes));
    const fs::path path = folder.put("x.hcrec", bytes);
    std::uint64_t events = 0;
    const std::uint64_t kind = read_all(path, events);
    use_all(folder, path);
    return kind + std::min<std::uint64_t>(events, 40) * 0x100000001U;
  });
}

TEST(Fuzz, DmLogWrites) {
  const TemporaryFolder folder;
  folder.put("run.hcrec", short_run(folder, 3, 8));
  EXPECT_TRUE(export_dm_log_writes(folder / "run.hcrec", 1, folder / "run.log"));
  fuzz::Options options;
  options.name = "dm-log-writes";
  options.corpus = {folder.get("run.log")};
  for (std::string& stored : fuzz::read_corpus(fs::path(HEADCRASH_RECORD_CORPUS) / "dm-log-writes"))
    options.corpus.push_back(std::move(stored));
  options.dictionary = {std::string(8, '\0'),       std::string(8, '\xff'),
                        std::string("\1\0\0\0", 4), std::string("\2\0\0\0", 4),
                        std::string("\4\0\0\0", 4), std::string("\x08\0\0\0", 4),
                        std::string("\0\2\0\0", 4), std::string("rhswgsj\0", 8)};
  fuzz::run(options, [&](std::string_view input) {
    const fs::path from = folder.put("x.log", input);
    fs::remove(folder / "x.hcrec");
    fs::remove(folder / "again.log");
    const auto imported = import_dm_log_writes(from, folder / "x.hcrec");
    if (!imported) {
      EXPECT_FALSE(imported.error().hint.empty());
      EXPECT_FALSE(fs::exists(folder / "x.hcrec"));
      return fuzz::novelty(imported.error().problem);
    }
    std::uint64_t events = 0;
    read_all(folder / "x.hcrec", events);
    // An export of the imported recording must have as many flushes and marks as the original log,
    // and as much data.
    const auto exported = export_dm_log_writes(folder / "x.hcrec", 0, folder / "again.log");
    EXPECT_TRUE(exported);
    if (exported) {
      EXPECT_EQ(exported->flushes, imported->flushes);
      EXPECT_EQ(exported->marks, imported->marks);
      EXPECT_EQ(exported->data_bytes, imported->data_bytes);
    }
    return events * 16 + imported->flushes % 4 * 4 + imported->marks % 4;
  });
}

}  // namespace
}  // namespace headcrash::record
