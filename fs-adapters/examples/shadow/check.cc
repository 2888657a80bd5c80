// The checker (image.h). It checks blocks, directories, names and link counts.
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "fs-adapters/examples/shadow/image.h"
#include "fs-adapters/substrate/tree/directory_block.h"

namespace headcrash::shadow {
namespace {

class Check {
 public:
  Check(const Image& image, const adapters::CheckOptions& options)
      : image_(image), options_(options) {}

  adapters::CheckReport run() {
    const Geometry& geometry = image_.header().geometry;
    report_.was_clean = image_.header().clean;
    std::uint64_t blocks = 0;
    for (const Record& record : image_.records()) {
      check_blocks(record);
      blocks += record.blocks.size();
      ++(record.attributes.is_directory() ? report_.directories : report_.files);
    }
    names_[kRootInode] = 1;
    directories_.insert(kRootInode);
    for (open_ = {kRootInode}; !open_.empty();) {
      const InodeNumber directory = open_.back();
      open_.pop_back();
      check_directory(*image_.find(directory));
    }
    for (const Record& record : image_.records()) check_links(record);
    report_.space = {
        {"free blocks", geometry.blocks - std::min<std::uint64_t>(blocks, geometry.blocks)},
        {"free inodes", geometry.inodes - image_.records().size()}};
    return std::move(report_);
  }

 private:
  void found(FindingKind kind, const Record& record, std::string text, std::uint64_t block = 0) {
    if (report_.findings.size() >= options_.findings_max) {
      ++report_.more_findings;
      return;
    }
    report_.findings.push_back({.kind = kind_of(kind),
                                .inode = record.number,
                                .block = block,
                                .text = fmt::format("inode {} {}", record.number, text)});
  }

  void check_blocks(const Record& record) {
    const std::uint64_t size = record.attributes.size_bytes,
                        unit = image_.header().geometry.block_bytes;
    for (const auto& [block, address] : record.blocks) {
      if (!used_.insert(address).second)
        found(FindingKind::block, record,
              fmt::format("shares block {} with another inode", address), address);
      if (static_cast<std::uint64_t>(block) * unit >= size)
        found(FindingKind::block, record,
              fmt::format("has block {} beyond the end of the file", block), address);
    }
  }

  void check_directory(const Record& directory) {
    const auto bytes = image_.directory_bytes(directory);
    if (!bytes) return found(FindingKind::directory, directory, bytes.error().problem);
    for (std::uint32_t chunk = 0; chunk < bytes->size() / tree::kChunkBytes; ++chunk)
      if (const auto damage = tree::damage_of_chunk(*bytes, chunk))
        return found(FindingKind::directory, directory,
                     fmt::format("is invalid at byte {}: {}", damage->offset, damage->text));
    std::set<std::string> names;
    tree::DirectoryCursor cursor(*bytes);
    while (const auto entry = cursor.next()) {
      if (entry->inode == 0) continue;
      const auto wrong = [&](std::string_view what) {
        found(FindingKind::name, directory,
              fmt::format("has a name '{}' that {}", entry->name, what));
      };
      if (!names.emplace(entry->name).second) wrong("is duplicate");
      if (entry->is_dot_dot()) {
        ups_[directory.number] = entry->inode;
        continue;
      }
      const Record* const target = image_.find(entry->inode);
      if (target == nullptr || tree::entry_type(target->attributes.mode) != entry->type) {
        wrong(target == nullptr ? "points to a free inode"
                                : "points to an inode of a different type");
        continue;
      }
      ++names_[entry->inode];
      if (entry->is_dot() && entry->inode != directory.number)
        wrong("does not point to the directory itself");
      if (entry->is_dot() || !target->attributes.is_directory()) continue;
      // Counts the ".." of the subdirectory, because it is a link to this directory.
      ++names_[directory.number];
      if (!directories_.insert(entry->inode).second) {
        wrong("is the second name of a directory");
        continue;
      }
      parents_[entry->inode] = directory.number;
      open_.push_back(entry->inode);
    }
  }

  void check_links(const Record& record) {
    const auto names = names_.find(record.number);
    if (names == names_.end())
      return found(FindingKind::unreachable, record, "is allocated but has no name");
    if (names->second != record.attributes.links)
      found(FindingKind::links, record,
            fmt::format("has a link count of {}, but {} links", record.attributes.links,
                        names->second));
    if (!record.attributes.is_directory()) return;
    const InodeNumber parent = record.number == kRootInode ? kRootInode : parents_[record.number];
    if (ups_[record.number] != parent)
      found(FindingKind::name, record, "has a '..' that does not point to its parent");
  }

  const Image& image_;
  const adapters::CheckOptions& options_;
  adapters::CheckReport report_;
  std::set<BlockAddress> used_;
  std::vector<InodeNumber> open_;
  std::set<InodeNumber> directories_;
  std::map<InodeNumber, std::uint32_t> names_;
  std::map<InodeNumber, InodeNumber> parents_, ups_;
};

class Checker final : public adapters::ImageChecker {
 public:
  Result<adapters::CheckReport> check(const model::SectorStore& store,
                                      const adapters::CheckOptions& options) override {
    TRY(const auto image, Image::open(store));
    return Check(image, options).run();
  }
  Result<adapters::CheckReport> repair(model::SectorStore& store,
                                       const adapters::CheckOptions& options) override {
    auto report = check(store, options);
    if (report) report->unrepaired = !report->nothing_found();
    return report;
  }
};

}  // namespace

adapters::FindingKind kind_of(FindingKind kind) {
  constexpr std::array<std::string_view, 5> kNames{"bad-block", "bad-directory", "bad-name",
                                                   "bad-links", "unreachable"};
  const auto order = static_cast<std::uint16_t>(kind);
  return {.name = kNames.at(order), .severity = adapters::Severity::damage, .order = order};
}

std::unique_ptr<adapters::ImageChecker> make_checker() {
  return std::make_unique<Checker>();
}

}  // namespace headcrash::shadow
