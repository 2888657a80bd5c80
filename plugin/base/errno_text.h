#pragma once
// Readable text for errno values, with their symbolic names.

#include <string>

namespace headcrash::base {

/// Returns text such as "No space left on device (ENOSPC)". EBADMSG and EUCLEAN, which file systems
/// return for a wrong checksum or a damaged structure, are described as such; glibc's text for
/// EBADMSG is "Bad message".
std::string errno_text(int error);

}  // namespace headcrash::base
