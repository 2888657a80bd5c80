#pragma once
// Readable text for errno values, with their symbolic names.

#include <string>

namespace headcrash::base {

/// Returns text such as "No space left on device (ENOSPC)". EBADMSG and EUCLEAN get special texts,
/// because file systems return them for a wrong checksum and for a damaged structure; glibc's text
/// for EBADMSG is "Bad message".
std::string errno_text(int error);

}  // namespace headcrash::base
