#pragma once
// What things cost on a modelled processor, and the names by which the processor counts them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "fs-adapters/substrate/os/clock.h"

namespace headcrash::os {

/// What a machine and its kernel below file systems cost, nanoseconds each. All zero: nothing does.
struct MachineCosts {
  TimeNs system_call = 0;   ///< entry, exit, argument checks
  TimeNs copy_per_kib = 0;  ///< block to block (-CB)
  TimeNs transfer_per_kib =
      0;  ///< between a process and the cache: copy, and the pages' mapping and faults
  TimeNs clear_per_kib = 0;    ///< zeroes
  TimeNs buffer_found = 0;     ///< a block asked of the cache
  TimeNs request_issued = 0;   ///< through the driver
  TimeNs interrupt = 0;        ///< a request's completion
  TimeNs process_created = 0;  ///< fork, exec and exit: for workloads of commands
};

/// What the steps of a file system cost on that machine: a table for each kind of file system that
/// is compared, over the same MachineCosts.
struct FileSystemCosts {
  TimeNs path_component = 0;   ///< of a lookup, without looking through the directory
  TimeNs directory_entry = 0;  ///< looked at while a name is searched linearly
  TimeNs name_changed = 0;     ///< an entry that is made, removed or given to another file
  TimeNs inode_changed = 0;    ///< in-core inode copied to its block
  TimeNs allocation = 0;       ///< of a block or an inode: search of a bitmap
  TimeNs dependency = 0;       ///< a structure of soft updates made, satisfied or undone
};

/// Both, as a processor charges them.
struct CpuCosts : MachineCosts, FileSystemCosts {};

/// Each of them, in the order of the tables: the processor counts what it charges by these names.
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

/// `amount` times what costs so much; bytes, where the cost is one for each KiB.
struct Charge {
  Cost cost;
  std::int64_t amount = 1;
};

constexpr TimeNs price_of(const CpuCosts& costs, const Charge& charge) {
  constexpr std::int64_t kKib = 1024;
  const TimeNs whole = charge.amount * (costs.*kCosts[static_cast<std::size_t>(charge.cost)]);
  return is_per_kib(charge.cost) ? whole / kKib : whole;
}

/// What has been charged: the amounts of each cost.
using Charged = std::array<std::int64_t, kCostCount>;

}  // namespace headcrash::os
