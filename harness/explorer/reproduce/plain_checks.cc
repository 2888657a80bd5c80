// The expectations are read back from the oracle's words (harness/oracle/judge.cc, content.cc): a
// finding has no other form in the database. The tests let the oracle speak, so a change of its
// words shows there.
#include "harness/explorer/reproduce/plain_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>

#include "harness/workload/stamp.h"

namespace headcrash::explorer {
namespace {

using workload::kStampBytes;
using workload::Operation;

/// The sums that a block may have: of stamps, whole, as far as they were written, and with zeroes
/// after their end (a write may end inside a block); of zeroes likewise.
class Sums {
 public:
  void add(std::span<const std::byte> block, std::size_t written) {
    std::vector<std::byte> bytes(block.begin(), block.end());
    sums_.insert(posix_cksum(bytes));
    sums_.insert(posix_cksum(std::span(bytes).first(written)));
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(written), bytes.end(), std::byte{0});
    sums_.insert(posix_cksum(bytes));
  }
  /// A block behind the end of the file, which shows nobody's bytes.
  void add_nothing() { sums_.insert(posix_cksum({})); }
  std::string text() const {
    std::string text;
    for (const std::uint32_t sum : sums_) text += fmt::format(" {}", sum);
    return text;
  }

 private:
  std::set<std::uint32_t> sums_;
};

void add_versions(std::span<const Operation> operations, std::uint32_t file,
                  std::uint32_t from_version, std::uint64_t block, Content content, Sums& sums) {
  const std::uint64_t at = block * kStampBytes;
  for (const Operation& operation : operations) {
    const std::uint64_t end = operation.offset + operation.length;
    if (!workload::is_write(operation.kind) || operation.file != file ||
        operation.version < from_version || at < operation.offset || at >= end)
      continue;
    std::vector<std::byte> bytes(kStampBytes);
    if (content == Content::stamps) {
      workload::write_stamp({file, operation.version, block}, bytes);
    } else {
      std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(operation.version));
    }
    sums.add(bytes, static_cast<std::size_t>(std::min<std::uint64_t>(kStampBytes, end - at)));
  }
}

std::uint32_t file_of_version(std::span<const Operation> operations, std::uint32_t version) {
  for (const Operation& operation : operations)
    if (workload::is_write(operation.kind) && operation.version == version) return operation.file;
  return 0;
}

std::uint32_t file_of_path(std::span<const Operation> operations, const std::string& path) {
  for (const Operation& operation : operations)
    if (workload::is_write(operation.kind) && operation.path == path) return operation.file;
  return 0;
}

constexpr auto kLargestFileBytes =
    std::numeric_limits<std::int64_t>::max();  // and what a shell can count

struct Sizes {
  unsigned long long least = 0, most = 0;
};

/// "4096 bytes", "0 to 4096 bytes", "at least 4096 bytes"
std::optional<Sizes> sizes_of(const std::string& expected) {
  Sizes sizes;
  int used = 0;
  const char* text = expected.c_str();
  const auto all_used = [&] {
    return used > 0 && static_cast<std::size_t>(used) == expected.size();
  };
  if (std::sscanf(text, "%llu to %llu bytes%n", &sizes.least, &sizes.most, &used) == 2 &&
      all_used())
    return sizes;
  used = 0;
  if (std::sscanf(text, "at least %llu bytes%n", &sizes.least, &used) == 1 && all_used())
    return Sizes{sizes.least, kLargestFileBytes};
  used = 0;
  if (std::sscanf(text, "%llu bytes%n", &sizes.least, &used) == 1 && all_used())
    return Sizes{sizes.least, sizes.least};
  return std::nullopt;
}

std::string size_check(const oracle::Finding& finding) {
  const auto sizes = sizes_of(finding.expected);
  if (!sizes) return "";
  return fmt::format("expect_size {} {} {}", quoted(finding.path), sizes->least, sizes->most);
}

/// Whether the file may end before the block: another finding says how long it may be.
bool may_end_before(std::span<const oracle::Finding> findings, const std::string& path,
                    std::uint64_t block) {
  return std::ranges::any_of(findings, [&](const oracle::Finding& each) {
    const auto sizes = each.path == path ? sizes_of(each.expected) : std::nullopt;
    return sizes && sizes->least <= block * kStampBytes;
  });
}

