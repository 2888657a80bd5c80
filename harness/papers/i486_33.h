#pragma once
// The costs of operations on one i486 at 33 MHz: a documented estimate. The machines of other
// papers use multiples of these costs (scaled_costs), and a modelled machine uses them by default.
//
// This table is an older calibration to the machine of Ganger and Patt 1994, an NCR 3433 with UNIX
// SVR4 MP. It uses two of the 14 CPU times in the paper. The experiment on that paper has a
// separate table, which is fitted to all 14 times (ganger94/ncr3433.h). All other machines use this
// table: none of them is an NCR 3433, their factors were chosen for this table, and their numbers
// remain comparable with earlier ones. We measured the following counts in simulations with four
// users. Counts are in thousands:
//
//            system calls  components  blocks asked  inodes  allocations  requests  KiB    CPU time
//   copy         30.1         26.5        107.5        6.6      17.7        15.7    111.7    68.4 s
//   remove        2.4          7.8         36.6        4.5      17.7         0.3      0       7.4 s
//   remove with Soft Updates, only the work charged to the users
//                 2.4          7.8         19.0        0         0           0.05     0       5.6 s
//
//   request    Conventional minus No Order: table 2, (12.68 - 7.44) s / 4 322 = 1.2 ms; table 1
//              with initialization, (82.4 - 72.8) s / 15 344 = 0.6 ms, and for Flag 1.1 ms. Result:
//              1.0 ms for issue, two switches and a share of the interrupts
//   remove     two sums. Soft Updates delays the freeing, so names take 5.6 s, and blocks and
//              inodes take the other 1.8 s. 7.8 x 560 us + 19.0 x 40 us + 2.4 x 100 us + 0.2 s for
//              dependencies = 5.6 s, where a path component includes the work of rm for a file;
//              17.6 x 40 us + 17.7 x 40 us + 4.5 x 100 us = 1.9 s
//   transfer   from copy: 68.4 s minus all costs except those of bytes, divided by 111.7 thousand
//              KiB
//   dependency Soft Updates minus No Order in table 1: 1.2 s for 2 140 creations with about five
//              structures each

#include "fs-adapters/substrate/os/cpu.h"

namespace headcrash::experiment {

/// Costs that depend on the machine and its kernel.
inline constexpr os::MachineCosts kI486At33MhzMachine{
    // Estimate: 3 300 cycles to trap, copy the arguments and dispatch.
    .system_call = 100 * model::kMicrosecondNs,
    // Estimate: memory in 1993 copied 15 MB per second.
    .copy_per_kib = 66 * model::kMicrosecondNs,
    // Calibrated (transfer): 1.05 ms for a page of 4 KiB. Most of this time is for the mapping and
    // the page fault, not for the copy.
    .transfer_per_kib = 263 * model::kMicrosecondNs,
    // Estimate: clearing takes half as long as copying.
    .clear_per_kib = 33 * model::kMicrosecondNs,
    // Calibrated (remove): 1 300 cycles to search the hash chain, lock the buffer and update the
    // list.
    .buffer_found = 40 * model::kMicrosecondNs,
    // Calibrated (request).
    .request_issued = 1000 * model::kMicrosecondNs,
    // Estimate: 6 600 cycles, which are not charged to any user.
    .interrupt = 200 * model::kMicrosecondNs,
    // Estimate; no workload of the experiment creates processes.
    .process_created = 20 * model::kMillisecondNs,
};

/// The costs of the file system, which is the UFS of SVR4 with the paper's additions.
inline constexpr os::FileSystemCosts kI486At33MhzUfs{
    // Calibrated (remove). Covers copying the name, finding and locking the inode, and the related
    // work of the program.
    .path_component = 560 * model::kMicrosecondNs,
    // Estimate: 30 cycles to compare the length and the first bytes of a name.
    .directory_entry = 900,
    // Estimate: copying 128 bytes, and locking the block.
    .inode_changed = 100 * model::kMicrosecondNs,
    // Calibrated (remove).
    .allocation = 40 * model::kMicrosecondNs,
    // Calibrated (dependency).
    .dependency = 110 * model::kMicrosecondNs,
};

inline constexpr os::CpuCosts kI486At33Mhz{kI486At33MhzMachine, kI486At33MhzUfs};

/// Returns all costs multiplied by `times`. Used for the machines of other papers.
constexpr os::CpuCosts scaled_costs(const os::CpuCosts& costs, double times) {
  const auto scaled = [times](os::TimeNs ns) {
    const double exact = static_cast<double>(ns) * times;
    const auto whole = static_cast<os::TimeNs>(exact);
    // Rounds without std::lround, which is not constexpr.
    return exact - static_cast<double>(whole) < 0.5 ? whole : whole + 1;
  };
  return {{.system_call = scaled(costs.system_call),
           .copy_per_kib = scaled(costs.copy_per_kib),
           .transfer_per_kib = scaled(costs.transfer_per_kib),
           .clear_per_kib = scaled(costs.clear_per_kib),
           .buffer_found = scaled(costs.buffer_found),
           .request_issued = scaled(costs.request_issued),
           .interrupt = scaled(costs.interrupt),
           .process_created = scaled(costs.process_created)},
          {.path_component = scaled(costs.path_component),
           .directory_entry = scaled(costs.directory_entry),
           .name_changed = scaled(costs.name_changed),
           .inode_changed = scaled(costs.inode_changed),
           .allocation = scaled(costs.allocation),
           .dependency = scaled(costs.dependency)}};
}

}  // namespace headcrash::experiment
