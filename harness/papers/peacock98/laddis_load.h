#pragma once
// LADDIS (SPEC SFS 1.1) on an NFS front end in virtual time. Creates the file set, sends requests
// at a fixed rate even if earlier requests are not complete, and measures response times. After a
// power cut, can check that the data of all answered writes is still there.
//
// The mix, sizes and percentages are those of the timed workload (timed/laddis_mix.h). That
// workload distributes the requests to the server's threads in advance; here, the threads take them
// from one queue. The times between arrivals are exponentially distributed.
//
// The following choices are ours. The file set belongs to 16 load-generating processes, which
// create their files concurrently. A process uses one in five of its files, all with equal
// frequency. The set contains zeroes, so that the host needs no memory for its 44 GB; write
// requests write stamps. Created files are empty. A removal removes the oldest created file.
//
// Real LADDIS is a closed loop with a paced rate: when the server is saturated, it sends fewer
// requests. Here the queue grows instead. When more requests wait than the server can answer in two
// seconds, the run ends or, with `goes_on`, drops requests.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "harness/papers/modelled_machine.h"
#include "harness/papers/peacock98/nfs_front.h"
#include "plugin/base/latency_histogram.h"
#include "results/db/claim.h"

namespace headcrash::experiment::peacock98 {

/// The files for a given request rate. If an image contains a larger set than a run needs, each
/// process uses only the first of its files.
struct FileSet {
  static constexpr std::uint64_t kProcesses = 16;
  std::uint64_t files_of_process = 0;

  static FileSet of(double operations_per_s);
  /// Returns the number of used files: a fifth of all files, but at least one.
  std::uint64_t used_of_process() const;
  /// Converts the index of a used file to its number among all files of a process. The load uses
  /// one file in five.
  static std::uint64_t file_of_used(std::uint64_t used) {
    return used * timed::laddis_load::kUsedShare;
  }
  std::uint64_t files() const { return files_of_process * kProcesses; }
  std::string folder(std::uint64_t process, std::uint64_t file) const;
  std::string path(std::uint64_t process, std::uint64_t file) const;
  std::string link(std::uint64_t process, std::uint64_t number) const;
  /// Creates the set. All files contain zeroes. The first `files_there` files of each process
  /// already exist. For use as ModelledMachineOptions::populate and populate_with_zeroes.
  VfsResult<void> make(Vfs& vfs, const std::function<void()>& forget_data = {},
                       std::uint64_t files_there = 0) const;
};

struct LaddisOptions {
  double operations_per_s = 100;
  os::TimeNs warm_ns = 10 * model::kSecondNs;      ///< duration of the load before the measurement
  os::TimeNs measured_ns = 60 * model::kSecondNs;  ///< the paper uses 600 s
  NfsFrontOptions front = {};
  /// Network time per KiB of a request or reply at 100 Mbit/s. This time is added to each response
  /// time; requests do not compete for the network.
  os::TimeNs network_per_kib_ns = 82 * model::kMicrosecondNs;
  /// Amount of data in used files that is read before the load begins, so that a short run starts
  /// with the same cache contents as a long one.
  std::uint64_t read_before_bytes = 700ULL << 20;
  /// Percentages of request kinds. If all are 0, LADDIS's mix is used.
  std::array<std::uint64_t, timed::laddis_load::kPercentOfKind.size()> percent_of_kind = {};
  /// Percentage of writes that append.
  std::uint64_t append_percent = timed::laddis_load::kAppendPercent;
  /// If true, records all writes for broken_promises(). Each write then takes additional memory.
  bool keeps_history = false;
  /// If true, a saturated server drops requests while too many are waiting. If false, the load ends
  /// at saturation.
  bool goes_on = false;
};

struct LaddisOutcome {
  std::string error;  ///< empty on success
  bool saturated = false;
  double offered_per_s = 0, achieved_per_s = 0;  ///< rates of requests and of replies
  /// Rate at which requests arrived. It varies around the offered rate, because arrival times are
  /// random.
  double arrived_per_s = 0;
  double mean_ms = 0, p50_ms = 0, p95_ms = 0, p99_ms = 0;
  double writes_mean_ms = 0;
  std::uint64_t requests = 0, writes = 0, creates = 0,
                removes = 0;  ///< number of answered requests during the measurement, by kind
  NfsCounters front;
  model::DeviceCounters drives;  ///< counters during the measurement
  model::ArrayCounters array;
  std::vector<WriteHits> hits;  ///< counts for the NVRAM above devices, by kind of block
  /// Fractions of the time during which the processor and the drives were busy. `drives_busy` is
  /// the sum over all drives.
  double cpu_busy = 0, drives_busy = 0;
  double modelled_s = 0;

  Figure of(double value) const { return error.empty() ? Figure(value) : std::nullopt; }
};

/// One run of a server. There are two sequences of calls. The first is begin() and run_out(). The
/// second is begin(), run_and_cut(), recovery of the machine, and broken_promises().
class LaddisLoad {
 public:
  /// The file system mounted on the machine must contain the file set.
  LaddisLoad(ModelledMachine& machine, const LaddisOptions& options, std::uint64_t seed);
  ~LaddisLoad();

  /// Looks up the handles of the used files, reads up to `read_before_bytes` of these files into
  /// the cache, and starts the load. If an error occurs, stores it in the outcome and returns
  /// false.
  bool begin();
  /// Runs until the measurement has ended and all requests have been answered.
  LaddisOutcome run_out();
  LaddisOutcome run_and_cut(os::TimeNs for_ns);
  /// Returns a description of each promise that was made in a reply and that the recovered machine
  /// does not keep. Empty if `keeps_history` is false.
  std::vector<std::string> broken_promises();

 private:
  struct Used;     ///< a file that the load uses
  struct Written;  ///< one write in the history of a block
  struct Made;     ///< a file that the load has created
  void fail_with(const char* what, int error);
  std::uint64_t folders_of_process() const;  ///< number of directories that contain used files
  std::uint64_t links_of_process() const;
  std::size_t folder_of(std::uint64_t process, std::uint64_t file) const;
  void find(std::uint64_t process);
  void generate();
  NfsRequest draw();
  void draw_write(NfsRequest& request, std::uint64_t at);
  void replied(const NfsRequest& request, const NfsReply& reply);
  bool measuring(os::TimeNs at) const { return at >= counts_from_ && at < counts_until_; }
  void take_snapshot(bool begins);
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
  /// Numbers of requests and replies during the measurement.
  std::uint64_t arrived_ = 0, replied_ = 0;
  LaddisOutcome outcome_;
  struct Snapshot {
    model::DeviceCounters drives;
    model::ArrayCounters array;
    std::vector<WriteHits> hits;
    NfsCounters front;
    os::TimeNs cpu_ns = 0, at = 0;
  } before_, after_;
};

}  // namespace headcrash::experiment::peacock98
