#pragma once
// What the parts of a run share: images, and curves that several figures show.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/experiment/paper.h"
#include "harness/experiment/peacock98/curve.h"

namespace headcrash::experiment::peacock98 {

/// Scaled down, all of it is on a gigabyte, and at loads of 20 requests a second at most.
class Session {
 public:
  static Session& of(Context& context);

  /// Runs those that nobody has wanted before. False: interrupted.
  bool prepare(Context& context, const std::vector<ServerChoice>& choices);
  /// Run when it is first wanted.
  const Curve& curve(Context& context, ServerChoice choice);
  /// One load; not kept.
  LaddisOutcome point(Context& context, ServerChoice choice, double operations_per_s,
                      LaddisOptions options = {});
  Images& images() { return images_; }

 private:
  LaddisOutcome run(const Context& context, ServerChoice choice, double operations_per_s,
                    LaddisOptions options);
  Curve make(const Context& context, const ServerChoice& choice);
  const Curve& keep(Context& context, const ServerChoice& choice, Curve made);

  Images images_;
  std::map<std::string, Curve> curves_;
};

/// Its points, but for those far beyond the limit of responses.
Series series_of(const std::string& name, const Curve& curve);

/// Calls `run` of each number below `count`, on two threads at most: each has a server with all its memory. False: it was
/// interrupted, and some were not called.
bool in_parallel(const Context& context, std::size_t count, const std::function<void(std::size_t)>& run);
/// With the lengths that the context's parameters say.
LaddisOptions load_of(const Context& context, const ServerChoice& choice, double operations_per_s,
                      LaddisOptions options = {});
/// The parameters that load_of() looks for.
std::vector<Parameter> load_parameters();

}  // namespace headcrash::experiment::peacock98
