#pragma once
// The allowed set of a litmus test: rows that the recovered tree must fulfil.
//
//   ROW    = [ "synced:" | "synced NUMBER:" ] [ "if" FACT { "and" FACT } "then" ] FACT {"or" FACT}
//   FACT   = PATH "exists"              PATH "absent"
//          | PATH "is" STATES [ "of" PATH ]      type, size, content, target
//          | PATH "size" STATES          PATH "target" STATES
//          | PATH "mode" STATES          PATH "mtime" STATES          PATH "attributes" STATES
//          | PATH "reserved" STATES      at least the space that fallocate had allocated
//          | PATH "begins" STATES        the content is a prefix of the content in that state
//          | PATH "mixes" BYTES          each aligned unit, and the size, is old or new
//          | PATH "own"                  every block is zeroes or was written to this file
//   STATES = STATE { "|" STATE }
//   STATE  = "old" | "new" | "any" | NUMBER
//
// A state is the tree after some operations of the test, without a power cut. "old" is the tree
// before the first operation, NUMBER is the tree after that many operations, and "new" is the tree
// after all operations. "any" stands for all of these. A path that is missing in a state must also
// be missing in the recovered tree. If an object has different paths in the recovered tree and in
// the state, "of" gives its path in the state.
//
// A row with "synced:" applies only if the last persistence point of the test was reported before
// the cut. A row with "synced NUMBER:" applies only if the persistence point that is operation
// NUMBER, counted from 1, was reported before the cut. Other rows apply to every cut.
//
// Rows are independent of the promises by which the oracle judges (fs-adapters/promises.h). A test
// asks the same question of every file system, whatever the file system promises.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"
#include "plugin/base/result.h"

namespace headcrash::contract {

using Tree = std::vector<oracle::ObservedObject>;

struct Fact {
  enum class Kind : std::uint8_t {
    exists,
    absent,
    is,
    size,
    target,
    mode,
    mtime,
    attributes,
    reserved,
    begins,
    mixes,
    own,
  };
  Kind kind = Kind::exists;
  std::string path;
  /// Path of the object with which the recovered object is compared, in the state's tree. It equals
  /// `path`, unless the row specifies "of PATH".
  std::string source;
  std::vector<std::size_t> states;  ///< each number N stands for the tree after N operations
  std::uint64_t unit = 0;           ///< size of a unit in bytes, in a row with "mixes"
};

struct Row {
  std::string text;
  /// If set, the row applies only if this operation of the test (counted from 0) was reported
  /// before the cut.
  std::optional<std::size_t> synced;
  std::vector<Fact> conditions;    ///< the row applies only if all of these hold
  std::vector<Fact> alternatives;  ///< at least one of these must hold
};

/// Limits for the operation numbers that a row contains.
struct RowLimits {
  std::size_t operations = 0;
  /// The test's last persistence point, as an operation number counted from 0.
  std::optional<std::size_t> last_persistent;
};

/// Parses a row. Error messages begin with `subject` and quote the wrong word.
Result<Row> parse_row(const std::string& text, const RowLimits& limits, const std::string& subject);

class AllowedSet {
 public:
  AllowedSet() = default;
  /// `states[N]` is the tree after N operations of the test.
  AllowedSet(std::vector<Row> rows, std::vector<Tree> states)
      : rows_(std::move(rows)), states_(std::move(states)) {}

  /// Returns a finding for each row that the tree violates. `persisted` is the last operation in
  /// the test that is known to be persistent. Trees need not be sorted.
  std::vector<oracle::Finding> judge(std::optional<std::size_t> persisted, const Tree& tree) const;

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Tree>& states() const { return states_; }

 private:
  bool holds(const Fact& fact, const Tree& tree) const;
  bool holds_in(const Fact& fact, std::size_t state, const oracle::ObservedObject* found) const;
  bool mixes(const Fact& fact, const oracle::ObservedObject* found) const;

  std::vector<Row> rows_;
  std::vector<Tree> states_;
};

/// Describes an object in a few words: "8192 bytes: 4096 zeroes, version 1", "absent".
std::string describe(const oracle::ObservedObject* object);
/// Returns the object with this path, or null.
const oracle::ObservedObject* find_object(const Tree& tree, std::string_view path);

}  // namespace headcrash::contract
