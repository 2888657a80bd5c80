#pragma once
// Host error texts.

#include <string>
#include <system_error>

namespace headcrash::media {

/// Returns the host's text for an errno value.
inline std::string host_reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace headcrash::media
