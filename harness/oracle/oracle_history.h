#pragma once
// The internal state of an oracle, for other classes that judge with an existing oracle.

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
