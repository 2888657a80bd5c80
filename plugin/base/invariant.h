#pragma once
// What must hold in every run, release builds included: a broken invariant stops the program
// instead of spoiling a result that somebody will believe.

#include <cstdio>
#include <cstdlib>

namespace headcrash {

/// Ends the program with `what` on stderr unless `holds`.
inline void invariant(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "headcrash: broken invariant: %s\n", what);
  std::abort();
}

}  // namespace headcrash
