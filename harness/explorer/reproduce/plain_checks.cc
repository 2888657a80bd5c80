// Creates the shell command for each kind of expectation (plain_checks.h, oracle/expectation.h).
#include "harness/explorer/reproduce/plain_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "harness/oracle/expectation.h"
#include "harness/workload/stamp.h"
#include "plugin/base/command_text.h"

namespace headcrash::explorer {
namespace {

using oracle::Expectation;
using workload::kStampBytes;
using workload::Operation;

/// Checksums of all permitted contents of a block: zeroes, or a stamp that is followed by zeroes
/// after the end of the write.
class PermittedChecksums {
 public:
  void add(std::span<const std::byte> block, std::size_t written) {
    std::vector<std::byte> bytes(block.begin(), block.end());
    sums_.insert(posix_cksum(bytes));
    sums_.insert(posix_cksum(std::span(bytes).first(written)));
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(written), bytes.end(), std::byte{0});
    sums_.insert(posix_cksum(bytes));
  }
  /// Also accepts the checksum of an empty input, because the file may end before the block.
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
                  std::uint32_t from_version, std::uint64_t block, Content content,
                  PermittedChecksums& sums) {
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

constexpr std::uint64_t kLargestFileBytes =
    std::numeric_limits<std::int64_t>::max();  // no larger number is possible in a shell

/// Returns true if a finding about the size of the file `path` permits a size at which the block is
/// beyond the end.
bool may_end_before(std::span<const oracle::Finding> findings, const std::string& path,
                    std::uint64_t block) {
  return std::ranges::any_of(findings, [&](const oracle::Finding& each) {
    if (each.path != path) return false;
    const Expectation expected = oracle::expectation_of(each);
    return expected.kind == Expectation::Kind::size && expected.least <= block * kStampBytes;
  });
}

/// Returns true if the operations may move a stamp to another position, or put parts of two writes
/// into the same block. The permitted checksums do not include the contents of such a block.
bool moves_blocks(std::span<const Operation> operations) {
  return std::ranges::any_of(operations, [](const Operation& operation) {
    const bool begins_inside =
        workload::is_write(operation.kind) && operation.offset % kStampBytes != 0;
    return begins_inside || workload::moves_blocks(operation.kind) ||
           operation.kind == Operation::Kind::clone;
  });
}

std::string block_check(const oracle::Finding& finding, const Expectation& expected,
                        std::span<const oracle::Finding> findings,
                        std::span<const Operation> operations, Content content) {
  if (moves_blocks(operations)) return "";
  const std::uint64_t block = expected.block;
  PermittedChecksums sums;
  if (expected.kind == Expectation::Kind::version) {
    const auto version = static_cast<std::uint32_t>(expected.least);
    const std::uint32_t file = file_of_version(operations, version);
    if (file == 0) return "";
    add_versions(operations, file, version, block, content, sums);
  } else {
    sums.add(std::vector<std::byte>(kStampBytes), kStampBytes);
    const bool in_flight = expected.kind == Expectation::Kind::zeroes_or_version_in_flight;
    if (in_flight)
      add_versions(operations, file_of_path(operations, finding.path), 0, block, content, sums);
    if (in_flight || may_end_before(findings, finding.path, block)) sums.add_nothing();
  }
  return fmt::format("expect_block {} {} {}{}", base::shell_quoted(finding.path), block,
                     base::shell_quoted(oracle::words(expected)), sums.text());
}

/// Returns the command that checks a finding, or an empty string if no standard tool can check it.
std::string check_of(const oracle::Finding& finding, std::span<const oracle::Finding> findings,
                     std::span<const Operation> operations, Content content) {
  using Kind = Expectation::Kind;
  const Expectation expected = oracle::expectation_of(finding);
  const std::string path = base::shell_quoted(finding.path);
  switch (expected.kind) {
    case Kind::name:
      return "expect_name " + path;
    case Kind::no_name:
      return "expect_no_name " + path;
    case Kind::regular:
      return "expect_kind " + path + " regular";
    case Kind::directory:
      return "expect_kind " + path + " directory";
    case Kind::symlink:
      return "expect_kind " + path + " symbolic";
    case Kind::readable_directory:
    case Kind::readable_content:
      return "expect_readable " + path;
    case Kind::target:
      return fmt::format("expect_target {} {}", path, base::shell_quoted(expected.text));
    case Kind::one_name:
      return expected.text.empty()
                 ? ""
                 : fmt::format("expect_one_name {} {}", path, base::shell_quoted(expected.text));
    case Kind::links:
      return fmt::format("expect_links {} {}", path, expected.least);
    case Kind::size:
      return fmt::format("expect_size {} {} {}", path, expected.least,
                         std::min(expected.most, kLargestFileBytes));
    case Kind::version:
    case Kind::zeroes:
    case Kind::zeroes_or_version_in_flight:
      return block_check(finding, expected, findings, operations, content);
    case Kind::other:
      break;
  }
  return "";
}

}  // namespace

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
    std::string line = check_of(finding, findings, operations, content);
    if (line.empty()) {
      line = fmt::format("look_yourself {} {} {}", base::shell_quoted(finding.path),
                         base::shell_quoted(finding.expected), base::shell_quoted(finding.found));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace headcrash::explorer
