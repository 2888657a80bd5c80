#pragma once
// How many requests of one connection nbdkit serves together. nbdkit tells its plugins no such
// thing, but its command line does: -t N, -tN, --threads N or --threads=N, 16 without.

#include <string>
#include <vector>

namespace headcrash::nbd {

/// `words` without the program's name; 0 when a number cannot be read.
unsigned threads_of(const std::vector<std::string>& words);
unsigned threads_of_this_nbdkit();  ///< 0 when the command line cannot be read

}  // namespace headcrash::nbd
