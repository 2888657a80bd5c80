// Computes the two figures of merit of disk models.
//
// Demerit (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994): the root mean
// square of the horizontal distance between the two cumulative distributions of response times.
// If both have the same number of requests, these distances are the differences between the i-th
// shortest response times of the two.
//
//   share 1 |        ___/--
//           |      _/ _/          <->  distance at one height
//         0 |_____/_/________
//             response time
//
// A low demerit can hide large errors of single requests that cancel each other out. The share of
// requests whose response time is off by at most 1 ms cannot hide such errors, so both values are
// always reported.
#include "plugin/profiles/validation.h"

#include <algorithm>
#include <cmath>

#include "plugin/model/core/null_observer.h"
#include "plugin/model/disk/disk.h"
#include "plugin/replay/trace_file.h"

namespace headcrash::profiles {
namespace {

using model::TimeNs;

class ClosedLoop final : public model::Initiator, public model::EventTarget {
 public:
  ClosedLoop(const model::DiskProfile& profile, const std::vector<replay::TraceRequest>& trace)
      : trace_(trace), disk_(options(profile)) {}

  std::vector<TimeNs> run() {
    responses_.reserve(trace_.size());
    if (!trace_.empty()) simulation_.schedule(0, *this, 0);
    while (responses_.size() < trace_.size() && simulation_.run_next()) {
    }
    return responses_;
  }

 private:
  model::DiskOptions options(const model::DiskProfile& profile) {
    model::DiskOptions options{profile, simulation_, observer_};
    options.write_cache = profile.write_cache.on_by_default;
    return options;
  }
  void on_event(std::uint64_t i) override {
    model::Request request;
    request.id = i + 1;
    request.op = trace_[i].read ? model::Op::read : model::Op::write;
    request.lba = trace_[i].lbn;
    request.sectors = trace_[i].blocks;
    disk_.submit(request, *this);
  }
  void completed(const model::Completion& completion) override {
    const std::size_t i = completion.id - 1;
    responses_.push_back(completion.completed_at - completion.submitted_at);
    if (i + 1 < trace_.size())
      simulation_.schedule(completion.completed_at + trace_[i].wait_ns, *this, i + 1);
  }

  const std::vector<replay::TraceRequest>& trace_;
  model::Simulation simulation_;
  model::NullObserver observer_;
  model::Disk disk_;
  std::vector<TimeNs> responses_;
};

double mean_ms(const std::vector<TimeNs>& times) {
  double sum = 0;
  for (const TimeNs t : times) sum += static_cast<double>(t);
  return sum / model::kNsPerMs / static_cast<double>(times.size());
}

}  // namespace

Result<std::vector<replay::TraceRequest>> read_closed_trace(const std::string& path) {
  TRY(const auto file, replay::TraceFile::open(path, replay::TraceFormat::closed));
  std::vector<replay::TraceRequest> all;
  for (;;) {
    TRY(const auto chunk, file->next());
    if (chunk.empty()) return all;
    all.insert(all.end(), chunk.begin(), chunk.end());
  }
}

std::vector<TimeNs> replay_closed(const model::DiskProfile& profile,
                                  const std::vector<replay::TraceRequest>& trace) {
  return ClosedLoop(profile, trace).run();
}

Agreement compare(std::span<const replay::TraceRequest> trace, std::span<const TimeNs> responses) {
  std::vector<TimeNs> measured, model;
  std::size_t within = 0;
  for (std::size_t i = 0; i < std::min(trace.size(), responses.size()); ++i) {
    if (trace[i].measured_ns == 0) continue;
    measured.push_back(trace[i].measured_ns);
    model.push_back(responses[i]);
    if (std::abs(trace[i].measured_ns - responses[i]) <= model::kMillisecondNs) ++within;
  }
  Agreement result;
  result.requests = measured.size();
  if (measured.empty()) return result;
  result.measured_mean_ms = mean_ms(measured);
  result.model_mean_ms = mean_ms(model);
  std::sort(measured.begin(), measured.end());
  std::sort(model.begin(), model.end());
  double squares = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double off_ms = static_cast<double>(measured[i] - model[i]) / model::kNsPerMs;
    squares += off_ms * off_ms;
  }
  const auto all = static_cast<double>(measured.size());
  result.demerit_percent = 100 * std::sqrt(squares / all) / result.measured_mean_ms;
  result.within_1ms_percent = 100 * static_cast<double>(within) / all;
  return result;
}

}  // namespace headcrash::profiles
