// headcrash_validate_arrays prints the bandwidth tables of VALIDATION.md, next to the papers'
// figures.
#include <fmt/core.h>

#include <string>

#include "plugin/profiles/paper_bandwidth.h"

namespace headcrash::profiles {
namespace {

void print_shares(const std::string& title, const SegmentRow::Shares& shares, int digits) {
  fmt::print("{:<26}", title);
  for (const double share : shares) fmt::print(" {:7.{}f}", share, digits);
  fmt::print("\n");
}

int run() {
  const auto segments = measure_segments(1000);
  const auto queues = measure_queues();
  for (const Error* error :
       {segments ? nullptr : &segments.error(), queues ? nullptr : &queues.error()}) {
    if (error == nullptr) continue;
    fmt::print(stderr, "headcrash_validate_arrays: {}\n", error->message());
    return 2;
  }
  fmt::print(
      "Random transfers of whole segments, share of the drives' bandwidth (LFS, table 4-1)\n\n{:<26}",
      "segment KiB");
  for (const std::uint32_t kib : kSegmentKib) fmt::print(" {:7}", kib);
  fmt::print("\n");
  for (const SegmentRow& row : *segments) {
    print_shares(fmt::format("wren-iv x {}, printed", row.drives), row.printed, 2);
    print_shares(row.drives == 1 ? "  ours" : "  synchronised spindles", row.synchronised, 3);
    if (row.drives > 1) print_shares("  unsynchronised spindles", row.unsynchronised, 3);
  }
  fmt::print(
      "\nRandom 4 KiB writes, a thousand in the queue, share of the bandwidth in % (LFS, section 2.4.3)\n\n");
  fmt::print("{:<16} {:>8} {:>8} | {:>8} {:>8} {:>8}\n", "",
             "printed:", "printed:", "ours:", "ours:", "ours:");
  fmt::print("{:<16} {:>8} {:>8} | {:>8} {:>8} {:>8}\n", "profile", "FCFS", "sorted", "FCFS",
             "C-LOOK", "SPTF");
  for (const QueueRow& row : *queues) {
    const auto printed = [](double share) {
      return share > 0 ? fmt::format("{:.0f}", share * 100) : std::string("-");
    };
    fmt::print("{:<16} {:>8} {:>8} | {:8.1f} {:8.1f} {:8.1f}\n", row.profile,
               printed(row.printed_fcfs), printed(row.printed_sorted), row.fcfs * 100,
               row.c_look * 100, row.sptf * 100);
  }
  return 0;
}

}  // namespace
}  // namespace headcrash::profiles

int main() {
  return headcrash::profiles::run();
}
