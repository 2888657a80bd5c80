#pragma once
// The table of operations: one row for each keyword of the operation language (operation.h). A row
// contains everything about an operation except the code that executes it (execute.cc) and its
// effect on names (draft.cc) and on the oracle's history.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "harness/workload/operation.h"

namespace headcrash::workload {

/// The objects that a correct file system needs to execute an operation. Draft checks
/// this.
enum class Precondition : std::uint8_t {
  nothing,
  new_name,             ///< the path can be created
  file,                 ///< a regular file
  range_in_file,        ///< a regular file that contains the range
  range_before_end,     ///< a regular file that continues behind the range
  offset_in_file,       ///< a regular file that continues behind the offset, with space for more
  whole_stamps,         ///< a regular file whose size is a multiple of a stamp
  two_ranges,           ///< a range of one file that another file can share
  file_or_directory,    ///< a regular file or a directory, but not the root
  syncable,             ///< a regular file, or an open directory
  directory,            ///< a directory
  empty_directory,      ///< an empty directory, but not the root
  no_directory,         ///< an object that is not a directory
  linkable,             ///< a file that can get another name, and a target that can be created
  rename,               ///< names that rename() accepts
  attribute_holder,     ///< a file or directory
  attribute,            ///< an object that has the attribute
  free_descriptor,      ///< an unused "%NAME"
  file_to_open,         ///< as file_or_directory, with an unused "%NAME"
  no_open_file,         ///< no file is open
  subvolume_to_copy,    ///< a subvolume, and a target that can be created
  subvolume_to_remove,  ///< a subvolume without nested subvolumes, but not the root
};

/// Properties of an operation, as bits.
enum Trait : std::uint16_t {
  kPersists = 1 << 0,         ///< may promise persistence (is_persistence_point)
  kAcceptsOpenFile = 1 << 1,  ///< accepts "%NAME" instead of a path
  kAnyByte = 1 << 2,          ///< ranges may begin and end at any byte, not only at a stamp
  kBypassesCache = 1 << 3,    ///< writes with O_DIRECT
  kAcceptsRoot = 1 << 4,      ///< accepts the root
  kChangesNames = 1 << 5,     ///< changes names
  kMovesBlocks = 1 << 6,      ///< moves the rest of the file
  kSharesBlocks = 1 << 7,     ///< uses two files, which share blocks afterwards
  kWholeSystem = 1 << 8,      ///< applies to the whole file system, so any thread may execute it
  kByteVersion = 1 << 9,      ///< the shell command writes the version as a byte
  kTwoNames = 1 << 10,        ///< path and target are both names of the thread that executes it
};

struct OperationRow {
  Operation::Kind kind;
  std::string_view name;
  /// One letter for each argument: p path, t target, a attribute, x value, o offset, l length, q
  /// offset in the target, f file, v version, m mode, u user, g group, s seconds, k kind of node, i
  /// inode flags, j project, c kind of crash.
  std::string_view signature;
  Precondition precondition;
  unsigned traits;
  /// The command of a reproduction script (harness/explorer/reproduce). "{o}" denotes the argument
  /// with the letter o, and "{e}" the end of the range. Paths are quoted. A text that begins with
  /// '!' is the reason why there is no such command. If empty, workload_script.cc has the command.
  std::string_view shell;

  bool has(Trait trait) const { return (traits & trait) != 0; }
};

std::span<const OperationRow> operation_rows();
const OperationRow& row_of(Operation::Kind kind);

/// Formats the argument with this letter, as format() does.
std::string format_argument(char letter, const Operation& operation);

}  // namespace headcrash::workload
