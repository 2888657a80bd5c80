// Unpacks a source tree and removes it.
//
// Source: linux-2.4.16, as unpacked and removed in a comparison of Linux file systems from 2001
// (qliu.free.fr/Linux/Benchmarks/irl.txt): 11 131 files in 768 directories, 156 MB. The related
// paper (Soares, Krieger and Da Silva 2003, Linux 2.4.22) runs no such load and does not describe a
// tree.
//
// The following choices are ours. Sizes are log-normal, and each directory has three subdirectories
// (file_tree.h). The archive is neither read nor decompressed, as if it were on another disk and
// decompression took no CPU time. Files are created in the order of the archive, in which each
// directory precedes its contents. The removal begins with as much of the tree in the cache as fits
// (`cold` 0), or with an empty cache (1).
#include <memory>

#include "harness/workload/timed/file_tree.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

constexpr const char* kRoot = "linux";

std::vector<Phase> source_tree_phases(const Arguments& arguments) {
  const auto tree = std::make_shared<const FileTree>(argument(arguments, "files"),
                                                     argument(arguments, "tree-bytes"),
                                                     argument(arguments, "folders"));
  return {{.name = "extract",
           .body =
               [tree](User& user) {
                 FileWork work(user);
                 return tree->extract(work, kRoot);
               }},
          {.name = "verify",
           .measured = false,
           .body =
               [tree](User& user) {
                 FileWork work(user);
                 return tree->read(work, kRoot, 0);
               }},
          {.name = "remove",
           .cold = argument(arguments, "cold") != 0,
           .body =
               [tree](User& user) {
                 FileWork work(user);
                 return tree->remove(work, kRoot, 0);
               }},
          {.name = "verify-gone", .measured = false, .body = [](User& user) {
             FileWork work(user);
             return work.expect_missing(kRoot);
           }}};
}

}  // namespace

TimedWorkload source_tree() {
  return {.name = "source-tree",
          .title = "unpacks a kernel's source tree and removes it",
          .source = "linux-2.4.16 as measured in 2001 (qliu.free.fr); sizes and shape are ours",
          .operation = "files",
          .parameters = {{"files", 11'131, 500, 1, 1'000'000, "11131 files in the tree"},
                         {"tree-bytes", 156'000'000, 7'000'000, 0, 10'000'000'000, "156 MB"},
                         {"folders", 768, 40, 1, 100'000, "768 directories"},
                         {"cold", 0, 0, 0, 1, "1: nothing is cached when the tree is removed"}},
          .phases = source_tree_phases};
}

}  // namespace headcrash::timed
