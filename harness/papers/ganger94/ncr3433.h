#pragma once
// The costs of operations on the paper's machine, an NCR 3433 with one i486 at 33 MHz and UNIX SVR4
// MP.
//
// The paper does not give costs of single operations, but tables 1 and 2 contain 14 CPU times of
// whole benchmarks. `headcrash experiment ganger94/costs` counts the operations of our runs, fits
// the costs to all 14 times at once (cost_fit.h), and prints the times and costs with the
// residuals. The runs must use the costs that the fit produces, so the fit was repeated until its
// output equalled its input (the counts hardly depend on the costs). Elapsed times and figures are
// not inputs.
//
// Where no printed time separates two costs, estimates decide the division between them (costs.cc).
// The machines of other papers use multiples of the older estimate (i486_33.h).

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
