#pragma once
// Test helpers for the oracle: lists of operations, and trees that are judged against them.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracle/oracle.h"

namespace headcrash::oracle {

using Lines = std::vector<std::string>;
using Tree = std::vector<ObservedObject>;
using Found = std::vector<std::pair<Verdict, Tier>>;

struct Case {
  Lines lines;
  std::optional<std::size_t> persisted;
  std::vector<workload::FailedOperation> failed_operations = {};

  Found judge(const Tree& tree, const adapters::Promises& promises) const {
    std::vector<workload::Operation> list;
    for (const std::string& line : lines)
      list.push_back(workload::parse_operation(line, "test").value());
    const Result<Oracle> oracle =
        Oracle::follow(list, {.promises = promises, .failed_operations = failed_operations});
    EXPECT_TRUE(oracle) << oracle.error().message();
    Found found;
    for (const Finding& f : oracle.value().judge(persisted, tree))
      found.emplace_back(f.kind, f.tier);
    return found;
  }
};

inline ObservedObject file(std::string path, std::uint64_t blocks, std::uint32_t number,
                           std::uint32_t version, std::uint64_t inode, std::uint32_t links = 1) {
  ObservedObject object{
      .path = std::move(path), .inode = inode, .links = links, .size_bytes = blocks * 512};
  const ContentRun run{ContentRun::Kind::stamp, 0, blocks, number, version};
  if (blocks > 0) object.runs.push_back(run);
  return object;
}
inline ObservedObject directory(std::string path, std::uint64_t inode) {
  return {.path = std::move(path), .type = FileType::directory, .inode = inode, .links = 2};
}
inline ObservedObject symlink(std::string path, std::string target) {
  return {.path = std::move(path),
          .type = FileType::symlink,
          .inode = 77,
          .links = 1,
          .link_target = std::move(target)};
}

}  // namespace headcrash::oracle
