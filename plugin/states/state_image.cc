// Reads a crash state through its two layers (state_image.h).
//
//   top     ....####....0000..........##......   # bytes of the recording, 0 its zeroes, . none
//   base    ##########..####..........######..   the state below the recording; it may have a base
//           ----====----====----------==------   split(): = parts of the top, - of the base
#include "plugin/states/state_image.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "plugin/base/invariant.h"
#include "plugin/media/range.h"
#include "plugin/record/used_disk.h"
#include "plugin/states/digest.h"
#include "plugin/states/used_image.h"

namespace headcrash::states {
namespace {

using model::kSectorBytes;
using record::ExtentLocation;

constexpr std::uint64_t kBufferSectors = 512;  ///< number of sectors read at a time for a digest

/// Merges adjacent ranges.
class Joined {
 public:
  explicit Joined(const StateImage::Visit& visit) : visit_(visit) {}
  void add(std::uint64_t lba, std::uint64_t sectors) {
    if (sectors == 0) return;
    if (lba == first_ + sectors_) {
      sectors_ += sectors;
      return;
    }
    finish();
    first_ = lba;
    sectors_ = sectors;
  }
  void finish() {
    if (sectors_ > 0) visit_(first_, sectors_);
    sectors_ = 0;
  }

 private:
  const StateImage::Visit& visit_;
  std::uint64_t first_ = 0;
  std::uint64_t sectors_ = 0;
};

/// Returns true if copies of an image must include these sectors. Copies omit zeroes and the prior
/// contents of a used disk.
bool written(ExtentLocation where) {
  return (!where.is_zeroes() && !record::is_prior(where)) || where.unreadable();
}

}  // namespace

struct StateImage::Part {
  std::uint64_t lba = 0, sectors = 0;
  bool of_top = false;
  ExtentLocation where;  ///< location of the first sector, if of_top is true
};

StateImage::StateImage(record::MediumState top, std::shared_ptr<const StateImage> base)
    : top_(std::move(top)), base_(std::move(base)) {
  invariant(!base_ || base_->sectors() == top_.sectors(),
            "a state and its base must have equal sizes");
}

template <typename Take>
void StateImage::split(std::uint64_t lba, std::uint64_t sectors, Take take) const {
  std::uint64_t next = lba;
  top_.index().visit(lba, sectors,
                     [&](std::uint64_t from, std::uint64_t count, ExtentLocation where) {
                       if (from > next) take(Part{next, from - next, false, {}});
                       take(Part{from, count, true, where});
                       next = from + count;
                     });
  if (next < lba + sectors) take(Part{next, lba + sectors - next, false, {}});
}

Result<void> StateImage::read(std::uint64_t lba, std::span<std::byte> into) const {
  if (!base_) return top_.read(lba, into);
  TRY(media::check_range("state", sectors(), lba, into.size()));
  Result<void> result;
  split(lba, into.size() / kSectorBytes, [&](const Part& part) {
    if (!result) return;
    const auto bytes = into.subspan((part.lba - lba) * kSectorBytes, part.sectors * kSectorBytes);
    result = part.of_top ? top_.read(part.lba, bytes) : base_->read(part.lba, bytes);
  });
  return result;
}

std::optional<std::uint64_t> StateImage::first_unreadable(std::uint64_t lba,
                                                          std::uint64_t sectors) const {
  std::optional<std::uint64_t> first;
  split(lba, sectors, [&](const Part& part) {
    if (first) return;
    if (part.of_top && part.where.unreadable()) first = part.lba;
    if (!part.of_top && base_) first = base_->first_unreadable(part.lba, part.sectors);
  });
  return first;
}

void StateImage::visit_written(std::uint64_t lba, std::uint64_t sectors, const Visit& visit) const {
  Joined joined(visit);
  split(lba, sectors, [&](const Part& part) {
    if (part.of_top && written(part.where)) joined.add(part.lba, part.sectors);
    if (!part.of_top && base_)
      base_->visit_written(part.lba, part.sectors, [&](std::uint64_t from, std::uint64_t count) {
        joined.add(from, count);
      });
  });
  joined.finish();
}

template <typename Take>
Result<void> StateImage::visit_digests(const Part& part, Take take) const {
  const bool unreadable = part.where.unreadable(), prior = record::is_prior(part.where);
  const bool reads = !prior && !part.where.is_zeroes();
  if (!reads && !prior && !unreadable) return {};
  std::vector<std::byte> buffer(reads ? std::min(part.sectors, kBufferSectors) * kSectorBytes : 0);
  for (std::uint64_t done = 0; done < part.sectors; ++done) {
    const std::uint64_t sector = part.lba + done, in_buffer = done % kBufferSectors;
    if (reads && in_buffer == 0) {
      buffer.resize(std::min(part.sectors - done, kBufferSectors) * kSectorBytes);
      TRY(top_.read(sector, buffer));
    }
    std::uint64_t digest = unreadable ? unreadable_sum(sector, 1) : 0;
    if (prior) digest += prior_sum(sector, 1);
    if (reads)
      digest +=
          digest_sum(sector, std::span(buffer).subspan(in_buffer * kSectorBytes, kSectorBytes));
    take(sector, digest);
  }
  return {};
}

Result<std::uint64_t> StateImage::digest(std::uint64_t lba, std::uint64_t sectors,
                                         const KnownDigest& known) const {
  if (digests_) return (*digests_)[lba + sectors] - (*digests_)[lba];
  std::uint64_t sum = 0;
  const auto add = [&](const Part& part) -> Result<void> {
    if (!part.of_top && !base_) return {};
    if (!part.of_top) {
      TRY(const auto below, base_->digest(part.lba, part.sectors));
      sum += below;
      return {};
    }
    if (known && part.where.plain() && !part.where.is_zeroes()) {
      TRY(const auto digest, known(part.lba, part.sectors, part.where));
      sum += digest.value_or(0);
      if (digest) return {};
    }
    return visit_digests(part, [&](std::uint64_t, std::uint64_t digest) { sum += digest; });
  };
  Result<void> result;
  split(lba, sectors, [&](const Part& part) {
    if (result) result = add(part);
  });
  if (!result) return forward_error(result);
  return sum;
}

Result<void> StateImage::know_digests() {
  if (digests_) return {};
  std::vector<std::uint64_t> digests(sectors());
  const auto add = [&](const Part& part) -> Result<void> {
    if (part.of_top)
      return visit_digests(
          part, [&](std::uint64_t sector, std::uint64_t digest) { digests[sector] = digest; });
    for (std::uint64_t i = 0; base_ && i < part.sectors; ++i) {
      TRY(const auto below, base_->digest(part.lba + i, 1));
      digests[part.lba + i] = below;
    }
    return {};
  };
  Result<void> result;
  split(0, sectors(), [&](const Part& part) {
    if (result) result = add(part);
  });
  if (result) know_digests(digests);
  return result;
}

void StateImage::know_digests(std::span<const std::uint64_t> digests) {
  invariant(digests.size() == sectors(), "each sector of an image has a digest");
  auto sums = std::make_shared<std::vector<std::uint64_t>>(sectors() + 1);
  std::partial_sum(digests.begin(), digests.end(), sums->begin() + 1);
  digests_ = std::move(sums);
}

StateImage used_image(std::uint64_t sectors) {
  record::ExtentIndex index(sectors);
  index.assign(0, sectors, record::prior_bytes());
  return StateImage(record::MediumState(nullptr, std::move(index)));
}

}  // namespace headcrash::states
