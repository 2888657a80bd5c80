#pragma once
// What an oracle holds, for those who judge by it.

#include "harness/crash/history.h"
#include "harness/crash/lone_names.h"
#include "harness/crash/oracle.h"

namespace headcrash::crash {

struct Oracle::History {
  WorkloadHistory workload;
  adapters::Promises promises;
  LoneNames lone_names;
};

}  // namespace headcrash::crash
