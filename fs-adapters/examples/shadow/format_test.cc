// Tests the on-disk format: encoding, decoding, and rejection of invalid input.
#include "fs-adapters/examples/shadow/format.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fs-adapters/examples/shadow/image.h"
#include "fs-adapters/examples/shadow/mkfs.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"
#include "plugin/media/memory_store.h"

namespace headcrash::shadow {
namespace {

constexpr std::uint64_t kSectors = 2048;

std::unique_ptr<media::MemoryStore> made(const adapters::Settings& settings = {}) {
  auto store = media::MemoryStore::create(kSectors);
  EXPECT_TRUE(store);
  const auto header = mkfs(**store, settings);
  EXPECT_TRUE(header) << header.error().message();
  return *std::move(store);
}

Result<State> state_of(const model::SectorStore& store) {
  return read_state(
      [&](std::uint64_t lba, std::span<std::byte> into) { return store.read(lba, into); },
      store.sectors());
}

/// Writes a header and its table, both with correct checksums.
void put(model::SectorStore& store, Header header, std::vector<std::byte> table) {
  header.table_bytes = static_cast<std::uint32_t>(table.size());
  header.table_checksum = crc32c(table);
  table.resize((table.size() + kSectorBytes - 1) / kSectorBytes * kSectorBytes);
  ASSERT_TRUE(store.write(header.geometry.table_lba(header.slot()), table));
  ASSERT_TRUE(store.write(kHeaderSectors.at(header.slot()), encode(header)));
}

TEST(Format, AStateRoundTrips) {
  const auto store =
      made({{"block-size", "1024"}, {"uuid", "01234567-89ab-cdef-0000-000000000000"}});
  State state = *state_of(*store);
  EXPECT_EQ(state.header.geometry.id, 0x0123456789abcdefU);
  EXPECT_LE(state.header.geometry.device_sectors(), kSectors);
  EXPECT_GT(state.header.geometry.device_sectors() + 2, kSectors - 2)
      << "the file system fills the device";
  Record file{.number = 9, .blocks = {{0, 5}, {7, 6}}};
  file.attributes = {
      .mode = tree::kTypeRegular | 0640, .links = 3, .size_bytes = 8000, .generation = 12};
  file.attributes.accessed = {1, 2};
  file.attributes.modified = {3, 4};
  file.attributes.changed = {-5, 6};
  file.attributes.user = 7;
  file.attributes.group = 8;
  std::vector<std::byte> table;
  append(state.records.front(), table);
  append(file, table);
  state.header.sequence = 2;
  state.header.clean = false;
  state.header.next_generation = 13;
  put(*store, state.header, table);
  const auto read = state_of(*store);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->header.sequence, 2U);
  EXPECT_EQ(read->header.next_generation, 13U);
  EXPECT_FALSE(read->header.clean);
  ASSERT_EQ(read->records.size(), 2U);
  EXPECT_EQ(read->records[1].number, 9U);
  EXPECT_EQ(read->records[1].attributes, file.attributes);
  EXPECT_EQ(read->records[1].blocks, file.blocks);
}

TEST(Format, UsesTheNewerValidHeader) {
  const auto store = made();
  State state = *state_of(*store);
  std::vector<std::byte> table;
  append(state.records.front(), table);
  state.header.sequence = 2;
  put(*store, state.header, table);
  EXPECT_EQ(state_of(*store)->header.sequence, 2U);
  std::vector<std::byte> torn = encode(state.header);
  torn[40] ^= std::byte{1};
  ASSERT_TRUE(store->write(kHeaderSectors[0], torn));
  EXPECT_EQ(state_of(*store)->header.sequence, 1U);
  // The header is ignored because it is in the wrong slot for its sequence number.
  state.header.sequence = 3;
  ASSERT_TRUE(store->write(kHeaderSectors[0], encode(state.header)));
  EXPECT_EQ(state_of(*store)->header.sequence, 1U);
}

TEST(Format, RejectsInvalidTables) {
  struct Case {
    const char* what;
    std::function<void(std::vector<Record>&)> damage;
  };
  const Case cases[] = {
      {"no root", [](auto& records) { records.erase(records.begin()); }},
      {"root that is a file",
       [](auto& records) { records[0].attributes.mode = tree::kTypeRegular; }},
      {"duplicate number", [](auto& records) { records[1].number = kRootInode; }},
      {"number too large", [](auto& records) { records[1].number = 1U << 30U; }},
      {"no type", [](auto& records) { records[1].attributes.mode = 0644; }},
      {"no links", [](auto& records) { records[1].attributes.links = 0; }},
      {"size too large",
       [](auto& records) { records[1].attributes.size_bytes = ~std::uint64_t{0}; }},
      {"block beyond the device", [](auto& records) { records[1].blocks = {{0, 1U << 30U}}; }},
      {"block beyond the maximum file size",
       [](auto& records) { records[1].blocks = {{1U << 30U, 3}}; }},
  };
  for (const Case& one : cases) {
    const auto store = made();
    const State state = *state_of(*store);
    std::vector<Record> records{state.records.front(), Record{.number = 3}};
    records[1].attributes = {.mode = tree::kTypeRegular, .links = 1};
    for (const bool damaged : {false, true}) {
      if (damaged) one.damage(records);
      std::vector<std::byte> table;
      for (const Record& record : records) append(record, table);
      put(*store, state.header, table);
      EXPECT_EQ(state_of(*store).has_value(), !damaged) << one.what;
    }
  }
}

TEST(Format, RejectsATableThatDoesNotMatchItsHeader) {
  const auto store = made();
  const Header header = state_of(*store)->header;
  std::vector<std::byte> sector(kSectorBytes);
  ASSERT_TRUE(store->read(header.geometry.table_lba(header.slot()), sector));
  sector[20] ^= std::byte{1};
  ASSERT_TRUE(store->write(header.geometry.table_lba(header.slot()), sector));
  const auto state = state_of(*store);
  ASSERT_FALSE(state);
  EXPECT_NE(state.error().message().find("table"), std::string::npos);
}

TEST(Check, ReportsEachKindOfFinding) {
  struct Case {
    FindingKind kind;
    std::function<void(std::vector<Record>&)> damage;
    std::function<void(std::span<std::byte>)> names = {};
  };
  namespace le = little_endian;
  const Case cases[] = {
      {FindingKind::block, [](auto& records) { records[2].blocks = {{0, 2}}; }},
      {FindingKind::block, [](auto& records) { records[1].attributes.size_bytes = 0; }},
      {FindingKind::directory, [](auto& records) { records[0].blocks.clear(); }},
      {FindingKind::directory, {}, [](auto names) { le::store16(names, 4, 3); }},
      {FindingKind::name, [](auto& records) { records.pop_back(); }},
      {FindingKind::name, {}, [](auto names) { tree::set_entry_inode(names, 12, 3); }},
      {FindingKind::links, [](auto& records) { records[1].attributes.links = 2; }},
      {FindingKind::links, [](auto& records) { records[0].attributes.links = 3; }},
      {FindingKind::unreachable, {}, [](auto names) { tree::remove_entry(names, 24); }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(kind_of(one.kind).name);
    const auto store = made();
    const State state = *state_of(*store);
    const Geometry& geometry = state.header.geometry;
    std::vector<Record> records{state.records.front(), Record{.number = 3, .blocks = {{0, 2}}},
                                Record{.number = 4}};
    records[1].attributes = {.mode = tree::kTypeRegular, .links = 1, .size_bytes = 100};
    records[2].attributes = {.mode = tree::kTypeRegular, .links = 1, .size_bytes = 100};
    std::vector<std::byte> names(geometry.block_bytes);
    ASSERT_TRUE(store->read(geometry.lba_of(0), names));
    ASSERT_TRUE(tree::add_entry(names, "a", 3, tree::entry_type(tree::kTypeRegular)));
    ASSERT_TRUE(tree::add_entry(names, "b", 4, tree::entry_type(tree::kTypeRegular)));
    for (const bool damaged : {false, true}) {
      if (damaged && one.damage) one.damage(records);
      if (damaged && one.names) one.names(names);
      ASSERT_TRUE(store->write(geometry.lba_of(0), names));
      std::vector<std::byte> table;
      for (const Record& record : records) append(record, table);
      put(*store, state.header, table);
      const auto report = make_checker()->repair(*store, {});
      ASSERT_TRUE(report) << report.error().message();
      EXPECT_EQ(report->unrepaired, damaged);
      const bool seen = std::ranges::any_of(
          report->findings, [&](const auto& finding) { return finding.kind == kind_of(one.kind); });
      EXPECT_EQ(seen, damaged);
    }
  }
}

TEST(Mkfs, RejectsInvalidOptions) {
  auto store = *media::MemoryStore::create(kSectors);
  for (const adapters::Settings& settings :
       std::vector<adapters::Settings>{{{"block-size", "3000"}},
                                       {{"block-size", "256"}},
                                       {{"block-size", "65536"}},
                                       {{"inodes", "4G"}},
                                       {{"uuid", "0123"}},
                                       {{"colour", "1"}}}) {
    const auto header = mkfs(*store, settings);
    ASSERT_FALSE(header) << settings.begin()->second;
    EXPECT_FALSE(header.error().message().empty());
  }
  auto small = *media::MemoryStore::create(64);
  EXPECT_FALSE(mkfs(*small, {{"block-size", "512"}}));
}

TEST(Mkfs, FillsDevicesOfAnySize) {
  for (std::uint64_t sectors = 100; sectors < 20'000; sectors = sectors * 5 / 4 + 1)
    for (const char* block : {"512", "4096"}) {
      auto store = *media::MemoryStore::create(sectors);
      const auto header = mkfs(*store, {{"block-size", block}});
      if (!header) continue;
      Geometry geometry = header->geometry;
      EXPECT_LE(geometry.device_sectors(), sectors);
      geometry.blocks += 2;
      EXPECT_GT(geometry.device_sectors(), sectors) << "more blocks would fit";
    }
}

}  // namespace
}  // namespace headcrash::shadow
