#pragma once
// A load for the dbench player: what one client of a file server does, one operation after the
// other.
//
// dbench plays what a network sniffer saw of a NetBench run; its load file is not ours to ship.
// This one is generated and has the same number of operations of each kind as client_plain.txt of
// dbench 1.x (122 808; the one that Soares, Krieger and Da Silva used, section IV-E), the same
// bytes read and written, and as many large transfers of 64 KiB among them. What is ours: which
// file is used when. Operations of a file come in sessions (open, queries, transfers, flush, close)
// that do not overlap:
//
//   create sessions   a new file is written; one in 34 is large (up to two megabytes), the others some 15 KB
//   use sessions      a file is read, the large ones in large pieces
//   between them      look-ups, listings, renames, removals, opens of names that are not there

#include <cstdint>
#include <string>
#include <vector>

namespace headcrash::timed {

enum class DbenchKind : std::uint8_t {
  create,   ///< NTCreateX of a new file
  open,     ///< NTCreateX of one that exists
  missing,  ///< NTCreateX of one that does not
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
  std::uint32_t number = 0, renames = 0;  ///< of the file; `renames` tells its present name
  std::uint32_t offset = 0, length = 0;
};

struct DbenchLoad {
  std::vector<DbenchOperation> operations;
  std::vector<DbenchFile> left;  ///< the files at its end
};

inline constexpr std::uint32_t kDbenchFolders = 6;

/// `percent` of the counts; 100 is the whole load. The same load for every seed.
DbenchLoad dbench_load(std::uint64_t percent);

}  // namespace headcrash::timed
