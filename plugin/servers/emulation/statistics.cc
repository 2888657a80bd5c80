#include "plugin/servers/emulation/statistics.h"

namespace headcrash::emulation {
namespace {

model::DeviceCounters less(const model::DeviceCounters& now, const model::DeviceCounters& before) {
  return {now.reads - before.reads,
          now.writes - before.writes,
          now.flushes - before.flushes,
          now.trims - before.trims,
          now.sectors_read - before.sectors_read,
          now.sectors_written - before.sectors_written,
          now.media_writes - before.media_writes,
          now.media_sectors_written - before.media_sectors_written,
          now.cache_hits - before.cache_hits,
          now.seeks - before.seeks,
          now.busy_ns - before.busy_ns};
}

model::ArrayCounters less(model::ArrayCounters now, const model::ArrayCounters& before) {
  now.full_stripe_writes -= before.full_stripe_writes;
  now.read_modify_writes -= before.read_modify_writes;
  now.reconstruct_writes -= before.reconstruct_writes;
  now.degraded_reads -= before.degraded_reads;
  now.degraded_writes -= before.degraded_writes;
  now.prewrites -= before.prewrites;
  now.rolled_forward -= before.rolled_forward;
  now.stripe_cache_hits -= before.stripe_cache_hits;
  return now;
}

model::NvramCounters less(model::NvramCounters now, const model::NvramCounters& before) {
  now.cached_writes -= before.cached_writes;
  now.write_hits -= before.write_hits;
  now.dirty_hits -= before.dirty_hits;
  now.read_hits -= before.read_hits;
  now.absorbed_sectors -= before.absorbed_sectors;
  now.destages -= before.destages;
  now.destaged_sectors -= before.destaged_sectors;
  now.failed_destages -= before.failed_destages;
  now.write_throughs -= before.write_throughs;
  now.room_waits -= before.room_waits;
  now.replayed_sectors -= before.replayed_sectors;
  now.lost_sectors -= before.lost_sectors;
  return now;
}

}  // namespace

DeviceTotals totals_of(const profiles::BuiltDevice& built) {
  DeviceTotals totals{built.device->counters(), std::nullopt, std::nullopt};
  if (built.array != nullptr) totals.array = built.array->array_counters();
  if (built.nvram != nullptr) totals.nvram = built.nvram->nvram_counters();
  return totals;
}

DeviceTotals difference(const DeviceTotals& now, const DeviceTotals& before) {
  DeviceTotals interval{less(now.device, before.device), std::nullopt, std::nullopt};
  if (now.array) interval.array = less(*now.array, before.array.value_or(model::ArrayCounters{}));
  if (now.nvram) interval.nvram = less(*now.nvram, before.nvram.value_or(model::NvramCounters{}));
  return interval;
}

}  // namespace headcrash::emulation
