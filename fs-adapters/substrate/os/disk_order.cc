// Orders pending requests (disk_order.h).
#include "fs-adapters/substrate/os/disk_order.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "plugin/base/invariant.h"

namespace headcrash::os {

RequestId DiskOrder::add(Kind kind, std::uint64_t lba, std::uint32_t sectors,
                         const Ordering& ordering, Changes& changes) {
  Slot slot;
  slot.kind = kind;
  slot.flagged = ordering.flagged && flag_ != FlagMeaning::ignore;
  slot.barrier = ordering.barrier;
  slot.lba = lba;
  slot.end = lba + sectors;
  slot.flagged_before = last_flagged_;
  const RequestId id = slots_.push(std::move(slot));
  follow_sectors(id);
  for (const RequestId before : ordering.after) {
    invariant(before < id, "a request may follow only earlier requests");
    if (pending(before)) follow(before, id, Link::chain);
  }
  Slot& added = slots_[id];
  const auto wait_in = [&](std::deque<RequestId>& gate) {
    gate.push_back(id);
    ++added.held_by_order;
  };
  if (kind == Kind::flush) {
    wait_in(flush_gate_);
  } else {
    if (gated_by_flags(id)) wait_in(flag_gate_);
    if (kind == Kind::write && first_of(barriers_) < id) wait_in(barrier_gate_);
  }
  if (added.flagged) {
    flagged_.push_back(id);
    last_flagged_ = id;
  }
  if (added.barrier) barriers_.push_back(id);
  open_gates(changes);
  if (added.held_by_order == 0 && added.held_by_sectors == 0 &&
      (changes.ready.empty() || changes.ready.back() != id))
    changes.ready.push_back(id);
  return id;
}

bool DiskOrder::gated_by_flags(RequestId id) const {
  const Slot& slot = slots_[id];
  if (flag_ == FlagMeaning::ignore || (slot.kind == Kind::read && reads_bypass_)) return false;
  return last_flagged_ >= slots_.oldest() || slot.flagged;
}

/// Returns the first request in the list that is still pending, or the maximum id if none is
/// pending.
RequestId DiskOrder::first_of(std::deque<RequestId>& ids) {
  while (!ids.empty() && !pending(ids.front())) ids.pop_front();
  return ids.empty() ? std::numeric_limits<RequestId>::max() : ids.front();
}

bool DiskOrder::may_pass_flags(RequestId id) {
  const Slot& slot = slots_[id];
  switch (flag_) {
    case FlagMeaning::full:
      return first_of(flagged_) >= id && (!slot.flagged || slots_.oldest() == id);
    case FlagMeaning::back:
      return slots_.oldest() > slot.flagged_before;
    case FlagMeaning::part:
      return first_of(flagged_) >= id;
    case FlagMeaning::ignore:
      break;
  }
  return true;
}

void DiskOrder::follow(RequestId before, RequestId after, Link link) {
  slots_[before].followers.push_back({after, link});
  Slot& slot = slots_[after];
  ++(link == Link::sectors ? slot.held_by_sectors : slot.held_by_order);
}

/// If a run covers `lba`, splits it there. Returns the first run that starts at or after `lba`.
DiskOrder::Runs::iterator DiskOrder::split(std::uint64_t lba) {
  const auto next = runs_.lower_bound(lba);
  if (next == runs_.begin()) return next;
  const auto before = std::prev(next);
  if (before->second.end <= lba) return next;
  Run tail = before->second;
  before->second.end = lba;
  return runs_.emplace_hint(next, lba, std::move(tail));
}

void DiskOrder::follow_sectors(RequestId id) {
  const std::uint64_t lba = slots_[id].lba;
  const std::uint64_t end = slots_[id].end;
  const bool writes = slots_[id].kind == Kind::write;
  if (lba == end) return;
  auto run = split(lba);
  split(end);
  std::uint64_t at = lba;
  while (run != runs_.end() && run->first < end) {
    if (pending(run->second.writer)) follow(run->second.writer, id, Link::sectors);
    if (writes) {
      for (const RequestId reader : run->second.readers)
        if (pending(reader)) follow(reader, id, Link::sectors);
      run = runs_.erase(run);
      continue;
    }
    if (at < run->first) runs_.emplace_hint(run, at, Run{run->first, 0, {id}});
    run->second.readers.push_back(id);
    at = run->second.end;
    ++run;
  }
  if (writes)
    runs_.emplace_hint(run, lba, Run{end, id, {}});
  else if (at < end)
    runs_.emplace_hint(run, at, Run{end, 0, {id}});
}

void DiskOrder::forget_sectors(RequestId id) {
  const Slot& slot = slots_[id];
  auto run = runs_.upper_bound(slot.lba);
  if (run != runs_.begin()) --run;
  while (run != runs_.end() && run->first < slot.end) {
    Run& known = run->second;
    if (known.writer == id) known.writer = 0;
    if (slot.kind == Kind::read)
      known.readers.erase(std::remove(known.readers.begin(), known.readers.end(), id),
                          known.readers.end());
    run = known.writer == 0 && known.readers.empty() ? runs_.erase(run) : std::next(run);
  }
}

void DiskOrder::complete(RequestId id, Outcome outcome, Changes& changes) {
  invariant(pending(id) && !slots_[id].doomed, "a request was completed although it was not ready");
  std::size_t failed = changes.failed.size();
  finish(id, outcome, changes);
  while (failed < changes.failed.size()) finish(changes.failed[failed++], Outcome::failed, changes);
  while (!slots_.empty() && slots_.front().complete) slots_.pop_front();
  open_gates(changes);
}

void DiskOrder::finish(RequestId id, Outcome outcome, Changes& changes) {
  Slot& slot = slots_[id];
  slot.complete = true;
  forget_sectors(id);
  const std::vector<Follower> followers = std::exchange(slot.followers, {});
  if (outcome == Outcome::failed && slot.kind == Kind::write) {
    // The write may have failed without being sent, because a request in its chain failed. Later
    // writes of the same sectors also contain the changes of this write, but their chains need not
    // name the requests on which these changes depend. The later writes must therefore fail, too.
    for (const Follower& follower : followers)
      if ((follower.link == Link::chain || slot.doomed) && slots_[follower.id].kind == Kind::write)
        doom(follower.id, changes);
    doom_followers(id, changes);
  }
  for (const Follower& follower : followers) {
    Slot& after = slots_[follower.id];
    if (after.complete) continue;
    --(follower.link == Link::sectors ? after.held_by_sectors : after.held_by_order);
    consider(follower.id, changes);
  }
}

/// Dooms the writes that the failed write's flag or barrier has held back: they will fail without
/// being sent.
void DiskOrder::doom_followers(RequestId id, Changes& changes) {
  const bool flagged = slots_[id].flagged;
  const bool barrier = slots_[id].barrier;
  const auto doom_all = [&](const std::deque<RequestId>& gate) {
    const std::vector<RequestId> behind(std::upper_bound(gate.begin(), gate.end(), id), gate.end());
    for (const RequestId after : behind)
      if (pending(after) && slots_[after].kind == Kind::write) doom(after, changes);
  };
  if (flagged) doom_all(flag_gate_);
  if (barrier) doom_all(barrier_gate_);
}

void DiskOrder::doom(RequestId id, Changes& changes) {
  if (slots_[id].complete || slots_[id].doomed) return;
  slots_[id].doomed = true;
  consider(id, changes);
}

void DiskOrder::consider(RequestId id, Changes& changes) {
  Slot& slot = slots_[id];
  if (slot.complete || slot.held_by_sectors > 0) return;
  if (slot.doomed) {
    slot.complete = true;
    // A chain may be too long for recursion, so complete() processes this list in a loop.
    changes.failed.push_back(id);
  } else if (slot.held_by_order == 0) {
    changes.ready.push_back(id);
  }
}

template <typename MayPass>
void DiskOrder::open_gate(std::deque<RequestId>& gate, const MayPass& may_pass, Changes& changes) {
  while (!gate.empty()) {
    const RequestId id = gate.front();
    const bool gone = !pending(id) || slots_[id].doomed;
    if (!gone && !may_pass(id)) return;
    gate.pop_front();
    if (gone) continue;
    --slots_[id].held_by_order;
    consider(id, changes);
  }
}

void DiskOrder::open_gates(Changes& changes) {
  open_gate(flag_gate_, [this](RequestId id) { return may_pass_flags(id); }, changes);
  open_gate(barrier_gate_, [this](RequestId id) { return first_of(barriers_) >= id; }, changes);
  open_gate(flush_gate_, [this](RequestId id) { return slots_.oldest() == id; }, changes);
}

}  // namespace headcrash::os
