#pragma once
// A source of requests: a trace file, a generator, a vector. Requests are delivered in chunks, so
// the memory needed is that of one chunk, however long the trace is.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::replay {

using model::TimeNs;

struct TraceRequest {
  /// In an open trace, the arrival time, measured from the start. In a closed loop, the think time
  /// between the completion of an earlier request and this request.
  TimeNs wait_ns = 0;
  TimeNs measured_ns = 0;  ///< response time measured on hardware; 0 if unknown
  std::uint64_t lbn = 0;
  std::uint64_t line = 0;    ///< line in the trace, from 1; 0 if not from a file
  std::uint32_t blocks = 0;  ///< in units of 512 bytes
  std::uint16_t device = 0;  ///< index in the machine
  bool read = false;
};

class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// Returns the next requests; empty at the end. The result is valid until the next call.
  virtual Result<std::span<const TraceRequest>> next() = 0;
  /// Returns true for a closed loop, in which a request is sent after an earlier one has completed
  /// and a think time has passed.
  virtual bool closed_loop() const = 0;
  /// In a closed loop: the number of requests that are in flight or in their think time.
  virtual std::uint32_t loops() const { return 1; }
  /// Returns the request's name for errors.
  virtual std::string subject(const TraceRequest& request) const = 0;
  /// Returns notes for the user about the requests delivered so far. Each note is a sentence.
  virtual std::vector<std::string> remarks() const { return {}; }
};

/// A source that holds all its requests in memory, so that benchmarks measure only the speed of the
/// model.
class RequestsInMemory final : public RequestSource {
 public:
  static Result<RequestsInMemory> of(RequestSource& source) {
    RequestsInMemory all(source.closed_loop(), source.loops());
    for (;;) {
      TRY(const auto chunk, source.next());
      if (chunk.empty()) return all;
      all.requests_.insert(all.requests_.end(), chunk.begin(), chunk.end());
    }
  }
  Result<std::span<const TraceRequest>> next() override {
    const std::span<const TraceRequest> rest(requests_.data(), given_ ? 0 : requests_.size());
    given_ = true;
    return rest;
  }
  bool closed_loop() const override { return closed_loop_; }
  std::uint32_t loops() const override { return loops_; }
  std::string subject(const TraceRequest& request) const override {
    return "request " + std::to_string(&request - requests_.data());
  }
  std::size_t size() const { return requests_.size(); }
  void rewind() { given_ = false; }

 private:
  RequestsInMemory(bool closed_loop, std::uint32_t loops)
      : closed_loop_(closed_loop), loops_(loops) {}
  std::vector<TraceRequest> requests_;
  bool closed_loop_;
  std::uint32_t loops_;
  bool given_ = false;
};

}  // namespace headcrash::replay
