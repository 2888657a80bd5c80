#pragma once
// The smallest InodeStore: inodes in a table, blocks in a buffer cache over an in-memory disk, and
// link counts that are lowered at once. It has no disk format. It records the events that a log of
// directory operations would receive, and checks that links, names and blocks are consistent.

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/os/memory_machine.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/substrate/tree/file_system.h"
#include "plugin/model/core/store.h"

namespace headcrash::tree::bench {

inline constexpr std::uint32_t kBlockBytes = 4096;
inline constexpr std::uint32_t kBlockSectors = kBlockBytes / 512;

/// Allocator of disk sectors.
class Sectors final : public model::SectorStore {
 public:
  explicit Sectors(std::uint64_t sectors) : bytes_(sectors * 512) {}
  std::uint64_t sectors() const override { return bytes_.size() / 512; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    std::memcpy(into.data(), bytes_.data() + lba * 512, into.size());
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    std::memcpy(bytes_.data() + lba * 512, data.data(), data.size());
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    std::memset(bytes_.data() + lba * 512, 0, count * 512);
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
};

struct TestInode : CoreInode {
  TestInode(os::Executor& executor, InodeNumber its_number)
      : CoreInode(executor, its_number, its) {}
  Attributes its;
  std::map<std::int64_t, std::uint64_t> blocks;  ///< addresses by block number
};

class TestStore final : public InodeStore, public InodeOwner {
 public:
  TestStore(os::System& system, std::uint64_t blocks)
      : InodeStore(system.executor, system.cpu, system.cache) {
    for (std::uint64_t block = blocks; block-- > 0;) free_.push_back(block * kBlockSectors);
    TestInode& first = *add(root());
    first.its = {.mode = kTypeDirectory | 0755, .links = 2};
  }
  /// Must be called from a fiber.
  void format() {
    Operation none;
    TestInode& first = *inodes_.at(root());
    std::vector<std::byte> names(kChunkBytes);
    format_directory(names, root(), root());
    auto block = block_for_writing(none, first, {.bytes = kChunkBytes, .first_contents = names});
    EXPECT_TRUE(block);
    first.its.size_bytes = kChunkBytes;
  }

  InodeNumber root() const override { return 2; }
  bool is_inode(std::uint64_t number) const override { return number >= 2 && number < 1'000'000; }
  std::uint64_t inodes_max() const override { return 1'000'000; }
  std::uint32_t block_bytes() const override { return kBlockBytes; }
  std::uint64_t file_bytes_max() const override { return 1U << 30U; }
  std::uint32_t new_directory_bytes() const override { return kChunkBytes; }
  std::uint32_t symlink_bytes_max() const override { return kPathBytesMax; }
  bool stopped() const override { return false; }
  std::size_t bytes_in_core() const override { return inodes_.size() * kCoreInodeBytes; }
  std::uint64_t allocated_bytes(const CoreInode& inode) const override {
    return static_cast<const TestInode&>(inode).blocks.size() * kBlockBytes;
  }

  VfsResult<void> change(const std::function<VfsResult<void>(Operation&)>& body) override {
    Operation operation;
    return body(operation);
  }

  VfsResult<InodeHandle> get(InodeNumber number, Operation* operation) override {
    const auto known = inodes_.find(number);
    TestInode& inode = known != inodes_.end() ? *known->second : *add(number);
    return share(inode, operation);
  }
  InodeHandle share(CoreInode& inode, Operation* operation) override {
    ++inode.references;
    return {*this, inode, operation};
  }
  VfsResult<InodeHandle> make(Operation& operation, CoreInode&, bool) override {
    InodeNumber number = root() + 1;
    while (inodes_.contains(number)) ++number;
    TestInode& inode = *add(number);
    inode.its.generation = ++generations_;
    return share(inode, &operation);
  }
  void mark_changed(CoreInode&) override {}
  void put(CoreInode& inode, Operation*) override {
    if (--inode.references > 0 || inode.attributes.links > 0) return;
    auto& ours = static_cast<TestInode&>(inode);
    while (!ours.blocks.empty()) release(ours, ours.blocks.begin()->first);
    inodes_.erase(inode.number);
  }

