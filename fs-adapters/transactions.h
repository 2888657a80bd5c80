#pragma once
// Transactions of several operations: after a power cut, either all or none of a transaction's
// operations are visible. MountedSystem::transactions() returns this interface if the file system
// supports it.
//
// A transaction belongs to the fiber or thread that begins it. It contains all operations of this
// fiber or thread until commit(). Other users see these operations at once: there is no isolation.
// There is no abort either, since other operations may depend on the changes. A failed operation
// has no effect, and the transaction continues. commit() makes nothing durable; a later fsync or
// sync makes the whole transaction durable.
//
// While a transaction is running, nothing at all becomes durable, and other users' fsync and sync
// calls wait until it ends. Transactions should thus be short.
//
// Errors are error numbers: EBUSY if a transaction is running (also for fsync, sync and snapshots
// within one, which would wait for themselves), EINVAL if none is running, ENOTSUP if the mount has
// no transactions, EROFS, and EIO.

#include "fs-adapters/vfs.h"

namespace headcrash {

class Transactions {
 public:
  virtual ~Transactions() = default;
  /// Begins a transaction. If the file system is about to commit and is waiting for running
  /// transactions to end, waits until the commit has begun.
  virtual VfsResult<void> begin() = 0;
  virtual VfsResult<void> commit() = 0;
};

}  // namespace headcrash
