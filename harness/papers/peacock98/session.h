#pragma once
// Data shared by the parts of a run: images, and curves that appear in several figures.
//
// Creating an image takes as long as some loads, so all runs that start from the same image are
// executed in succession. When a part first requests a curve, the curves of all parts are measured.
// The loads and cuts of one part are executed together.

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

struct Load {
  ServerChoice choice;
  double per_s = 0;
  LaddisOptions options = {};
  std::optional<std::uint64_t> seed = {};  ///< nullopt selects the run's seed
  /// True if only counts per request are needed. Warm-up is then limited to 30 s, and measurement
  /// to 60 s, because such a load may consist only of writes to few files. In a longer run, the
  /// files would grow to more than twice their length.
  bool counts_only = false;
};

/// The data that all parts of a run share. In scaled runs, the size of the file system is 1 GiB,
/// and loads are limited to 20 requests per second.
class Session {
 public:
  static Session& of(Context& context);

  /// Measures the curves that the parts of the run need (curves_of()) and that have not been
  /// measured yet. Returns false if interrupted.
  bool prepare(Context& context);
  /// Returns a curve of the current part. The curve is empty if prepare() was not called. REQUIRES:
  /// curves_of() of the part contains the curve.
  const Curve& curve(const Context& context, ServerChoice choice) const;
  /// A permit to keep a machine in memory. Destroying the object returns the permit.
  using Turn = std::shared_ptr<void>;
  static constexpr std::ptrdiff_t kMachines = 2;
  /// Waits until there is enough memory for another machine, and returns a permit. Usually two
  /// machines fit at the same time. A load whose writes need all the memory waits until no other
  /// machine is running. `requests` is the total number of requests in the load. While a caller
  /// waits, other callers wait behind it. Thread-safe; a thread may hold only one permit.
  Turn turn(double requests);
  /// Runs loads without storing the outcomes. Returns an empty vector if interrupted.
  std::vector<LaddisOutcome> loads(Context& context, const std::vector<Load>& loads);
  Images& images() { return images_; }

 private:
  LaddisOutcome run(const Context& context, Load load);
  Curve make(const Context& context, const ServerChoice& choice);

  Images images_;
  std::map<std::string, Curve> curves_;
  /// Held by the thread that waits for `room_`, so that no other thread overtakes it.
  std::mutex door_;
  std::counting_semaphore<kMachines> room_{kMachines};
};

/// Returns the points of a curve as a series. Omits points far beyond the response limit.
Series series_of(const std::string& name, const Curve& curve);

/// Returns the options for a load. The durations come from the context's parameters.
LaddisOptions load_of(const Context& context, const ServerChoice& choice, double operations_per_s,
                      LaddisOptions options = {});
/// Returns the parameters that load_of() reads.
std::vector<Parameter> load_parameters();

/// Returns the relative precision of a knee.
double precision_of(const Context& context);

}  // namespace headcrash::experiment::peacock98
