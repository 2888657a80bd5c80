#pragma once
// Run-time assertions that also run in release builds. A broken invariant aborts the program rather
// than corrupting a result.

#include <cstdio>
#include <cstdlib>

namespace headcrash {

/// If `holds` is false, prints `what` to stderr and aborts.
inline void invariant(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "headcrash: broken invariant: %s\n", what);
  std::abort();
}

}  // namespace headcrash
