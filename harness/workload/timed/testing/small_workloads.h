#pragma once
// Test helper: every timed workload with small arguments.

#include <string>
#include <vector>

#include "harness/workload/timed/timed_workload.h"

namespace headcrash::timed {

/// A timed workload with small arguments, and the phase after which the test damages data.
struct SmallWorkload {
  std::string name;
  Arguments arguments;
  /// Index of the phase after which the test damages data. -1 if the workload does not read the
  /// data, and detects only unexpected names; the test then damages nothing.
  int damage_after;
};
inline const std::vector<SmallWorkload>& small_workloads() {
  static const Arguments kTree{{"users", 3}, {"files", 20}, {"tree-bytes", 90'000}, {"folders", 6}};
  static const Arguments kShares{{"users", 3}, {"files", 50}, {"file-bytes", 1000}};
  static const Arguments kAndrew{
      {"files", 12}, {"tree-bytes", 30'000}, {"folders", 4}, {"compiled", 5}};
  static const std::vector<SmallWorkload> kAll{
      {"n-user-copy", kTree, 1},
      {"n-user-remove", kTree, -1},
      {"create-1k", kShares, 1},
      {"remove-1k", kShares, -1},
      {"create-remove-1k", kShares, -1},
      {"andrew", kAndrew, 5},
      {"andrew-modified", kAndrew, 5},
      {"sdet", {{"scripts", 2}, {"files", 6}, {"home-bytes", 20'000}, {"folders", 3}}, 1},
      {"lfs-small-file", {{"files", 30}, {"files-per-folder", 7}}, 1},
      {"lfs-large-file", {{"file-bytes", 100'000}}, 3},
      {"empty-files", {{"files", 60}, {"folders", 7}, {"rounds", 2}}, -1},
      {"chen-r2", {{"read-kib", 1100}, {"write-kib", 1100}}, 1},
      {"chen-r3", {{"read-kib", 1100}, {"write-kib", 2100}}, 2},
      {"chen-burst", {{"burst-kib", 70}}, 1},
      {"chen-fsync", {{"burst-kib", 70}}, 1},
      {"dbench", {{"clients", 2}, {"percent", 1}}, 1},
      {"postmark", {{"files", 20}, {"transactions", 60}, {"folders", 3}}, 2},
      {"laddis",
       {{"operations-per-s", 40},
        {"seconds", 6},
        {"warm-up-s", 1},
        {"threads", 2},
        {"kib-per-operation", 8},
        {"file-kib", 24}},
       1},
      {"recovery", {{"files", 20}, {"dirty", 10}, {"files-per-folder", 7}}, 1},
      {"boot-after-cut", {{"files", 20}, {"dirty", 10}, {"files-per-folder", 7}}, 1},
      {"source-tree", {{"files", 20}, {"tree-bytes", 90'000}, {"folders", 6}}, 0},
      {"mail-spool", {{"users", 3}, {"messages", 12}, {"kept", 4}}, 1},
      {"ageing",
       {{"users", 2},
        {"days", 2},
        {"every-days", 1},
        {"in-use-kib", 600},
        {"written-kib", 400},
        {"probe-kib", 100},
        {"day-s", 0}},
       17}};
  return kAll;
}

}  // namespace headcrash::timed
