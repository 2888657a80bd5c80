// Bins that become wider (load_series.h).
#include "plugin/nbd/load_series.h"

#include <algorithm>

namespace headcrash::nbd {

LoadSeries::Bin& LoadSeries::Bin::operator+=(const Bin& other) {
  sectors_read += other.sectors_read;
  sectors_written += other.sectors_written;
  flushes += other.flushes;
  inside_ns += other.inside_ns;
  return *this;
}

LoadSeries::Bin& LoadSeries::bin_at(model::TimeNs at) {
  while ((at - begin_) / width_ >= static_cast<model::TimeNs>(kBinsMost)) {
    for (std::size_t i = 0; 2 * i < bins_.size(); ++i) {
      bins_[i] = bins_[2 * i];
      if (2 * i + 1 < bins_.size()) bins_[i] += bins_[2 * i + 1];
    }
    bins_.resize((bins_.size() + 1) / 2);
    width_ *= 2;
  }
  const auto index = static_cast<std::size_t>((at - begin_) / width_);
  if (index >= bins_.size()) bins_.resize(index + 1);
  return bins_[index];
}

void LoadSeries::completed(model::Op op, std::uint32_t sectors, model::TimeNs submitted_at,
                           model::TimeNs completed_at) {
  if (op != model::Op::read && op != model::Op::write && op != model::Op::flush) return;
  if (completed_at < begin_) return;
  Bin& last = bin_at(completed_at);
  if (op == model::Op::read) last.sectors_read += sectors;
  if (op == model::Op::write) last.sectors_written += sectors;
  if (op == model::Op::flush) ++last.flushes;
  for (model::TimeNs at = std::max(submitted_at, begin_); at < completed_at;) {
    const model::TimeNs end = std::min(begin_ + ((at - begin_) / width_ + 1) * width_, completed_at);
    bin_at(at).inside_ns += end - at;
    at = end;
  }
}

}  // namespace headcrash::nbd
