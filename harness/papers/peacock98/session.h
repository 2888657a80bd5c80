#pragma once
// What the parts of a run share: images, and curves that several figures show.
//
// To make an image takes as long as to run some loads, so that all that begins with the same one is
// run in a row: the curves of all parts of the run when the first part asks for its own, the loads
// and cuts of one part together.

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
  std::optional<std::uint64_t> seed = {};  ///< nothing: the run's
  /// A count for each request: no more than 30 and 60 s of load, since a file grows to twice its
  /// length only, and the few files of a load that only writes have done so after minutes.
  bool counts_only = false;
};

/// Scaled down, all of it is on a gigabyte, and at loads of 20 requests a second at most.
class Session {
 public:
  static Session& of(Context& context);

  /// Runs the curves of all parts of the run (curves_of()) that are not there yet. False:
  /// interrupted.
  bool prepare(Context& context);
  /// It is one of curves_of() this part. Without prepare() an empty one.
  const Curve& curve(const Context& context, ServerChoice choice) const;
  /// The right to hold a machine's memory while it lives.
  using Turn = std::shared_ptr<void>;
  static constexpr std::ptrdiff_t kMachines = 2;
  /// Two machines fit the memory side by side, unless one of them gets so many requests that what
  /// they write is as large as the rest: such a one waits until it is alone, and who comes later
  /// waits for it. `requests`: of all the load. From several threads, once on each.
  Turn turn(double requests);
  /// Not kept. Empty: interrupted.
  std::vector<LaddisOutcome> loads(Context& context, const std::vector<Load>& loads);
  Images& images() { return images_; }

 private:
  LaddisOutcome run(const Context& context, Load load);
  Curve make(const Context& context, const ServerChoice& choice);

  Images images_;
  std::map<std::string, Curve> curves_;
  std::mutex door_;  ///< who waits for room is at it, so that nobody overtakes
  std::counting_semaphore<kMachines> room_{kMachines};
};

/// Its points, but for those far beyond the limit of responses.
Series series_of(const std::string& name, const Curve& curve);

/// With the lengths that the context's parameters say.
LaddisOptions load_of(const Context& context, const ServerChoice& choice, double operations_per_s,
                      LaddisOptions options = {});
/// The parameters that load_of() looks for.
std::vector<Parameter> load_parameters();

}  // namespace headcrash::experiment::peacock98
