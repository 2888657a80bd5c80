#pragma once
// The state of an oracle, for code that judges with it.

#include "harness/oracle/history.h"
#include "harness/oracle/lone_names.h"
#include "harness/oracle/oracle.h"

namespace headcrash::oracle {

struct Oracle::History {
  WorkloadHistory workload;
  adapters::Promises promises;
  LoneNames lone_names;
};

}  // namespace headcrash::oracle
