#pragma once
// A load for the dbench player: the operations of one client of a file server, in order.
//
// dbench replays a network trace of a NetBench run. Its load file cannot be distributed here, so
// this load is generated. The totals equal those of client_plain.txt of dbench 1.x (122 808
// operations; used by Soares, Krieger and Da Silva, section IV-E): the number of operations of each
// kind, the bytes read and written, and the number of 64 KiB transfers. Which file each operation
// uses is our choice. The operations on a file form sessions (open, queries, transfers, flush,
// close), which do not overlap:
//
//   create sessions   write a new file; one in 34 is large (up to two megabytes), the others about
//                     15 KB
//   use sessions      read a file; large files are read in large pieces
//   between sessions  look-ups, listings, renames, removals, opens of missing files

#include <cstdint>
#include <string>
#include <vector>

namespace headcrash::timed {

enum class DbenchKind : std::uint8_t {
  create,   ///< NTCreateX for a new file
  open,     ///< NTCreateX for an existing file
  missing,  ///< NTCreateX for a missing file
  close,
  read,
  write,
  flush,
  unlink,
  rename,
  list,         ///< FIND_FIRST
  query_path,   ///< QUERY_PATH_INFORMATION
  query_file,   ///< QUERY_FILE_INFORMATION
  query_space,  ///< QUERY_FS_INFORMATION
};
inline constexpr std::size_t kDbenchKinds = 13;

struct DbenchFile {
  std::uint32_t number = 0, renames = 0;
  std::uint64_t bytes = 0;
  bool large = false;
};

struct DbenchOperation {
  DbenchKind kind{};
  /// `renames` is the number of times that the file has been renamed. Its current name contains
  /// this number.
  std::uint32_t number = 0, renames = 0;
  std::uint32_t offset = 0, length = 0;
};

struct DbenchLoad {
  std::vector<DbenchOperation> operations;
  std::vector<DbenchFile> left;  ///< files that exist after the last operation
};

inline constexpr std::uint32_t kDbenchFolders = 6;

/// Returns the load. All totals are scaled to `percent` per cent. The load does not depend on a
/// seed.
DbenchLoad dbench_load(std::uint64_t percent);

}  // namespace headcrash::timed
