#pragma once
// Readable text for errno values, including their symbolic names.

#include <string>

namespace headcrash::base {

/// Returns text such as "No space left on device (ENOSPC)". The text for EBADMSG and EUCLEAN is not
/// glibc's: file systems return these values for checksum mismatches and damaged structures, but
/// glibc's text for EBADMSG is "Bad message".
std::string errno_text(int error);

}  // namespace headcrash::base