/// "version 3 or newer in block 5", "zeroes in block 5", "zeroes or a version in flight in block 5"
std::string block_check(const oracle::Finding& finding, std::span<const oracle::Finding> findings,
                        std::span<const Operation> operations, Content content) {
  const std::size_t in = finding.expected.rfind(" in block ");
  if (in == std::string::npos) return "";
  // A block may then be another one's, or two writes', which no sum of this one's versions tells.
  const bool blocks_move = std::ranges::any_of(operations, [](const Operation& operation) {
    const bool begins_inside =
        workload::is_write(operation.kind) && operation.offset % kStampBytes != 0;
    return begins_inside || workload::moves_blocks(operation.kind) ||
           operation.kind == Operation::Kind::clone;
  });
  if (blocks_move) return "";
  unsigned long long block = 0;
  unsigned version = 0;
  if (std::sscanf(finding.expected.c_str() + in, " in block %llu", &block) != 1) return "";
  Sums sums;
  if (std::sscanf(finding.expected.c_str(), "version %u or newer", &version) == 1) {
    const std::uint32_t file = file_of_version(operations, version);
    if (file == 0) return "";
    add_versions(operations, file, version, block, content, sums);
  } else if (finding.expected.starts_with("zeroes")) {
    sums.add(std::vector<std::byte>(kStampBytes), kStampBytes);
    const bool in_flight = finding.expected.starts_with("zeroes or a version");
    if (in_flight)
      add_versions(operations, file_of_path(operations, finding.path), 0, block, content, sums);
    if (in_flight || may_end_before(findings, finding.path, block)) sums.add_nothing();
  } else {
    return "";
  }
  return fmt::format("expect_block {} {} {}{}", quoted(finding.path), block,
                     quoted(finding.expected.substr(0, in)), sums.text());
}

std::string name_check(const oracle::Finding& finding) {
  const std::string& expected = finding.expected;
  const std::string path = quoted(finding.path);
  if (expected == "the name to be there") return "expect_name " + path;
  if (expected == "no such name") return "expect_no_name " + path;
  if (expected == "a file") return "expect_kind " + path + " regular";
  if (expected == "a directory") return "expect_kind " + path + " directory";
  if (expected == "a symbolic link") return "expect_kind " + path + " symbolic";
  if (expected == "a readable directory" || expected == "readable content")
    return "expect_readable " + path;
  constexpr std::string_view kLink = "a link to \"";
  if (expected.starts_with(kLink) && expected.ends_with('"') && expected.size() > kLink.size())
    return fmt::format("expect_target {} {}", path,
                       quoted(expected.substr(kLink.size(), expected.size() - kLink.size() - 1)));
  constexpr std::string_view kAlso = "also \"";
  if (expected == "one name" && finding.found.starts_with(kAlso) && finding.found.ends_with('"'))
    return fmt::format(
        "expect_one_name {} {}", path,
        quoted(finding.found.substr(kAlso.size(), finding.found.size() - kAlso.size() - 1)));
  unsigned links = 0;
  if (std::sscanf(expected.c_str(), "link count %u,", &links) == 1)
    return fmt::format("expect_links {} {}", path, links);
  return "";
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char each : text) {
    if (each == '\'') {
      quoted += "'\\''";
    } else {
      quoted += each;
    }
  }
  return quoted + "'";
}

std::uint32_t posix_cksum(std::span<const std::byte> data) {
  std::uint32_t sum = 0;
  const auto add = [&](std::uint32_t byte) {
    sum ^= byte << 24;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum & 0x80000000U) != 0 ? sum << 1 ^ 0x04c11db7U : sum << 1;
  };
  for (const std::byte each : data) add(std::to_integer<std::uint32_t>(each));
  for (std::size_t length = data.size(); length > 0; length >>= 8) add(length & 0xff);
  return ~sum;
}

std::vector<std::string> plain_checks(const std::vector<oracle::Finding>& findings,
                                      std::span<const Operation> operations, Content content) {
  std::vector<std::string> lines;
  for (const oracle::Finding& finding : findings) {
    std::string line = name_check(finding);
    if (line.empty()) line = size_check(finding);
    if (line.empty()) line = block_check(finding, findings, operations, content);
    if (line.empty()) {
      line = fmt::format("look_yourself {} {} {}", quoted(finding.path), quoted(finding.expected),
                         quoted(finding.found));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace headcrash::explorer
