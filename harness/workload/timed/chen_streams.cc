// Reads one file while another is written.
//
// Source: Chen, "Optimizing Delay in Delayed-Write File Systems", 1996, section 6. Rule 2: a file
// of 120 MB is read while another one of 120 MB is written, both sequentially in units of 1 MB; the
// total throughput is measured. Rule 3 and figure 3: a file of 120 MB is read at the speed of the
// disk while a file of 60 MB is rewritten repeatedly at 10 MB/s, so that data lives for 6 seconds.
// Our choices: a megabyte is 2^20 bytes; the data that is read is not cached; the writer in rule 3
// stops when the reader has finished, and opens its file only once.
//
// Each pass of the writer writes different contents. The phase may end in the middle of a pass.
// When the file is verified, it must therefore have new contents up to some unit, and old contents
// after it.
#include <algorithm>
#include <memory>

#include "harness/workload/timed/file_work.h"
#include "harness/workload/timed/workloads.h"

namespace headcrash::timed {
namespace {

constexpr std::size_t kMib = 1 << 20;
constexpr std::uint64_t kKib = 1 << 10;

TimedFile input_file(const Arguments& arguments) {
  return {.path = "input", .number = 1, .bytes = argument(arguments, "read-kib") * kKib};
}
TimedFile output_file(const Arguments& arguments) {
  return {.path = "output", .number = 2, .bytes = argument(arguments, "write-kib") * kKib};
}

/// Reads or writes the whole file. Each unit counts as one operation.
PhaseResult stream(FileWork& work, const TimedFile& file, bool write) {
  const OpenOptions options{.create = write, .exclusive = write};
  return work.with_open(
      file, options, write ? "create" : "open", [&](FileHandle handle) -> PhaseResult {
        for (std::uint64_t offset = 0; offset < file.bytes; offset += kMib) {
          const std::uint64_t piece = std::min<std::uint64_t>(kMib, file.bytes - offset);
          const auto done = work.operation([&] {
            return write ? work.write_at(handle, file, offset, piece)
                         : work.read_at(handle, file, offset, piece);
          });
          if (!done) return done;
        }
        return {};
      });
}

Phase make_input() {
  return {.name = "prepare", .measured = false, .body = [](User& user) -> PhaseResult {
            FileWork work(user, kMib);
            TRY(work.create(input_file(user.arguments)));
            return work.sync();
          }};
}

std::vector<Phase> rule_2_phases(const Arguments&) {
  const auto both = [](User& user) {
    FileWork work(user, kMib);
    const bool writes = user.number == 1;
    return stream(work, writes ? output_file(user.arguments) : input_file(user.arguments), writes);
  };
  const auto verify = [](User& user) {
    FileWork work(user, kMib);
    return work.read(output_file(user.arguments));
  };
  return {make_input(),
          {.name = "read-and-write", .users = 2, .cold = true, .body = both},
          {.name = "verify", .measured = false, .cold = true, .body = verify}};
}

/// Rewrites the file until `over` is true. Writes no unit before its scheduled time.
PhaseResult rewrite(User& user, const std::atomic<bool>& over) {
  FileWork work(user, kMib);
  TimedFile file = output_file(user.arguments);
  const std::uint64_t bytes_per_s = argument(user.arguments, "write-kib-per-s") * kKib;
  const std::int64_t start_ns = user.pace.now_ns();
  std::uint64_t written = 0;
  return work.with_open(file, {}, "open", [&](FileHandle handle) -> PhaseResult {
    for (;; file.rewritten ^= 1U) {
      for (std::uint64_t offset = 0; offset < file.bytes; offset += kMib) {
        if (over) return {};
        const std::uint64_t piece = std::min<std::uint64_t>(kMib, file.bytes - offset);
        const auto put = work.operation([&] { return work.write_at(handle, file, offset, piece); });
        if (!put) return put;
        written += piece;
        const double due_s = static_cast<double>(written) / static_cast<double>(bytes_per_s);
        user.pace.sleep_until(start_ns + static_cast<std::int64_t>(due_s * kNsPerSecond));
      }
    }
  });
}

/// Verifies that the file has the contents of one pass up to some unit, and the contents of the
/// previous pass after it.
PhaseResult verify_rewritten(User& user) {
  FileWork work(user, kMib);
  TimedFile file = output_file(user.arguments);
  return work.with_open(file, {}, "open", [&](FileHandle handle) -> PhaseResult {
    bool changed = false;
    for (std::uint64_t offset = 0; offset < file.bytes; offset += kMib) {
      const std::uint64_t piece = std::min<std::uint64_t>(kMib, file.bytes - offset);
      PhaseResult same = work.read_at(handle, file, offset, piece);
      if (!same && same.error().error == 0 && !changed) {
        changed = offset > 0;
        file.rewritten ^= 1U;
        same = work.read_at(handle, file, offset, piece);
      }
      if (!same) return same;
    }
    return {};
  });
}

std::vector<Phase> rule_3_phases(const Arguments&) {
  const auto over = std::make_shared<std::atomic<bool>>(false);
  const auto body = [over](User& user) -> PhaseResult {
    if (user.number == 1) return rewrite(user, *over);
    FileWork work(user, kMib);
    const PhaseResult read = stream(work, input_file(user.arguments), false);
    *over = true;
    return read;
  };
  const auto make_output = [](User& user) -> PhaseResult {
    FileWork work(user, kMib);
    TimedFile file = output_file(user.arguments);
    file.rewritten = 1;
    TRY(work.create(file));
    return work.sync();
  };
  return {make_input(),
          {.name = "prepare-output", .measured = false, .body = make_output},
          {.name = "read-and-rewrite", .users = 2, .cold = true, .body = body},
          {.name = "verify", .measured = false, .cold = true, .body = verify_rewritten}};
}

}  // namespace

TimedWorkload chen_r2() {
  return {.name = "chen-r2",
          .title = "one file is read while another one is written",
          .source = "Chen 1996, section 6, rule 2",
          .operation = "units of 1 MiB",
          .parameters = {{"read-kib", 120 << 10, 12 << 10, 1, 1 << 26, "section 6: 120 MB"},
                         {"write-kib", 120 << 10, 12 << 10, 1, 1 << 26, "section 6: 120 MB"}},
          .phases = rule_2_phases};
}

TimedWorkload chen_r3() {
  return {.name = "chen-r3",
          .title = "one file is read while another one is rewritten at a steady rate",
          .source = "Chen 1996, section 6, rule 3, figure 3",
          .operation = "units of 1 MiB",
          .parameters = {{"read-kib", 120 << 10, 12 << 10, 1, 1 << 26, "figure 3: 120 MB"},
                         {"write-kib", 60 << 10, 6 << 10, 1, 1 << 26, "figure 3: 60 MB"},
                         {"write-kib-per-s", 10 << 10, 10 << 10, 1, 1 << 26, "figure 3: 10 MB/s"}},
          .phases = rule_3_phases};
}

}  // namespace headcrash::timed
