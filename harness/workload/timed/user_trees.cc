// N users concurrently copy their directory trees, or remove them.
//
// Source: Ganger and Patt, "Metadata Update Performance in File Systems", OSDI 1994, section 2:
// each user copies a directory tree of 535 files, 14.3 MB in total, taken from an author's home
// directory, or removes a fresh copy. Our choices, where the paper says nothing: 27 directories in
// four levels, log-normal sizes (file_tree.h), and a megabyte of 10^6 bytes. The source is on the
// same disk and not cached (`cold`). cp copies 8 KiB at a time (st_blksize in UNIX SVR4), so that
// the reads and writes of a file alternate (`unit-bytes`). The tree is removed directly after it
// has been copied ("newly copied"), so parts of it may be written to the disk during the removal.
// Users are threads instead of processes.
#include <fmt/format.h>

#include <memory>

#include "harness/workload/timed/file_tree.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

std::string source_of(const User& user) {
  return fmt::format("source{}", user.number);
}
std::string copy_of(const User& user) {
  return fmt::format("copy{}", user.number);
}

std::shared_ptr<const FileTree> tree_of(const Arguments& arguments) {
  return std::make_shared<FileTree>(argument(arguments, "files"), argument(arguments, "tree-bytes"),
                                    argument(arguments, "folders"));
}

std::vector<Parameter> tree_parameters() {
  return {
      {"users", 4, 2, 1, 64, "1 and 4 users in the paper"},
      {"files", 535, 100, 1, 100'000, "section 2: 535 in each tree"},
      {"tree-bytes", 14'300'000, 2'000'000, 0, 10'000'000'000, "section 2: 14.3 MB in each tree"},
      {"folders", 27, 9, 1, 1'000, "our choice: 20 files in a folder, four levels"}};
}

Phase make_trees(std::size_t users, const std::shared_ptr<const FileTree>& tree,
                 std::string (*root)(const User&)) {
  return {.name = "prepare",
          .users = users,
          .measured = false,
          .body = [tree, root](User& user) -> PhaseResult {
            FileWork work(user);
            TRY(tree->create(work, root(user), user.number));
            return work.sync();
          }};
}

std::vector<Phase> copy_phases(const Arguments& arguments) {
  const auto tree = tree_of(arguments);
  const std::size_t users = argument(arguments, "users");
  return {make_trees(users, tree, source_of),
          {.name = "copy",
           .users = users,
           .cold = argument(arguments, "cold") != 0,
           .body =
               [tree](User& user) {
                 FileWork work(user, argument(user.arguments, "unit-bytes"));
                 return tree->copy(work, source_of(user), copy_of(user), user.number);
               }},
          {.name = "verify",
           .users = users,
           .measured = false,
           .cold = true,
           .body = [tree](User& user) {
             FileWork work(user);
             return tree->read(work, copy_of(user), user.number);
           }}};
}

std::vector<Phase> remove_phases(const Arguments& arguments) {
  const auto tree = tree_of(arguments);
  const std::size_t users = argument(arguments, "users");
  return {make_trees(users, tree, source_of),
          {.name = "copy",
           .users = users,
           .measured = false,
           .next_at_once = true,
           .body = [tree](User& user) -> PhaseResult {
             FileWork work(user);
             return tree->copy(work, source_of(user), copy_of(user), user.number);
           }},
          {.name = "remove",
           .users = users,
           .cold = argument(arguments, "cold") != 0,
           .body =
               [tree](User& user) {
                 FileWork work(user);
                 return tree->remove(work, copy_of(user), user.number);
               }},
          {.name = "verify", .users = users, .measured = false, .body = [](User& user) {
             FileWork work(user);
             return work.expect_missing(copy_of(user));
           }}};
}

}  // namespace

TimedWorkload n_user_copy() {
  std::vector<Parameter> parameters = tree_parameters();
  parameters.push_back(
      {"cold", 1, 1, 0, 1, "1: the source is read from the disk; not stated in the paper"});
  parameters.push_back(
      {"unit-bytes", 8192, 8192, 512, 1 << 20, "our choice: the unit of cp at the time"});
  return {.name = "n-user-copy",
          .title = "each user copies its own directory tree",
          .source = "Ganger and Patt 1994, section 2, table 1",
          .operation = "files",
          .parameters = parameters,
          .phases = copy_phases};
}

TimedWorkload n_user_remove() {
  std::vector<Parameter> parameters = tree_parameters();
  parameters.push_back(
      {"cold", 0, 0, 0, 1,
       "0: the tree was just written and is still cached, as in \"newly copied\""});
  return {.name = "n-user-remove",
          .title = "each user removes its own directory tree",
          .source = "Ganger and Patt 1994, section 2, table 2",
          .operation = "files",
          .parameters = parameters,
          .phases = remove_phases};
}

}  // namespace headcrash::timed
