#pragma once
// A litmus test: one question about the tree after a power cut (README.md).
//
// The files in tests/ contain one table for each test. A test consists of initial operations, the
// operations under test, and an allowed set. The initial operations are followed by a sync. Power
// cuts happen at any point of the operations under test.
//
//   [[test]]
//   number = 40
//   name = "replace-synced"
//   title = "replace a file by rename, fsync before"
//   relies = "Editors and databases replace a file without a moment at which it is missing"
//   initial = ["create f", "write f 0 8192 1 1"]
//   operations = ["create t", "write t 0 8192 2 2", "fsync t", "rename t f"]
//   allowed = ["f is old|new"]
//   promise = "posix"               posix, man, documented, list, literature, de-facto or none
//   source = "rename(2), fsync(2)"
//   broken-by = ["forget 2"]        a defect that the allowed set must detect (seeded_defect.h)
//   [test.promises]                 families of file systems with a different promise
//   nilfs2 = "documented: nilfs2.rst, order=strict"
//   [test.literature]               results of other laboratories, by the name of a file system
//   xfs = "broken: Bornholt et al. 2016, figure 3"
//
// A test without a persistence point ends with "rest 1". This operation flushes nothing, but its
// report shows that the calls before it have returned. A test without fsync ends with "rest 40" and
// "sync". During the rest, the kernel writes old data and metadata in its own order. The sync then
// writes the data that is left, for example on f2fs, which waits longer than 40 s.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/contract/allowed_set.h"
#include "harness/contract/seeded_defect.h"
#include "harness/workload/operation.h"
#include "plugin/base/result.h"

namespace headcrash::contract {

/// Sources of promises, from the strongest to the weakest.
enum class PromiseKind : std::uint8_t {
  posix,
  man,         ///< a manual page
  documented,  ///< documentation of the kernel or of the file system
  list,        ///< a maintainer's statement on a mailing list
  literature,  ///< a paper
  de_facto,    ///< not documented, but applications rely on it
  none,
};
/// Returns the name for tables, such as "POSIX" or "not promised".
std::string_view name(PromiseKind kind);

struct Promise {
  PromiseKind kind = PromiseKind::none;
  std::string source;
};

struct LitmusTest {
  int number = 0;
  std::string name, group, title, relies;
  std::vector<workload::Operation> initial, operations;
  AllowedSet allowed;
  /// The promise of every file system that is not listed in `promises`.
  Promise promise;
  std::map<std::string, Promise> promises;  ///< keyed by the prefix of a file system's name
  /// Published results about a file system, keyed by its name: "kept" or "broken", a colon, and the
  /// source.
  std::map<std::string, std::string, std::less<>> literature;
  SeededDefect defect;

  /// Returns the initial operations, a sync, and the test's own operations.
  std::vector<workload::Operation> whole_list() const;
  /// Returns the number of operations in whole_list() that precede the test's own operations.
  std::size_t offset() const { return initial.size() + 1; }
  /// Converts the index of an operation in whole_list() to its index among the test's own
  /// operations. Returns nullopt for the initial operations and the sync.
  std::optional<std::size_t> own_operation(std::optional<std::size_t> operation) const {
    if (!operation || *operation < offset()) return std::nullopt;
    return *operation - offset();
  }
  const Promise& promise_of(std::string_view filesystem) const;
  /// Returns the entry of `literature`, or an empty string.
  std::string literature_on(std::string_view filesystem) const;
  /// Returns the test with fsyncs of all its initial files and directories at the end of `initial`.
  /// They make the initial state durable on a file system that sync(2) does not reach
  /// (Promises::sync_waits).
  LitmusTest with_initial_fsyncs() const;
};

/// Parses the tests in a file. Errors name the file, the test and the key.
Result<std::vector<LitmusTest>> parse_tests(std::string_view text, const std::string& file_name,
                                            const std::string& group);

/// Returns all built-in tests in number order. Fails if a test is invalid; a unit test checks that
/// none is.
Result<std::vector<LitmusTest>> all_tests();

/// Selects tests by number, name or group, in number order; selects all tests if `words` is empty.
/// Fails if a word matches no test, with a hint that suggests a similar name.
Result<std::vector<LitmusTest>> select_tests(std::span<const std::string> words);

/// Returns the tests that best match free text, best first, at most `most`. A test matches if at
/// least one word of the text occurs in its name, title, group, operations or reason.
std::vector<LitmusTest> find_tests(std::string_view text, std::size_t most);

}  // namespace headcrash::contract
