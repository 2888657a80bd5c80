#pragma once
// libfuse's low-level interface, in the version that everything here is written for.

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
