#pragma once
// The functions that generate the workloads of each family (families.h). The same number always
// gives the same list.

#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

// Defined in families_of_space.cc.
std::vector<Operation> reuse(std::uint64_t number);
std::vector<Operation> nearly_full(std::uint64_t number);
std::vector<Operation> crumbs(std::uint64_t number);
std::vector<Operation> no_room(std::uint64_t number);
std::vector<Operation> full_users(std::uint64_t number);
std::vector<Operation> edges(std::uint64_t number);
std::vector<Operation> last_blocks(std::uint64_t number);
std::vector<Operation> holes(std::uint64_t number);
std::vector<Operation> truncation(std::uint64_t number);
std::vector<Operation> indirect(std::uint64_t number);
std::vector<Operation> fragments(std::uint64_t number);
std::vector<Operation> regrowth(std::uint64_t number);
std::vector<Operation> overwrites(std::uint64_t number);

// Defined in families_of_names.cc.
std::vector<Operation> directories(std::uint64_t number);
std::vector<Operation> renames(std::uint64_t number);
std::vector<Operation> exchanges(std::uint64_t number);
std::vector<Operation> long_renames(std::uint64_t number);
std::vector<Operation> moves(std::uint64_t number);
std::vector<Operation> replacements(std::uint64_t number);
std::vector<Operation> large_directories(std::uint64_t number);
std::vector<Operation> journal_wrap(std::uint64_t number);
std::vector<Operation> open_files(std::uint64_t number);
std::vector<Operation> crowded(std::uint64_t number);

// Defined in families_of_users.cc.
std::vector<Operation> paths(std::uint64_t number);
std::vector<Operation> open_users(std::uint64_t number);
std::vector<Operation> syncs(std::uint64_t number);
std::vector<Operation> fsyncs(std::uint64_t number);
std::vector<Operation> appends(std::uint64_t number);
std::vector<Operation> rests(std::uint64_t number);

}  // namespace headcrash::workload
