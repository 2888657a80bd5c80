// Creates, damages and uses images (damaged_image.h).
#include "fs-adapters/testing/damaged_image.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "fs-adapters/substrate/os/device_stores.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "fs-adapters/substrate/tree/testing/history.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/fuzz.h"
#include "plugin/base/testing/image_edits.h"

namespace headcrash::adapters::damaged {
namespace {

using namespace little_endian;
using model::kSectorBytes;

constexpr std::size_t kAreasMax = 256;  // one byte of an edit selects an area
constexpr std::uint32_t kReach = kSectorBytes;
constexpr std::uint64_t kPlainBytesMax = 4 << 20, kLargeBlock = 4 << 10;
/// File offsets that require up to three levels of indirect blocks. The first offset that a type
/// supports is used.
constexpr std::array<std::uint64_t, 4> kDeep = {std::uint64_t{1} << 36, std::uint64_t{1} << 33,
                                                9'000'000, 90'000};
/// Units, in sectors, in which a format may count addresses. The edits do not know the unit of the
/// image, so an edit that writes an address exists for each unit.
constexpr std::array<std::uint32_t, 5> kUnits = {1, 2, 4, 8, 16};
constexpr std::array<std::uint64_t, 10> kSizes = {0,
                                                  1,
                                                  511,
                                                  0x7fff'ffff,
                                                  0xffff'ffff,
                                                  std::uint64_t{1} << 33,
                                                  std::uint64_t{1} << 40,
                                                  std::uint64_t{1} << 43,
                                                  std::uint64_t{1} << 62,
                                                  UINT64_MAX};

/// Kinds of edits in addition to ImageEdit::overwrite(). Each edit applies to one position.
enum class Kind : std::uint8_t {
  byte,
  word,
  complement,
  half_word,
  itself,       ///< sets the word to the address of the word's own sector
  copy_word,    ///< overwrites the word with a word from any area
  size,         ///< sets a 64-bit word to one of kSizes
  fill_itself,  ///< fills the rest of the sector with the sector's own address
  copy_sector,  ///< overwrites the sector with a sector from another area
  /// Copies the word into the next two words. Pointers of different levels then refer to the same
  /// block.
  deeper,
  /// Like `deeper`, but also overwrites the unit or large block to which the word points. The new
  /// contents are that block's own address, repeated.
  loop,
  flip_bit
};
constexpr unsigned kKinds = 12;

class Bytes final : public model::SectorStore {
 public:
  Bytes(std::span<std::byte> bytes, std::vector<bool>* read, std::uint64_t& requests)
      : bytes_(bytes), read_(read), requests_(requests) {}
  std::uint64_t sectors() const override { return bytes_.size() / kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    TRY(check(lba, into.size()));
    std::ranges::copy(bytes_.subspan(lba * kSectorBytes, into.size()), into.begin());
    for (std::size_t i = 0; read_ != nullptr && i < into.size() / kSectorBytes; ++i)
      (*read_)[lba + i] = true;
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    TRY(check(lba, data.size()));
    std::ranges::copy(data, bytes_.subspan(lba * kSectorBytes).begin());
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    TRY(check(lba, count * kSectorBytes));
    std::ranges::fill(bytes_.subspan(lba * kSectorBytes, count * kSectorBytes), std::byte{0});
    return {};
  }

 private:
  Result<void> check(std::uint64_t lba, std::size_t bytes) const {
    ++requests_;
    if (lba <= sectors() && bytes / kSectorBytes <= sectors() - lba) return {};
    return fail("store", fmt::format("sector {} is beyond its end", lba));
  }
  std::span<std::byte> bytes_;
  std::vector<bool>* read_;
  std::uint64_t& requests_;
};

std::string program_of(std::size_t area, std::size_t offset, Kind kind, std::size_t operand) {
  return {static_cast<char>(area), static_cast<char>(offset),  static_cast<char>(offset >> 8U),
          static_cast<char>(kind), static_cast<char>(operand), static_cast<char>(operand >> 8U)};
}

std::uint64_t hash_of(const CheckReport& report) {
  std::uint64_t kinds = 0;
  for (const CheckFinding& finding : report.findings)
    kinds |= std::uint64_t{1} << (finding.kind.order % 64U);
  return kinds;
}

/// Performs typical operations and ignores errors.
void use_files(Vfs& vfs) {
  std::vector<std::byte> some(3'000, std::byte{0x77});
  (void)vfs.list("");
  (void)vfs.list("d");
  for (const char* path : {"d/large", "d/moved", "link", "deep", "new"}) {
    (void)vfs.stat(path);
    (void)vfs.readlink(path);
    const auto file = vfs.open(path, {.create = std::string_view(path) == "new"});
    if (!file) continue;
    (void)vfs.pread(*file, 0, some);
    (void)vfs.pread(*file, 90'000, some);
    (void)vfs.pwrite(*file, 700, some);
    (void)vfs.pwrite(*file, 70'000, some);
    (void)vfs.fsync(*file);
    (void)vfs.truncate(*file, 20'000);
    (void)vfs.fallocate(*file, FallocateMode::punch_hole, 2'000, 9'000);
    (void)vfs.close(*file);
  }
  (void)vfs.mkdir("d/made", 0755);
  (void)vfs.rename("d/moved", "link", RenameMode::exchange);
  (void)vfs.rename("d/e", "e", RenameMode::replace);
  (void)vfs.rename("d/large", "d/moved", RenameMode::replace);
  (void)vfs.sync();
  for (const char* path : {"d/moved", "link", "deep", "same", "d/e/x"}) (void)vfs.unlink(path);
  for (const char* path : {"d/e", "e", "d/made", "d"}) (void)vfs.rmdir(path);
  (void)vfs.space();
  (void)vfs.sync();
}

}  // namespace

/// The devices of a damaged copy.
class ImageTarget::Stores {
 public:
  Stores(const LabDisk& disk, std::vector<std::byte> bytes, std::vector<bool>* read = nullptr)
      : bytes_(std::move(bytes)), all_(bytes_, read, requests_), devices_(parts(all_, disk)) {}
  std::span<std::byte> bytes() { return bytes_; }
  os::DeviceStores& devices() { return devices_; }
  std::uint64_t requests() const { return requests_; }

 private:
  static std::vector<os::DeviceStores::Part> parts(Bytes& all, const LabDisk& disk) {
    std::vector<os::DeviceStores::Part> made{{.store = &all, .sectors = disk.bytes / kSectorBytes}};
    if (disk.log_bytes > 0)
      made.push_back({.store = &all,
                      .first = disk.bytes / kSectorBytes,
                      .sectors = disk.log_bytes / kSectorBytes});
    return made;
  }
  std::vector<std::byte> bytes_;
  std::uint64_t requests_ = 0;
  Bytes all_;
  os::DeviceStores devices_;
};

std::vector<ImageFormat> image_formats() {
  std::vector<ImageFormat> formats;
  const auto add = [&](const SystemUnderTest& system, const std::string& suffix, LabDisk disk) {
    const auto known = std::ranges::find_if(formats, [&](const ImageFormat& one) {
      return &one.type() == &system.type() && one.disk.mkfs == disk.mkfs;
    });
    if (known == formats.end())
      formats.push_back({system.full_name() + suffix, {&system}, std::move(disk)});
    else if (
        !system
             .control())  // some controls leave requests behind, which a leak checker would report
      known->systems.push_back(&system);
  };
  for (const SystemUnderTest* const system : all_systems()) {
    const auto deep = system->lab_disk("deep");
    auto plain = system->lab_disk("plain");
    if (deep) add(*system, "", *deep);
    if (!plain || (deep && system->name() != system->type().usual_system())) continue;
    if (deep) plain->bytes = std::min(plain->bytes, kPlainBytesMax);
    add(*system, deep ? "@plain" : "", *std::move(plain));
  }
  return formats;
}

ImageTarget::ImageTarget(ImageFormat format) : format_(std::move(format)) {
  make();
  find_areas();
}
ImageTarget::~ImageTarget() = default;

void ImageTarget::make() {
  const LabDisk& disk = format_.disk;
  Stores stores(disk, std::vector<std::byte>(disk.bytes + disk.log_bytes));
  const auto made = format_.type().mkfs(stores.devices(), disk.mkfs);
  ASSERT_TRUE(made) << name() << ": " << made.error().message();
  const SystemDescription& description = format_.maker().description();
  os::MemoryMachine machine(
      stores.devices(),
      {.system = {.queue = description.queue, .cache = {.block_copy = description.block_copy}},
       .second_sectors = disk.log_bytes / kSectorBytes});
  os::Account account{.name = "user"};
  machine.system.syncer.start();
  // Destroyed after halt(), because its daemons run until then.
  std::unique_ptr<MountedSystem> mounted;
  machine.system.run_as(account, [&] {
    auto mount = format_.maker().mount(machine.system, {});
    ASSERT_TRUE(mount) << name() << ": " << mount.error().message();
    mounted = *std::move(mount);
    Vfs& vfs = mounted->vfs();
    using tree::bench::Fsync;
    using tree::bench::put_file;
    EXPECT_TRUE(vfs.mkdir("d", 0755) && vfs.mkdir("d/e", 0755));
    put_file(vfs, "d/large", std::string(80'000, 'l'));
    put_file(vfs, "small", "s");
    put_file(vfs, "d/e/x", "x");
    EXPECT_TRUE(vfs.symlink("small", "link") && vfs.link("d/large", "same"));
    if (const auto file = vfs.open("deep", {.create = true})) {
      EXPECT_TRUE(std::ranges::any_of(kDeep, [&](std::uint64_t at) {
        return vfs.pwrite(*file, at, tree::bench::bytes_of("deep")).has_value();
      }));
      EXPECT_TRUE(vfs.close(*file));
    }
    EXPECT_TRUE(vfs.sync());
    if (Snapshots* const snapshots = mounted->snapshots()) {
      EXPECT_TRUE(snapshots->make("one"));
    }
    EXPECT_TRUE(vfs.rename("small", "d/moved", RenameMode::replace));
    put_file(vfs, "d/new", std::string(3'000, 'n'), Fsync::yes);
    const auto open = vfs.open("nameless", {.create = true});
    EXPECT_TRUE(open && vfs.unlink("nameless"));
    put_file(vfs, "last", "y", Fsync::yes);
    mounted->abandon();
    machine.disk.power_cut();
  });
  machine.system.executor.halt();
  mounted.reset();
  image_.assign(stores.bytes().begin(), stores.bytes().end());
}

void ImageTarget::find_areas() {
  std::vector<bool> read(image_.size() / kSectorBytes);
  Stores stores(format_.disk, image_, &read);
  check(stores);
  const auto reader = format_.type().open_image(stores.devices());
  if (reader) (void)(*reader)->walk([](const std::string&, const ImageInode&) {});
  std::vector<std::uint64_t> all;
  for (std::size_t sector = 0; sector < read.size(); ++sector) {
    const auto bytes = std::span(image_).subspan(sector * kSectorBytes, kSectorBytes);
    const bool zero =
        std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
    if (read[sector] && !zero) all.push_back(sector * kSectorBytes);
  }
  ASSERT_FALSE(all.empty()) << name();
  const std::size_t count = std::min(all.size(), kAreasMax);
  for (std::size_t i = 0; i < count; ++i) areas_.push_back(all[i * all.size() / count]);
}

void ImageTarget::edit(std::span<std::byte> image, std::string_view program) const {
  const auto itself = [](std::uint64_t at, std::size_t unit) {
    return static_cast<std::uint32_t>(at / kSectorBytes / kUnits[unit % kUnits.size()]);
  };
  const auto fill = [&](std::uint64_t from, std::uint64_t end, std::uint32_t value) {
    for (std::uint64_t at = from / 4 * 4; at + 4 <= std::min<std::uint64_t>(end, image.size());
         at += 4)
      store32(image, at, value);
  };
  const auto sector_of = [](std::uint64_t at) { return at / kSectorBytes * kSectorBytes; };
  fuzz::each_image_edit(
      program, image, {.areas = areas_, .reach = kReach, .most = kEditsMax},
      [&](const fuzz::ImageEdit& edit) {
        const auto kind = static_cast<Kind>(edit.what % kKinds);
        const std::uint64_t word = edit.at / 4 * 4;
        const std::uint64_t other = areas_[edit.operand / 128U % areas_.size()];
        switch (kind) {
          case Kind::byte:
          case Kind::word:
          case Kind::complement:
            edit.overwrite(image, edit.what % kKinds);
            break;
          case Kind::half_word:
            store16(image, edit.at / 2 * 2, edit.operand);
            break;
          case Kind::itself:
            store32(image, word, itself(edit.at, edit.operand));
            break;
          case Kind::copy_word:
            store32(image, word, load32(image, other + edit.operand % 128U * 4));
            break;
          case Kind::size:
            store64(image, std::min<std::uint64_t>(word, image.size() - 8),
                    kSizes[edit.operand % kSizes.size()]);
            break;
          case Kind::fill_itself:
            fill(sector_of(edit.at), sector_of(edit.at) + kSectorBytes,
                 itself(edit.at, edit.operand));
            break;
          case Kind::copy_sector:
            std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(other), kSectorBytes,
                        image.begin() + static_cast<std::ptrdiff_t>(sector_of(edit.at)));
            break;
          case Kind::deeper:
            fill(word + 4, word + 12, load32(image, word));
            break;
          case Kind::loop: {
            const std::uint32_t address = load32(image, word);
            const std::uint32_t unit = kUnits[edit.operand % kUnits.size()];
            const std::uint64_t start = std::uint64_t{address} * unit * kSectorBytes;
            fill(word + 4, word + 12, address);
            const bool large = edit.operand / kUnits.size() % 2 != 0;
            fill(start, start + (large ? kLargeBlock : std::uint64_t{unit} * kSectorBytes),
                 address);
            break;
          }
          case Kind::flip_bit:
            edit.flip_bit(image);
        }
      });
  seal(format_.type().name(), std::span(image_).first(format_.disk.bytes),
       image.first(format_.disk.bytes));
}

std::vector<std::string> ImageTarget::crafted(std::size_t count) const {
  std::vector<std::vector<std::string>> kinds(kKinds);
  for (std::string& program : all_crafted())
    kinds[static_cast<unsigned char>(program[3])].push_back(std::move(program));
  std::erase_if(kinds, [](const auto& kind) { return kind.empty(); });
  const std::size_t each = (count + kinds.size() - 1) / kinds.size();
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& kind = kinds[i % kinds.size()];
    chosen.push_back(kind[i / kinds.size() * kind.size() / each]);
  }
  return chosen;
}

std::vector<std::string> ImageTarget::all_crafted() const {
  constexpr std::array<std::uint16_t, 6> kWords = {0, 1, 2, 255, 0x7fff, 0xffff};
  std::vector<std::string> all;
  for (std::size_t area = 0; area < areas_.size(); ++area) {
    for (std::size_t unit = 0; unit < kUnits.size(); ++unit)
      all.push_back(program_of(area, 0, Kind::fill_itself, unit));
    for (std::size_t other = 0; other < areas_.size(); other += 1 + areas_.size() / 8)
      all.push_back(program_of(area, 0, Kind::copy_sector, other * 128));
    for (std::size_t at = 0; at < kSectorBytes; at += 4) {
      const std::uint64_t word = load32(image_, areas_[area] + at);
      if (word == 0 && at % 32 != 0) continue;
      for (const std::uint16_t value : kWords) {
        all.push_back(program_of(area, at, Kind::word, value));
        all.push_back(program_of(area, at, Kind::complement, value));
      }
      for (std::size_t unit = 0; unit < kUnits.size(); ++unit) {
        all.push_back(program_of(area, at, Kind::itself, unit));
        const std::uint64_t target = word * kUnits[unit] * kSectorBytes;
        if (word == 0 || !std::ranges::binary_search(areas_, target)) continue;
        all.push_back(program_of(area, at, Kind::loop, unit));
        all.push_back(program_of(area, at, Kind::loop, unit + kUnits.size()));
      }
      for (std::size_t size = 0; size < kSizes.size(); ++size)
        all.push_back(program_of(area, at, Kind::size, size));
      for (std::size_t other = 0; other < 4; ++other)
        all.push_back(program_of(area, at, Kind::copy_word,
                                 (area + other * 7 + 1) % areas_.size() * 128 + at / 4));
      all.push_back(program_of(area, at, Kind::deeper, 0));
      all.push_back(program_of(area, at, Kind::half_word, 0xffff));
    }
  }
  return all;
}

std::string ImageTarget::random(std::uint64_t number) const {
  std::mt19937_64 random(number);
  std::string program(fuzz::kImageEditBytes * (1 + random() % 8), '\0');
  for (char& byte : program) byte = static_cast<char>(random());
  return program;
}

std::uint64_t ImageTarget::check(Stores& stores) const {
  const auto report = format_.type().checker()->check(stores.devices(), {});
  return report ? hash_of(*report) : fuzz::novelty(report.error().problem);
}

void ImageTarget::repair(Stores& stores, bool fast) const {
  const auto checker = format_.type().checker();
  const auto repaired = checker->repair(stores.devices(), {.fast = fast});
  if (!repaired || repaired->unrepaired || fast) return;
  const auto after = checker->check(stores.devices(), {});
  EXPECT_TRUE(after && after->nothing_found())
      << "after the repair: " << (after ? after->findings.front().text : after.error().message());
  read_all(stores);
}

void ImageTarget::read_all(Stores& stores) const {
  const FileSystemType& type = format_.type();
  const auto read = [](const Result<std::unique_ptr<ImageReader>>& reader) {
    if (!reader) return;
    (void)(*reader)->walk([&](const std::string&, const ImageInode& inode) {
      std::vector<std::byte> some(5'000);
      (void)(*reader)->read(inode.number, 0, some);
      (void)(*reader)->read(inode.number, inode.size_bytes / 2, some);
      (void)(*reader)->content(inode.number);
      (void)(*reader)->readlink(inode.number);
    });
  };
  read(type.open_image(stores.devices()));
  if (!type.has_snapshots()) return;
  if (const auto kept = type.snapshots(stores.devices()))
    for (const SnapshotInfo& one : *kept) read(type.open_snapshot(stores.devices(), one.name));
}

void ImageTarget::use(const SystemUnderTest& system, Stores& stores, bool& mounted_at_all) const {
  const SystemDescription& description = system.description();
  os::MemoryMachine machine(
      stores.devices(),
      {.system = {.queue = description.queue, .cache = {.block_copy = description.block_copy}},
       .second_sectors = format_.disk.log_bytes / kSectorBytes});
  os::Account account{.name = "user"};
  machine.system.syncer.start();
  machine.system.run_as(account, [&] {
    auto mounted = system.mount(machine.system, {.force = true});
    if (!mounted) return;
    mounted_at_all = true;
    use_files((*mounted)->vfs());
    if (Snapshots* const snapshots = (*mounted)->snapshots()) {
      (void)snapshots->make("two");
      (void)snapshots->drop("one");
    }
    (void)(*mounted)->unmount();
  });
  machine.disk.power_cut();
  machine.system.executor.halt();
}

std::uint64_t ImageTarget::run(std::string_view program, std::uint64_t system) const {
  std::vector<std::byte> bytes = image_;
  edit(bytes, program);
  std::uint64_t requests = 0;
  Stores read_only(format_.disk, bytes);
  std::uint64_t kind = check(read_only);
  read_all(read_only);
  requests += read_only.requests();
  for (const bool fast : {false, true}) {
    if (fast && format_.maker().recovery_trial() == nullptr) continue;
    Stores repaired(format_.disk, bytes);
    repair(repaired, fast);
    requests += repaired.requests();
  }
  bool mounted = false;
  Stores used(format_.disk, bytes);
  use(*format_.systems[system % format_.systems.size()], used, mounted);
  EXPECT_TRUE(is_in_place(format_.type().name(), bytes, used.bytes()))
      << "written outside the allowed areas";
  requests += used.requests();
  EXPECT_LT(requests, kRequestsPerSector * (image_.size() / kSectorBytes)) << "too many requests";
  return kind * 2 + (mounted ? 1 : 0);
}

}  // namespace headcrash::adapters::damaged
