#pragma once
// What things cost on the machine of the paper: an NCR 3433, one i486 at 33 MHz, UNIX SVR4 MP.
//
// The paper prints no cost of a single thing, but 14 CPU times of whole benchmarks: those of tables
// 1 and 2. `headcrash experiment ganger94/costs` counts how often our runs pay each cost, fits the
// costs to all 14 times at once (cost_fit.h), and prints them beside these, and what is left
// between the times. The fit is made from runs with these costs: it was repeated until it gave what
// it was run with (the counts hardly depend on them). No elapsed time and no figure is an input.
//
// What a user is charged for and no printed time tells apart is where the estimates decide
// (costs.cc). Other papers' machines are the older estimate (i486_33.h), by a factor.

#include "harness/papers/i486_33.h"

namespace headcrash::experiment::ganger94 {

inline constexpr os::CpuCosts kNcr3433{{
                                           .system_call = 101'200,
                                           .copy_per_kib = 130'700,
                                           .transfer_per_kib = 208'900,
                                           .clear_per_kib = kI486At33MhzMachine.clear_per_kib,
                                           .buffer_found = 59'100,
                                           .request_issued = 996'800,
                                           .interrupt = kI486At33MhzMachine.interrupt,
                                           .process_created = kI486At33MhzMachine.process_created,
                                       },
                                       {
                                           .path_component = 100'900,
                                           .directory_entry = 900,
                                           .name_changed = 1'370'400,
                                           .inode_changed = 103'300,
                                           .allocation = 43'300,
                                           .dependency = 57'100,
                                       }};

}  // namespace headcrash::experiment::ganger94
