#include "plugin/servers/emulation/load_series.h"

#include <algorithm>

namespace headcrash::emulation {

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

/// Distributes sectors over bins in proportion to time. The counts are rounded so that their sum is
/// `sectors`.
void LoadSeries::spread(std::uint64_t Bin::* count, std::uint64_t sectors, model::TimeNs from,
                        model::TimeNs to) {
  const double each =
      static_cast<double>(sectors) / static_cast<double>(std::max<model::TimeNs>(to - from, 1));
  std::uint64_t counted = 0;
  for (model::TimeNs at = from; counted < sectors;) {
    const model::TimeNs end = std::min(begin_ + ((at - begin_) / width_ + 1) * width_, to);
    const auto until =
        end == to ? sectors : static_cast<std::uint64_t>(static_cast<double>(end - from) * each);
    bin_at(at).*count += until - counted;
    counted = until;
    at = end;
  }
}

void LoadSeries::completed(model::Op op, std::uint32_t sectors, model::TimeNs submitted_at,
                           model::TimeNs completed_at) {
  if (op != model::Op::read && op != model::Op::write && op != model::Op::flush) return;
  if (completed_at < begin_) return;
  Bin& last = bin_at(completed_at);
  if (op == model::Op::flush) ++last.flushes;
  const model::TimeNs since =
      std::min(std::max({submitted_at, last_completion_, begin_}), completed_at);
  if (op == model::Op::read) spread(&Bin::sectors_read, sectors, since, completed_at);
  if (op == model::Op::write) spread(&Bin::sectors_written, sectors, since, completed_at);
  last_completion_ = std::max(last_completion_, completed_at);
  for (model::TimeNs at = std::max(submitted_at, begin_); at < completed_at;) {
    const model::TimeNs end =
        std::min(begin_ + ((at - begin_) / width_ + 1) * width_, completed_at);
    bin_at(at).inside_ns += end - at;
    at = end;
  }
}

}  // namespace headcrash::emulation
