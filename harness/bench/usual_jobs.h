#pragma once
// The default job of each benchmark program. They are small enough for an emulated drive of the
// nineties, and equal on every machine.

#include <string>

namespace headcrash::bench {

/// Returns a job with 500 random overwrites of 4 KiB in 8 MiB, each synced with fsync. All data is
/// then read back and its checksums are verified.
std::string usual_fio_job();
/// Returns the defaults of postmark 1.5: 500 files of 500 bytes to 9.77 KiB, 500 transactions.
std::string usual_postmark_job();
/// Returns 3 % of the generated load of the timed workload dbench (dbench_load.h), in the format of
/// dbench 4. A client restarts it until the time is over.
std::string usual_dbench_job();
/// Returns 200 short transactions, like those of a telephone book or a message store.
std::string usual_sqlite_job();
/// Returns tools/compile.sh.
std::string usual_compile_job();

}  // namespace headcrash::bench
