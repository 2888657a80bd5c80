#pragma once
// A job of fio's is looked at before anything is started: by fio itself, where this machine has it.

#include <string>

#include "plugin/base/result.h"

namespace headcrash::bench {

/// `subject`: the job's file or key. Errors: what fio says of the first line that it does not take. A machine
/// without fio takes everything: the guest's error says the same, later.
Result<void> check_fio_job(const std::string& job, const std::string& subject);

}  // namespace headcrash::bench
