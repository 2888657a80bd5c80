#pragma once
// What a benchmark program is asked to do when the user says nothing: one job each, small enough
// for an emulated drive of the nineties, the same on every machine.

#include <string>

namespace headcrash::bench {

/// 500 overwrites of 4 KiB at random in 8 MiB, each fsynced, then all of it read back and its
/// checksums compared.
std::string usual_fio_job();
/// postmark 1.5's own numbers: 500 files of 500 bytes to 9.77 KiB, 500 transactions.
std::string usual_postmark_job();
/// 3 % of the generated load of the timed workload dbench (dbench_load.h), in the words of dbench
/// 4. A client begins it again until the time is over.
std::string usual_dbench_job();
/// 200 short transactions, as a telephone book or a message store has them.
std::string usual_sqlite_job();
/// tools/compile.sh
std::string usual_compile_job();

}  // namespace headcrash::bench
