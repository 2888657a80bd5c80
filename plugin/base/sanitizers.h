#pragma once
// HEADCRASH_ASAN and HEADCRASH_TSAN: defined in builds with AddressSanitizer or ThreadSanitizer.

// GCC defines a macro; clang has __has_feature.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define HEADCRASH_ASAN
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define HEADCRASH_TSAN
#endif
