// Several operations in one generation (Soares, Krieger and Da Silva, V-A;
// fs-adapters/transactions.h).
//
// An operation belongs to the generation that is open. If no generation is spawned before a
// transaction ends, all operations of the transaction therefore belong to the same generation.
// Before a commit spawns a generation, it waits for running transactions. During that wait no new
// transaction may begin, so the wait is finite. Operations outside of transactions continue. A
// fiber that waits for a transaction must not hold an inode's lock; otherwise the transaction might
// never end.
#include "fs-adapters/snapfs/store.h"
#include "plugin/base/invariant.h"

namespace headcrash::snapfs {

VfsResult<void> Store::begin_transaction() {
  if (read_only_) return refuse(EROFS);
  if (!options_.copy_on_write) return refuse(ENOTSUP);
  if (in_transaction()) return refuse(EBUSY);
  while (spawn_waits_ && !stopped_) transactions_changed_.wait();
  if (stopped_) return refuse(EIO);
  transactions_.insert(executor.current());
  ++transactions_begun_;
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

/// Waits until no transaction is in progress. On return, no transaction can begin until the calling
/// fiber waits again. Requires the commit lock.
void Store::wait_for_transactions() {
  if (options_.splits_transactions) return;
  spawn_waits_ = true;
  const std::uint64_t begun = transactions_begun_;
  while (!transactions_.empty() && !stopped_) transactions_changed_.wait();
  invariant(transactions_begun_ == begun,
            "snapfs: no transaction may begin while a spawn waits for running transactions");
  spawn_waits_ = false;
  transactions_changed_.wake_all();
}

}  // namespace headcrash::snapfs