  VfsResult<os::HeldBuffer> read_block(CoreInode& inode, std::int64_t block) override {
    const auto& blocks = static_cast<TestInode&>(inode).blocks;
    const auto at = blocks.find(block);
    if (at == blocks.end()) return os::HeldBuffer();
    auto buffer = cache.read(key(inode, block), os::Content::data, at->second, kBlockBytes);
    if (!buffer) return refuse(EIO);
    return std::move(*buffer);
  }
  VfsResult<os::HeldBuffer> block_for_writing(Operation&, CoreInode& inode,
                                              const BlockWanted& wanted) override {
    auto& blocks = static_cast<TestInode&>(inode).blocks;
    const auto at = blocks.find(wanted.block);
    if (at != blocks.end() && !wanted.overwritten) return read_block(inode, wanted.block);
    if (at != blocks.end())
      return cache.get(key(inode, wanted.block), os::Content::data, at->second, kBlockBytes);
    if (free_.empty()) return refuse(ENOSPC);
    const std::uint64_t place = free_.back();
    free_.pop_back();
    blocks[wanted.block] = place;
    os::HeldBuffer buffer =
        cache.get(key(inode, wanted.block), os::Content::data, place, kBlockBytes);
    std::ranges::fill(buffer.bytes(), std::byte{0});
    if (inode.attributes.is_directory()) format_chunks(buffer.bytes());
    std::ranges::copy(wanted.first_contents, buffer.bytes().begin());
    cache.write_delayed(std::move(buffer));
    return read_block(inode, wanted.block);
  }
  void write_delayed(os::HeldBuffer buffer) override { cache.write_delayed(std::move(buffer)); }
  VfsResult<void> free_blocks(Operation&, CoreInode& inode, std::int64_t first,
                              std::int64_t end) override {
    auto& ours = static_cast<TestInode&>(inode);
    for (auto at = ours.blocks.lower_bound(first); at != ours.blocks.end() && at->first < end;) {
      const std::int64_t block = (at++)->first;
      release(ours, block);
    }
    return {};
  }
  VfsResult<void> set_size(Operation& operation, CoreInode& inode,
                           std::uint64_t size_bytes) override {
    const auto last = static_cast<std::int64_t>(size_bytes / kBlockBytes);
    const std::uint64_t kept = size_bytes % kBlockBytes;
    (void)free_blocks(operation, inode, last + (kept != 0 ? 1 : 0), INT64_MAX);
    inode.attributes.size_bytes = size_bytes;
    auto buffer = read_block(inode, last);
    if (!buffer) return forward_errno(buffer);
    if (!*buffer) return {};
    std::ranges::fill(buffer->bytes().subspan(kept), std::byte{0});
    cache.write_delayed(std::move(*buffer));
    return {};
  }
  VfsResult<std::int64_t> grow_directory(Operation& operation, CoreInode& directory) override {
    const auto block = static_cast<std::int64_t>(directory.attributes.size_bytes / kBlockBytes);
    const auto buffer =
        block_for_writing(operation, directory, {.block = block, .bytes = kBlockBytes});
    if (!buffer) return forward_errno(buffer);
    directory.attributes.size_bytes += kChunkBytes;
    return block;
  }

  VfsResult<void> link_added(Operation&, const LinkAddition& added, os::HeldBuffer block) override {
    EXPECT_TRUE(shows(block, added.offset, added.name, added.target.number));
    note(added.cause, "+", added.directory, added.name, added.target,
         added.target.attributes.links);
    cache.write_delayed(std::move(block));
    drop_link(added.replaced);
    return {};
  }
  VfsResult<void> link_removed(Operation&, const LinkRemoval& removed,
                               os::HeldBuffer block) override {
    EXPECT_FALSE(find_entry(block.bytes(), removed.name));
    cache.write_delayed(std::move(block));
    drop_link(removed.dropped);
    note(removed.cause, "-", removed.directory, removed.name, *removed.dropped.inode,
         removed.dropped.inode->attributes.links);
    return {};
  }
  VfsResult<void> fsync(Operation&, CoreInode& inode, SyncExtent) override {
    return cache.flush_object(inode.number) == model::Status::ok ? VfsResult<void>() : refuse(EIO);
  }

  /// The events that a log of directory operations would receive: cause, directory, name, inode and
  /// link count.
  std::vector<std::string> log;

  std::size_t free_blocks_left() const { return free_.size(); }
  std::size_t inodes() const { return inodes_.size(); }

  /// Returns a list of miscounted links, dangling names and blocks that belong to no file. Must be
  /// called from a fiber, while no other fiber is active.
  std::vector<std::string> problems() {
    std::vector<std::string> found;
    std::map<InodeNumber, std::uint32_t> links{{root(), 1}};
    std::set<std::uint64_t> used;
    for (const auto& [number, inode] : inodes_) {
      for (const auto& [block, at] : inode->blocks)
        if (!used.insert(at).second)
          found.push_back(fmt::format("inode {}: a block of two", number));
      if (inode->references != 0) found.push_back(fmt::format("inode {} is referred to", number));
      if (inode->lock.locked()) found.push_back(fmt::format("inode {} is locked", number));
      if (inode->its.is_directory()) count(*inode, links, found);
    }
    for (const auto& [number, inode] : inodes_)
      if (links[number] != inode->its.links)
        found.push_back(fmt::format("inode {} has {} links, {} names", number, inode->its.links,
                                    links[number]));
    if (used.size() + free_.size() != all_) found.emplace_back("unowned blocks");
    return found;
  }

