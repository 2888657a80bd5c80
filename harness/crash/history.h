#pragma once
// What the oracle remembers of a workload: states and persistence points of every name and file (oracle.h).

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::crash {

using ObjectId = std::size_t;  ///< index into WorkloadHistory::objects

/// How strongly a persistence point covers a name.
enum class NameTier : std::uint8_t { posix, documented };

struct Binding {
  std::size_t operation;           ///< the operation that made it
  std::optional<ObjectId> object;  ///< nothing: the name was removed
  bool by_rename = false;
};
struct NameCover {
  std::size_t operation;
  NameTier tier;
};
struct NameHistory {
  std::vector<Binding> bindings;  ///< before the first: the name does not exist
  std::vector<NameCover> covers;
};

struct WriteRecord {
  std::size_t operation;
  std::uint64_t first_block, blocks;
  std::uint32_t version;
};
struct ObjectHistory {
  bool directory = false;
  std::size_t made_by = 0;
  std::uint32_t file = 0;  ///< its number in stamps; 0 before the first write
  std::vector<WriteRecord> writes;
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;  ///< (operation, bytes), rising
  std::vector<std::size_t> covers;                           ///< fsync of it, sync
  std::optional<std::size_t> gone_by;                        ///< the operation that removed its last name
};

struct WorkloadHistory {
  std::vector<ObjectHistory> objects;
  std::map<std::string, NameHistory> names;  ///< by full path
  std::vector<std::size_t> persistence_points;
  std::size_t operations = 0;
};

struct HistoryOptions {
  bool fsync_keeps_name = false;
};
Result<WorkloadHistory> follow_operations(std::span<const workload::Operation> operations,
                                          const HistoryOptions& options);

}  // namespace headcrash::crash
