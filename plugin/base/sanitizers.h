#pragma once
// HEADCRASH_ASAN and HEADCRASH_TSAN: compiled with AddressSanitizer, with ThreadSanitizer.

// GCC tells by a macro, clang by a feature.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define HEADCRASH_ASAN
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define HEADCRASH_TSAN
#endif
