#pragma once
// Transactions of several operations, beside vfs.h: after a power cut all operations of one have
// been done, or none has. A file system that has them gives this with
// MountedSystem::transactions().
//
// A transaction belongs to the fiber or thread that begins it, and so do the operations: those that
// it does until it commits. Others see them as they are done; there is no isolation, and no abort,
// which would have to undo what others may have built on. An operation that fails has not been
// done, and the rest goes on. commit() makes nothing durable: fsync or sync after it does, of the
// transaction as a whole.
//
// Nothing at all becomes durable while a transaction is under way, so that it should be short: who
// calls fsync or sync meanwhile waits for its end.
//
// Errors are errno's: EBUSY, one is under way (and for fsync, sync and snapshots within one, which
// would wait for themselves); EINVAL, none is; ENOTSUP, mounted so that there are none; EROFS; EIO.

#include "fs-adapters/vfs.h"

namespace headcrash {

class Transactions {
 public:
  virtual ~Transactions() = default;
  /// Waits while a commit of the file system waits for other transactions.
  virtual VfsResult<void> begin() = 0;
  virtual VfsResult<void> commit() = 0;
};

}  // namespace headcrash
