#pragma once
// The default job for each benchmark program. The jobs are the same on every machine, and small
// enough for an emulated drive from the nineties.

#include <string>

namespace headcrash::bench {

/// Returns a job with 500 random overwrites of 4 KiB within 8 MiB, each followed by fsync. The job
/// then reads all data back and verifies checksums.
std::string usual_fio_job();
/// Returns a job with the defaults of postmark 1.5: 500 files of 500 bytes to 9.77 KiB, 500
/// transactions.
std::string usual_postmark_job();
/// Returns a loadfile in dbench 4's format: an excerpt, 3 % as long, of the one that the timed
/// workload dbench uses (dbench_load.h). Each client repeats the excerpt until the time limit.
std::string usual_dbench_job();
/// Returns 200 short transactions, similar to those of a phone book or a message store.
std::string usual_sqlite_job();
/// Returns the text of tools/compile.sh.
std::string usual_compile_job();

}  // namespace headcrash::bench
