#pragma once
// The third name of an exchange is the tree's (tree/exchange_name.h); fsck knows it, too.

#include "fs-adapters/tree/exchange_name.h"

namespace headcrash::ufs {

using tree::exchange_name;
using tree::is_exchange_name;
using tree::kExchangeNameStart;

}  // namespace headcrash::ufs
