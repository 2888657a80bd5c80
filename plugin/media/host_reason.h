#pragma once
// What the host says about an errno, in words.

#include <string>
#include <system_error>

namespace headcrash::media {

inline std::string host_reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace headcrash::media
