// A store on top of a driver's queue (fiber_store.h).
#include "fs-adapters/substrate/os/fiber_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace headcrash::os {
namespace {

const char* words_for(model::Status status) {
  switch (status) {
    case model::Status::ok:
      return "ok";
    case model::Status::power_lost:
      return "the power is off";
    case model::Status::medium_error:
      return "medium error";
    case model::Status::out_of_range:
      return "beyond the end of the device";
    case model::Status::store_error:
      return "the host's storage failed";
    case model::Status::device_failed:
      return "the device has failed";
  }
  return "unknown status";
}

Result<void> result_of(const char* what, const BlockRequest& request, model::Status status) {
  if (status == model::Status::ok) return {};
  return fail(fmt::format("sectors {} to {}", request.lba, request.lba + request.sectors - 1),
              fmt::format("cannot be {}: {}", what, words_for(status)));
}

/// Splits `sectors` into requests of at most `most`, and calls `part(offset, count)` for each until
/// one fails. All arguments are in sectors.
template <typename Part>
Result<void> in_parts(std::uint64_t sectors, std::uint32_t most, const Part& part) {
  for (std::uint64_t done = 0; done < sectors;) {
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, sectors - done));
    TRY(part(done, count));
    done += count;
  }
  return {};
}

}  // namespace

Result<void> FiberStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  return in_parts(into.size() / model::kSectorBytes, options_.request_sectors_max,
                  [&](std::uint64_t done, std::uint32_t count) {
                    BlockRequest request{model::Op::read, lba + done, count};
                    request.into =
                        into.subspan(done * model::kSectorBytes, count * model::kSectorBytes);
                    return result_of("read", request, disk_.transfer(request));
                  });
}

Result<void> FiberStore::write(std::uint64_t lba, std::span<const std::byte> data) {
  const auto written = in_parts(data.size() / model::kSectorBytes, options_.request_sectors_max,
                                [&](std::uint64_t done, std::uint32_t count) {
                                  BlockRequest request{model::Op::write, lba + done, count};
                                  request.data = data.subspan(done * model::kSectorBytes,
                                                              count * model::kSectorBytes);
                                  return result_of("written", request, disk_.transfer(request));
                                });
  return written ? flush(lba) : written;
}

Result<void> FiberStore::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  const std::vector<std::byte> zeroes(std::min<std::uint64_t>(count, options_.request_sectors_max) *
                                      model::kSectorBytes);
  const auto written =
      in_parts(count, options_.request_sectors_max, [&](std::uint64_t done, std::uint32_t part) {
        BlockRequest request{model::Op::write, lba + done, part};
        request.data = std::span<const std::byte>(zeroes).first(part * model::kSectorBytes);
        return result_of("written", request, disk_.transfer(request));
      });
  return written ? flush(lba) : written;
}

Result<void> FiberStore::flush(std::uint64_t lba) {
  if (!options_.flushes) return {};
  const model::Status status =
      disk_.transfer({model::Op::flush, device_address(device_of(lba), 0)});
  if (status == model::Status::ok) return {};
  return fail("the device", fmt::format("cannot be flushed: {}", words_for(status)));
}

}  // namespace headcrash::os
