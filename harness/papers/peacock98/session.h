#pragma once
// Data shared by the parts of a run: images, and curves that several figures show.
//
// Creating an image takes as long as some loads, so all runs that start with the same image are run
// in succession: the curves of all parts when the first part requests its own, and the loads and
// cuts of one part together.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "harness/papers/paper.h"
#include "harness/papers/peacock98/curve.h"

namespace headcrash::experiment::peacock98 {

/// One load on a server.
struct Load {
  ServerChoice choice;
  double per_s = 0;
  LaddisOptions options = {};
  std::optional<std::uint64_t> seed = {};  ///< nullopt for the run's seed
  /// Only counts per request are needed: at most 30 and 60 s of load. A file grows only to twice
  /// its length, which the few files of a write-only load reach after minutes.
  bool counts_only = false;
};

/// When scaled, everything is on a gigabyte, with loads of at most 20 requests per second.
class Session {
 public:
  static Session& of(Context& context);

  /// Runs the missing curves of all parts of the run (curves_of()). Returns false if interrupted.
  bool prepare(Context& context);
  /// Returns a curve, which must be one of curves_of() this part. Without prepare() it is empty.
  const Curve& curve(const Context& context, ServerChoice choice) const;
  /// Permission to hold a machine in memory, while it exists.
  using Turn = std::shared_ptr<void>;
  static constexpr std::ptrdiff_t kMachines = 2;
  /// Waits until memory is available. Two machines usually fit at the same time. A machine with so
  /// many requests that its writes need all the memory waits until it is alone, and later machines
  /// wait for it. `requests` is the total of the load. Thread-safe; a thread may hold one
  /// permission.
  Turn turn(double requests);
  /// Runs loads without caching them. Returns an empty vector if interrupted.
  std::vector<LaddisOutcome> loads(Context& context, const std::vector<Load>& loads);
  Images& images() { return images_; }

 private:
  LaddisOutcome run(const Context& context, Load load);
  Curve make(const Context& context, const ServerChoice& choice);

  Images images_;
  std::map<std::string, Curve> curves_;
  std::mutex door_;  ///< held by the waiting thread, so that no other overtakes it
  std::counting_semaphore<kMachines> room_{kMachines};
};

/// Returns the points of a curve, except those far beyond the response limit.
Series series_of(const std::string& name, const Curve& curve);

/// Returns load options with the durations in the context's parameters.
LaddisOptions load_of(const Context& context, const ServerChoice& choice, double operations_per_s,
                      LaddisOptions options = {});
/// Returns the parameters that load_of() reads.
std::vector<Parameter> load_parameters();

}  // namespace headcrash::experiment::peacock98
