// Chooses the method for writing part of a stripe (stripe_plan.h).
#include "plugin/model/array/stripe_plan.h"

#include <algorithm>
#include <bit>

namespace headcrash::model {
namespace {

bool role_lost(std::uint64_t lost, std::uint32_t role) {
  return (lost >> role & 1) != 0;
}

RowRange whole_sectors(const RowRange& rows, std::uint32_t physical) {
  return {rows.first / physical * physical, (rows.last + physical - 1) / physical * physical};
}

struct Reads {
  std::uint32_t count = 0;
  bool possible = true;
};

Reads count_read_modify(const RaidLayout& l, const StripePlan& plan, std::uint64_t lost) {
  Reads reads;
  for (std::uint32_t d = 0; d < l.data; ++d) {
    if (plan.changed[d].empty()) continue;
    ++reads.count;
    reads.possible &= !role_lost(lost, d);
  }
  for (std::uint32_t p = l.data; p < l.members; ++p) reads.count += role_lost(lost, p) ? 0 : 1;
  return reads;
}

Reads count_reconstruct(const RaidLayout& l, const StripePlan& plan, std::uint64_t lost) {
  Reads reads;
  for (std::uint32_t d = 0; d < l.data; ++d) {
    if (plan.changed[d].sectors() == plan.rows.sectors()) continue;
    ++reads.count;
    reads.possible &= !role_lost(lost, d);
  }
  return reads;
}

void set_reads(const RaidLayout& l, StripePlan& plan, std::uint64_t lost, std::uint32_t physical) {
  for (std::uint32_t role = 0; role < l.members; ++role) {
    if (role_lost(lost, role)) continue;
    const bool parity = role >= l.data;
    switch (plan.method) {
      case WriteMethod::read_modify:
        plan.read[role] = parity ? plan.rows : whole_sectors(plan.changed[role], physical);
        break;
      case WriteMethod::reconstruct:
        if (!parity && plan.changed[role].sectors() != plan.rows.sectors())
          plan.read[role] = plan.rows;
        break;
      case WriteMethod::recover:
        plan.read[role] = plan.rows;
        break;
      default:
        break;
    }
  }
}

}  // namespace

StripePlan plan_write(const RaidLayout& l, std::uint32_t lo, std::uint32_t hi, std::uint64_t lost,
                      std::uint32_t physical) {
  StripePlan plan;
  const std::uint32_t first = lo / l.unit;
  const std::uint32_t last = (hi - 1) / l.unit;
  for (std::uint32_t d = first; d <= last; ++d)
    plan.changed[d] = {d == first ? lo % l.unit : 0, d == last ? hi - d * l.unit : l.unit};
  plan.rows = first == last ? plan.changed[first] : RowRange{0, l.unit};
  if (last == first + 1 && plan.changed[first].first == plan.changed[last].first &&
      plan.changed[first].last == plan.changed[last].last)
    plan.rows = plan.changed[first];
  plan.rows = whole_sectors(plan.rows, physical);

  const auto lost_count = static_cast<std::uint32_t>(std::popcount(lost));
  if (lost_count > l.parity) return plan;
  bool all_parity_lost = true;
  for (std::uint32_t p = l.data; p < l.members; ++p) all_parity_lost &= role_lost(lost, p);
  const Reads modify = count_read_modify(l, plan, lost);
  const Reads reconstruct = count_reconstruct(l, plan, lost);
  if (l.mirrored() || all_parity_lost) {
    plan.method = l.mirrored() ? WriteMethod::full_stripe : WriteMethod::data_only;
  } else if (reconstruct.count == 0) {
    plan.method = WriteMethod::full_stripe;
  } else if (modify.possible && (!reconstruct.possible || modify.count <= reconstruct.count)) {
    plan.method = WriteMethod::read_modify;
  } else if (reconstruct.possible) {
    plan.method = WriteMethod::reconstruct;
  } else {
    plan.method = WriteMethod::recover;
  }
  set_reads(l, plan, lost, physical);
  // `data_only` reads nothing, so the rest of a physical sector is unknown, and only the changed
  // sectors can be written.
  const bool reads = plan.method != WriteMethod::data_only;
  for (std::uint32_t role = 0; role < l.members; ++role) {
    if (role_lost(lost, role)) continue;
    plan.write[role] = role >= l.data ? plan.rows
                       : reads        ? whole_sectors(plan.changed[role], physical)
                                      : plan.changed[role];
  }
  return plan;
}

}  // namespace headcrash::model
