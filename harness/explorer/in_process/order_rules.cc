// Applies the driver's rules to the requests that were pending at a cut (order_rules.h).
#include "harness/explorer/in_process/order_rules.h"

#include <algorithm>
#include <unordered_map>

#include "plugin/base/invariant.h"

namespace headcrash::in_process {
namespace {

using Kind = os::DiskOrder::Kind;

// The fate of a request in a state. `free` stands for any request that is not an unflushed write.
enum class Fate : std::uint8_t { free, kept, torn, lost };

}  // namespace

void OrderRules::issued(os::RequestId id, const os::BlockRequest& request,
                        const os::Ordering& ordering, std::uint64_t event) {
  invariant(requests_.empty() || id == requests_.back().id + 1,
            "requests must be numbered without gaps");
  Issued one{.id = id,
             .lba = request.lba,
             .sectors = request.sectors,
             .flagged = ordering.flagged,
             .barrier = ordering.barrier,
             .after = {ordering.after.begin(), ordering.after.end()},
             .issued_event = event};
  if (request.op == model::Op::read) one.kind = Kind::read;
  if (request.op == model::Op::flush) one.kind = Kind::flush;
  requests_.push_back(std::move(one));
}

void OrderRules::completed(os::RequestId id, std::uint64_t event) {
  if (requests_.empty() || id < requests_.front().id) return;
  requests_[id - requests_.front().id].completed_event = event;
}

bool OrderRules::allow(const states::CrashState& state) const {
  // A state that contains all unflushed writes, or none of them, is always possible.
  if (state.torn.empty() && state.listed.empty()) return true;
  const std::uint64_t cut = state.event;
  os::DiskOrder order(flag_, reads_bypass_);
  os::DiskOrder::Changes changes;
  std::unordered_map<os::RequestId, os::RequestId> renumbered;
  std::vector<Fate> fates{Fate::free};  // indexed by the new id, which starts at 1
  std::size_t kept = 0, torn = 0;
  for (const Issued& one : requests_) {
    if (one.issued_event >= cut) break;
    if (one.completed_event < cut) continue;
    std::vector<os::RequestId> after;
    for (const os::RequestId before : one.after)
      if (const auto known = renumbered.find(before); known != renumbered.end())
        after.push_back(known->second);
    const auto id =
        order.add(one.kind, one.lba, one.sectors,
                  {.flagged = one.flagged, .after = after, .barrier = one.barrier}, changes);
    renumbered.emplace(one.id, id);
    Fate fate = Fate::free;
    if (one.kind == Kind::write) {
      const bool listed = std::binary_search(state.listed.begin(), state.listed.end(), one.id);
      fate = listed != state.keep_others ? Fate::kept : Fate::lost;
      if (std::ranges::find(state.torn, one.id, &states::TornWrite::request) != state.torn.end())
        fate = Fate::torn;
    }
    kept += fate == Fate::kept ? 1 : 0;
    fates.push_back(fate);
  }
  while (!changes.ready.empty()) {
    const os::RequestId id = changes.ready.back();
    changes.ready.pop_back();
    const Fate fate = fates[id];
    torn += fate == Fate::torn ? 1 : 0;
    if (fate != Fate::kept && fate != Fate::free) continue;
    kept -= fate == Fate::kept ? 1 : 0;
    order.complete(id, os::DiskOrder::Outcome::done, changes);
  }
  // A disk processes one request at a time, so at most one write is torn.
  return kept == 0 && state.torn.size() <= 1 && torn == state.torn.size();
}

}  // namespace headcrash::in_process
