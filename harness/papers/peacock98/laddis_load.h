#pragma once
// LADDIS (SPEC SFS 1.1) on an NFS front in virtual time: a file set, requests that arrive at a rate
// whether earlier ones have been answered or not, responses, and what every reply has promised.
//
// Mix, sizes and shares are those of the timed workload (timed/laddis_mix.h); there the server's
// threads have the requests shared out beforehand, here they take them from one queue. Ours, too:
// the times between arrivals are exponential; the set belongs to 16 load-generating processes, who
// make their files at the same time, and each uses the first fifth of its own, all files alike;
// data of the set are zeroes, which costs a host that emulates 44 GB nothing, and what a request
// writes is stamped; what is created is empty, and the oldest is removed.
//
// Real LADDIS is a closed loop with a paced rate: when the server is saturated it asks for less.
// Here the queue grows, and a run ends when more requests wait than the server could answer in two
// seconds, or goes on with fewer (goes_on).

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness/papers/claim.h"
#include "harness/papers/modelled_machine.h"
#include "harness/papers/peacock98/nfs_front.h"
#include "plugin/base/latency_histogram.h"

namespace headcrash::experiment::peacock98 {

/// The files for so many requests a second. An image may hold a larger set than a run uses: a run's
/// files are the first ones of each process.
struct FileSet {
  static constexpr std::uint64_t kProcesses = 16;
  std::uint64_t files_of_process = 0;

  static FileSet of(double operations_per_s);
  std::uint64_t used_of_process() const;  ///< a fifth, at least one
  /// Its number in the process: one in five, all over the set.
  static std::uint64_t file_of_used(std::uint64_t used) {
    return used * timed::laddis_load::kUsedShare;
  }
  std::uint64_t files() const { return files_of_process * kProcesses; }
  std::string folder(std::uint64_t process, std::uint64_t file) const;
  std::string path(std::uint64_t process, std::uint64_t file) const;
  std::string link(std::uint64_t process, std::uint64_t number) const;
  /// Makes all of it, of zeroes, but the first `files_there` of each process; for
  /// ModelledMachineOptions::populate and populate_with_zeroes.
  VfsResult<void> make(Vfs& vfs, const std::function<void()>& forget_data = {},
                       std::uint64_t files_there = 0) const;
};

struct LaddisOptions {
  double operations_per_s = 100;
  os::TimeNs warm_ns = 10 * model::kSecondNs;      ///< of load, before it counts
  os::TimeNs measured_ns = 60 * model::kSecondNs;  ///< the paper: 600 s
  NfsFrontOptions front = {};
  /// On the wire, for each KiB of a request or reply: 100 Mbit/s. Added to each response; nobody
  /// queues for it.
  os::TimeNs network_per_kib_ns = 82 * model::kMicrosecondNs;
  /// Read before the load begins, of what it will use, so that a short run finds the memory as a
  /// long one would have it.
  std::uint64_t read_before_bytes = 700ULL << 20;
  /// Only these, in percent; all 0: LADDIS's mix.
  std::array<std::uint64_t, timed::laddis_load::kPercentOfKind.size()> percent_of_kind = {};
  std::uint64_t append_percent = timed::laddis_load::kAppendPercent;  ///< of the writes
  bool keeps_history = false;  ///< for broken_promises(): memory for each write
  /// When the server is saturated: what arrives while too many wait is not asked for. Otherwise the
  /// load ends there.
  bool goes_on = false;
};

struct LaddisOutcome {
  std::string error;  ///< empty: all is well
  bool saturated = false;
  double offered_per_s = 0, achieved_per_s = 0;  ///< as asked for; replies in the time that counts
  double arrived_per_s = 0;                      ///< as drawn
  double mean_ms = 0, p50_ms = 0, p95_ms = 0, p99_ms = 0;
  double writes_mean_ms = 0;
  std::uint64_t requests = 0, writes = 0, creates = 0,
                removes = 0;  ///< answered, of those that count
  NfsCounters front;
  model::DeviceCounters drives;  ///< while it counted
  model::ArrayCounters array;
  std::vector<WriteHits> hits;           ///< of the NVRAM above devices, by kind of block
  double cpu_busy = 0, drives_busy = 0;  ///< shares; of the drives together
  double modelled_s = 0;

  Figure of(double value) const { return error.empty() ? Figure(value) : std::nullopt; }
};

/// One server's run: begin(), then either run_out(), or run to an instant, cut, recover, and
/// broken_promises().
class LaddisLoad {
 public:
  /// The machine has a file system with the set.
  LaddisLoad(ModelledMachine& machine, const LaddisOptions& options, std::uint64_t seed);
  ~LaddisLoad();

  /// Reads, finds handles, and starts the requests; returns when the load has begun. Errors are the
  /// outcome's.
  bool begin();
  /// To the end of what is measured and the last reply.
  LaddisOutcome run_out();
  /// `for_ns` of load, and then the power goes.
  LaddisOutcome run_and_cut(os::TimeNs for_ns);
  /// On the recovered machine: what replies have promised and is not there, in words; none with
  /// keeps_history off.
  std::vector<std::string> broken_promises();

 private:
  struct Used;     ///< a file of the working set
  struct Written;  ///< one write in the history of a block
  struct Made;     ///< a created file
  void fail_with(const char* what, int error);
  std::uint64_t folders_of_process() const;  ///< with files that are used
  std::uint64_t links_of_process() const;
  std::size_t folder_of(std::uint64_t process, std::uint64_t file) const;
  void find(std::uint64_t process);
  void generate();
  NfsRequest draw();
  void draw_write(NfsRequest& request, std::uint64_t at);
  void replied(const NfsRequest& request, const NfsReply& reply);
  bool measuring(os::TimeNs at) const { return at >= counts_from_ && at < counts_until_; }
  void look(bool begins);
  LaddisOutcome outcome() const;
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  ModelledMachine& machine_;
  LaddisOptions options_;
  FileSet set_;
  std::mt19937_64 random_;
  std::unique_ptr<NfsFront> front_;
  std::deque<os::Account> accounts_;
  std::vector<Used> used_;
  std::vector<std::string> folders_, links_, tops_;  ///< handles
  std::deque<Made> made_;
  std::uint64_t first_made_ = 0, versions_ = 0, bytes_read_before_ = 0;
  os::TimeNs counts_from_ = 0, counts_until_ = 0;
  bool stops_ = false;
  LatencyHistogram responses_;
  double writes_ns_ = 0;
  std::uint64_t arrived_ = 0, replied_ = 0;  ///< while it counted
  LaddisOutcome outcome_;
  struct Looked {
    model::DeviceCounters drives;
    model::ArrayCounters array;
    std::vector<WriteHits> hits;
    NfsCounters front;
    os::TimeNs cpu_ns = 0, at = 0;
  } before_, after_;
};

}  // namespace headcrash::experiment::peacock98
