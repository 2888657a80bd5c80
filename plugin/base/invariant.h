#pragma once
// Run-time assertions, also in release builds. A broken invariant aborts the program rather than
// corrupting a result.

#include <cstdio>
#include <cstdlib>

namespace headcrash {

/// Prints `what` to stderr and aborts unless `holds`.
inline void invariant(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "headcrash: broken invariant: %s\n", what);
  std::abort();
}

}  // namespace headcrash
