#pragma once
// libfuse's low-level interface, with the API version used by this code.

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
