#pragma once
// The number of concurrent requests per connection that nbdkit allows. nbdkit does not report this
// number to plugins, so it is read from the command line: -t N, -tN, --threads N or --threads=N.
// The default is 16.

#include <string>
#include <vector>

namespace headcrash::nbd {

/// Returns nbdkit's number of threads. `words` is its command line without the program's name.
/// Returns 0 if the number in the command line is invalid.
unsigned threads_of(const std::vector<std::string>& words);
unsigned threads_of_this_nbdkit();  ///< returns 0 if the command line cannot be read

}  // namespace headcrash::nbd
