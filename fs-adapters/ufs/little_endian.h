#pragma once
// Numbers of the disk (plugin/base/little_endian.h) under the names that ufs uses.

#include "plugin/base/little_endian.h"

namespace headcrash::ufs {

using little_endian::load;
using little_endian::load16;
using little_endian::load32;
using little_endian::load64;
using little_endian::load8;
using little_endian::store;
using little_endian::store16;
using little_endian::store32;
using little_endian::store64;
using little_endian::store8;

}  // namespace headcrash::ufs
