// Several operations of one generation (Soares, Krieger and Da Silva, V-A;
// fs-adapters/transactions.h).
//
// Operations belong to the generation that is open; so those of a transaction belong to one as long
// as none is spawned before it ends. Who commits waits for that before he spawns one, and while he
// does no transaction
// begins: he does not wait for ever. Operations outside transactions go on. Nobody who waits for a
// transaction holds the lock of an inode, or it could not end.
#include "fs-adapters/snapfs/store.h"

namespace headcrash::snapfs {

VfsResult<void> Store::begin_transaction() {
  if (read_only_) return refuse(EROFS);
  if (!options_.copy_on_write) return refuse(ENOTSUP);
  if (in_transaction()) return refuse(EBUSY);
  while (spawn_waits_ && !stopped_) transactions_changed_.wait();
  if (stopped_) return refuse(EIO);
  transactions_.insert(executor.current());
  return {};
}

VfsResult<void> Store::end_transaction() {
  if (transactions_.erase(executor.current()) == 0) return refuse(EINVAL);
  transactions_changed_.wake_all();
  return {};
}

void Store::end_transactions() {
  transactions_.clear();
  transactions_changed_.wake_all();
}

/// With the commit lock. None is under way when it returns, and none begins before the caller waits
/// for something else.
void Store::wait_for_transactions() {
  if (options_.splits_transactions) return;
  spawn_waits_ = true;
  while (!transactions_.empty() && !stopped_) transactions_changed_.wait();
  spawn_waits_ = false;
  transactions_changed_.wake_all();
}

}  // namespace headcrash::snapfs
