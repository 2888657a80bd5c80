#pragma once
// Costs of operations on a modelled processor, and the names under which they are counted.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "fs-adapters/substrate/os/clock.h"

namespace headcrash::os {

/// Costs of a machine, and of the part of its kernel that is below the file systems, in
/// nanoseconds. Zero by default.
struct MachineCosts {
  TimeNs system_call = 0;   ///< entry, exit and argument checks
  TimeNs copy_per_kib = 0;  ///< copying between buffers (-CB)
  /// Transfer between a process and the cache: copying, page mapping and page faults.
  TimeNs transfer_per_kib = 0;
  TimeNs clear_per_kib = 0;    ///< zero-filling
  TimeNs buffer_found = 0;     ///< a cache lookup
  TimeNs request_issued = 0;   ///< driver's work for one request
  TimeNs interrupt = 0;        ///< completion of a request
  TimeNs process_created = 0;  ///< fork, exec and exit, for workloads that run commands
};

/// Costs of file system operations on the machine that a MachineCosts describes. In a comparison,
/// each kind of file system has its own FileSystemCosts; all share one MachineCosts.
struct FileSystemCosts {
  TimeNs path_component = 0;   ///< one component of a path, without the directory search
  TimeNs directory_entry = 0;  ///< one entry in a linear search for a name
  TimeNs name_changed = 0;     ///< adding, removing or redirecting a directory entry
  TimeNs inode_changed = 0;    ///< copying an in-core inode to its block
  TimeNs allocation = 0;       ///< search of a bitmap for a free block or inode
  TimeNs dependency = 0;       ///< creating, satisfying or undoing a soft-updates dependency
};

struct CpuCosts : MachineCosts, FileSystemCosts {};

/// Names of the costs, in the order of the tables.
enum class Cost : std::uint8_t {
  system_call,
  copy_per_kib,
  transfer_per_kib,
  clear_per_kib,
  buffer_found,
  request_issued,
  interrupt,
  process_created,
  path_component,
  directory_entry,
  name_changed,
  inode_changed,
  allocation,
  dependency
};
inline constexpr TimeNs CpuCosts::* kCosts[] = {
    &CpuCosts::system_call,     &CpuCosts::copy_per_kib,    &CpuCosts::transfer_per_kib,
    &CpuCosts::clear_per_kib,   &CpuCosts::buffer_found,    &CpuCosts::request_issued,
    &CpuCosts::interrupt,       &CpuCosts::process_created, &CpuCosts::path_component,
    &CpuCosts::directory_entry, &CpuCosts::name_changed,    &CpuCosts::inode_changed,
    &CpuCosts::allocation,      &CpuCosts::dependency};
inline constexpr std::size_t kCostCount = std::size(kCosts);
static_assert(static_cast<std::size_t>(Cost::dependency) + 1 == kCostCount);

constexpr bool is_per_kib(Cost cost) {
  return cost == Cost::copy_per_kib || cost == Cost::transfer_per_kib ||
         cost == Cost::clear_per_kib;
}

/// A cost, and how often it is charged. If the cost is per KiB, `amount` is a number of bytes.
struct Charge {
  Cost cost;
  std::int64_t amount = 1;
};

constexpr TimeNs price_of(const CpuCosts& costs, const Charge& charge) {
  constexpr std::int64_t kKib = 1024;
  const TimeNs whole = charge.amount * (costs.*kCosts[static_cast<std::size_t>(charge.cost)]);
  return is_per_kib(charge.cost) ? whole / kKib : whole;
}

/// For each cost, the total of Charge::amount.
using Charged = std::array<std::int64_t, kCostCount>;

}  // namespace headcrash::os
