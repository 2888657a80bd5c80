#pragma once
// Includes libfuse's low-level interface and selects the API version that this code uses.

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