 private:
  static os::BufferKey key(const CoreInode& inode, std::int64_t block) {
    return {.object = inode.number, .block = block};
  }
  TestInode* add(InodeNumber number) {
    all_ = std::max(all_, free_.size());
    return inodes_.emplace(number, std::make_unique<TestInode>(executor, number))
        .first->second.get();
  }
  void release(TestInode& inode, std::int64_t block) {
    free_.push_back(inode.blocks.at(block));
    inode.blocks.erase(block);
    cache.discard(key(inode, block));
  }
  static bool shows(const os::HeldBuffer& block, std::uint32_t offset, std::string_view name,
                    InodeNumber inode) {
    const auto entry = entry_at(block.bytes(), offset);
    return entry && entry->inode == inode && entry->name == name;
  }
  void note(NameCause cause, std::string_view sign, const CoreInode& directory,
            std::string_view name, const CoreInode& inode, std::uint32_t links) {
    constexpr const char* kNames[] = {"create", "link", "unlink", "rename", "exchange", "parent"};
    log.push_back(fmt::format("{}{} {}/{} {} {}", kNames[static_cast<int>(cause)], sign,
                              directory.number, name, inode.number, links));
  }
  void count(TestInode& directory, std::map<InodeNumber, std::uint32_t>& links,
             std::vector<std::string>& found) {
    for (const auto& [block, at] : directory.blocks) {
      auto buffer = read_block(directory, block);
      DirectoryCursor cursor(buffer->bytes());
      while (const auto entry = cursor.next()) {
        if (entry->inode == 0) continue;
        if (static_cast<std::uint64_t>(block) * kBlockBytes + entry->offset >=
            directory.its.size_bytes)
          found.push_back(
              fmt::format("{}/{} is behind the directory's end", directory.number, entry->name));
        const auto named = inodes_.find(entry->inode);
        if (named == inodes_.end()) {
          found.push_back(fmt::format("{}/{} leads nowhere", directory.number, entry->name));
        } else if (entry->is_dot()) {
          ++links[entry->inode];
        } else if (!entry->is_dot_dot()) {
          ++links[entry->inode];
          if (named->second->its.is_directory())
            check_parent(*named->second, directory, links, found);
        }
      }
      if (cursor.damage())
        found.push_back(fmt::format("directory {} is damaged", directory.number));
    }
  }
  /// Checks that the ".." of `directory` refers to `parent`. Counts the ".." as a link to `parent`.
  void check_parent(TestInode& directory, const TestInode& parent,
                    std::map<InodeNumber, std::uint32_t>& links, std::vector<std::string>& found) {
    ++links[parent.number];
    auto buffer = read_block(directory, 0);
    const auto up = find_entry(buffer->bytes(), "..");
    if (!up || up->inode != parent.number)
      found.push_back(
          fmt::format("directory {} has another parent than {}", directory.number, parent.number));
  }

  std::map<InodeNumber, std::unique_ptr<TestInode>> inodes_;
  std::vector<std::uint64_t> free_;
  std::size_t all_ = 0;
  std::uint32_t generations_ = 0;
};

class TestFileSystem final : public FileSystem {
 public:
  explicit TestFileSystem(os::System& system, std::uint64_t blocks)
      : FileSystem(std::make_unique<TestStore>(system, blocks)) {}
  TestStore& inodes() { return static_cast<TestStore&>(store()); }
  using FileSystem::close_all;

  VfsResult<void> sync() override {
    return store().cache.flush_all() == model::Status::ok ? VfsResult<void>() : refuse(EIO);
  }
  VfsResult<void> syncfs() override { return sync(); }
  VfsResult<SpaceStatus> space() override { return SpaceStatus{}; }
  VfsResult<void> drop_caches() override {
    store().cache.drop_clean();
    return {};
  }
};

/// A machine with this file system, and a user.
struct TestMachine {
  explicit TestMachine(std::uint64_t blocks, std::uint64_t cache_bytes = 4 << 20,
                       const os::FiberScheduleOptions& schedule = {},
                       os::FiberSchedule* own_schedule = nullptr)
      : sectors(blocks * kBlockSectors),
        machine(sectors,
                {.system = {.cache = {.bytes = cache_bytes},
                            .executor = {.schedule = schedule, .own_schedule = own_schedule}}}),
        file_system(machine.system, blocks) {
    as_user([&] { file_system.inodes().format(); });
  }
  void as_user(std::function<void()> body) { machine.system.run_as(account, std::move(body)); }

  Sectors sectors;
  os::MemoryMachine machine;
  os::Account account{.name = "ann"};
  TestFileSystem file_system;
};

}  // namespace headcrash::tree::bench
