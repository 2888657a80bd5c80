#pragma once
// What things cost on the machine of Ganger and Patt 1994: an NCR 3433, one i486 at 33 MHz, UNIX SVR4 MP.
//
// The paper prints no cost of a single thing, but what whole benchmarks cost: the CPU columns of its tables 1
// and 2 (seconds, summed over four users). The table below is made from those columns once and serves every
// cell; nothing in it was changed for a figure or an elapsed time. With n of what our own runs count:
//
//   request    table 1, Conventional less No Order: 72.8 - 68.4 = 4.4 s for 36 075 - 31 574 = 4 501 requests
//              table 2, likewise: 12.68 - 7.44 = 5.24 s for 4 600 - 278 = 4 322 requests
//              so 1.0 to 1.2 ms a request that somebody waits for: issue, interrupt, two switches, and the
//              copy of an inode to its block before it
//   removal    table 2, No Order: 7.44 s for 2 140 files and 108 folders, 3.3 ms each, nearly without requests:
//              system call, four or five components, inode, two or three bitmaps
//   dependency table 1, Soft Updates less No Order, no initialization: 69.6 - 68.4 = 1.2 s for 2 140 creations
//              with about five structures each
//   copy       what remains of table 1's 68.4 s: 114.4 MB in and out of the cache, in 28 000 blocks
//
// The columns' own spread is 10 %.

#include "fs-adapters/os/cpu.h"

namespace headcrash::experiment {

inline constexpr os::CpuCosts kI486At33Mhz{
    // Estimate: trap, copy of arguments and dispatch, some 3 300 cycles.
    .system_call = 100 * model::kMicrosecondNs,
    // Table 2, removal.
    .path_component = 150 * model::kMicrosecondNs,
    // Estimate: 30 cycles to look at a name's length and first bytes.
    .directory_entry = 900,
    // Table 1, copy: page found or made, mapped, its fault served.
    .buffer_found = 500 * model::kMicrosecondNs,
    // Estimate: 64-bit memory of 1993 copies some 15 MB a second.
    .copy_per_kib = 66 * model::kMicrosecondNs,
    // Estimate: half of a copy.
    .clear_per_kib = 33 * model::kMicrosecondNs,
    // Tables 1 and 2, request: two thirds of 1.0 ms ...
    .request_issued = 600 * model::kMicrosecondNs,
    // ... and one third.
    .interrupt = 300 * model::kMicrosecondNs,
    // Tables 1 and 2, request.
    .inode_changed = 100 * model::kMicrosecondNs,
    // Table 2, removal.
    .allocation = 400 * model::kMicrosecondNs,
    // Table 1, dependency.
    .dependency = 110 * model::kMicrosecondNs,
    // Estimate; no workload of the experiment forks.
    .process_created = 20 * model::kMillisecondNs,
};

}  // namespace headcrash::experiment
