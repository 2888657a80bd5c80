// LFS-28, LFS-29 and LFS-44: a file of 100 MB (section 6.2.1.2, figure 6-4), and the only case in
// which LFS is slower than SunOS (section 6.7).
#include <array>
#include <cmath>

#include "harness/papers/judge.h"
#include "harness/papers/rosenblum92/chapter6.h"
#include "harness/papers/rosenblum92/prototype.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr const char* kLargeFile = "lfs-large-file";
constexpr std::array kLargeFilePhases{"sequential-write", "sequential-read", "random-write",
                                      "random-read", "sequential-reread"};
enum PhaseAt : std::uint8_t { kWrite, kRead, kRandomWrite, kRandomRead, kReread };

double kilobytes_per_s(const PhaseOutcome& phase) {
  constexpr double kKilobyte = 1024;
  return static_cast<double>(phase.bytes_read + phase.bytes_written) / kKilobyte / phase.longest_s;
}

std::vector<Named> of_all(const std::vector<const Cell*>& cells, const char* phase) {
  std::vector<Named> values;
  values.reserve(cells.size());
  for (const Cell* cell : cells)
    values.push_back({cell->setup.name, cell->of(phase, kilobytes_per_s)});
  return values;
}

void add_bandwidths(ClaimAnswer& answer, const Cell& cell) {
  for (const char* phase : kLargeFilePhases)
    add_number(answer, cell, cell.setup.name, phase, "KB/s", {}, cell.of(phase, kilobytes_per_s));
}

void add_equal(ClaimAnswer& answer, const std::string& text, const std::vector<Named>& values,
               double slack) {
  add_rule(answer, text, values, [&] {
    for (const Named& each : values)
      if (std::abs(*each.value / *values.front().value - 1) > slack) return false;
    return true;
  });
}

ClaimAnswer five_phases(Cells& cells) {
  ClaimAnswer answer{.id = "LFS-28", .part = "large-file", .title = "A file of 100 MB (6-4)"};
  const std::vector<const Cell*> all{&cells.get(LfsSetup{}.setup(), kLargeFile),
                                     &cells.get(sunos().setup(), kLargeFile),
                                     &cells.get(sprite_ofs().setup(), kLargeFile)};
  for (const Cell* cell : all) add_bandwidths(answer, *cell);
  const auto written = of_all(all, kLargeFilePhases[kWrite]);
  add_falling(answer, "sequential write: LFS > SunOS > OFS", written);
  // 240 KB/s corresponds to one 4 KB block per revolution of 16.7 ms.
  add_rule(answer, "OFS writes one block of 4 KB per revolution (240 KB/s, +-15 %)", {written[2]},
           [&] { return std::abs(*written[2].value / 240 - 1) <= .15; });
  add_equal(answer, "sequential read: all systems have the same rate (within 25 %)",
            of_all(all, kLargeFilePhases[kRead]), .25);
  const auto random = of_all(all, kLargeFilePhases[kRandomWrite]);
  add_rule(answer, "random write: LFS at least twice as fast as the other systems", random, [&] {
    return *random[0].value >= 2 * *random[1].value && *random[0].value >= 2 * *random[2].value;
  });
  mark(answer, RuleClass::ours);
  add_falling(
      answer, "random write: LFS is the fastest",
      {random[0], {"the faster of the others", std::max(random[1].value, random[2].value)}});
  add_equal(answer, "random read: all systems have the same rate (within 25 %)",
            of_all(all, kLargeFilePhases[kRandomRead]), .25);
  const auto again = of_all(all, kLargeFilePhases[kReread]);
  add_rule(answer,
           "sequential read of randomly written data: LFS is by far the slowest (at most half of "
           "SunOS's rate)",
           again, [&] {
             return *again[0].value < *again[1].value / 2 && *again[0].value < *again[2].value;
           });

  if (cells.options().once) return answer;
  // Adds counterfactuals: Sprite LFS with the block size of SunOS, and SunOS without the gap
  // between blocks.
  LfsSetup large_blocks;
  large_blocks.name += ", blocks of 8 KB";
  large_blocks.mkfs.block_bytes = 8192;
  large_blocks.machine.concatenated_sectors = 16;
  UfsSetup no_gap = sunos();
  no_gap.name += ", no gap";
  no_gap.scheme.mount.allocation.gap_blocks = 0;
  add_bandwidths(answer, cells.get(large_blocks.setup(), kLargeFile));
  add_bandwidths(answer, cells.get(no_gap.setup(), kLargeFile));
  for (const Setup& faster :
       {on_faster_processor(LfsSetup{}, 4).setup(), on_faster_processor(sunos(), 4).setup(),
        on_faster_processor(sprite_ofs(), 4).setup()})
    add_bandwidths(answer, cells.get(faster, kLargeFile));
  answer.remarks.push_back(
      "Counterfactuals: with blocks of 8 KB, as in SunOS, each read of LFS transfers twice as "
      "much for the 4 ms of controller overhead. SunOS without a gap reads from the drive's "
      "read-ahead, and writes one block per revolution, as OFS does. With a processor four times "
      "as fast, LFS's writes no longer wait for the processor; the processor factor, which was "
      "calibrated with small files, slows copies of large files by as much.");
  return answer;
}

ClaimAnswer clustering(Cells& cells) {
  ClaimAnswer answer{.id = "LFS-29",
                     .part = "large-file",
                     .title = "SunOS 4.1, which groups writes, compared with LFS (6.2.1.2)"};
  const Cell& lfs = cells.get(LfsSetup{}.setup(), kLargeFile);
  const Cell& clustered = cells.get(sunos_clustered().setup(), kLargeFile);
  add_bandwidths(answer, clustered);
  const std::vector<Named> written{
      {"Sprite LFS", lfs.of(kLargeFilePhases[kWrite], kilobytes_per_s)},
      {"SunOS, clustered", clustered.of(kLargeFilePhases[kWrite], kilobytes_per_s)}};
  const Cell& faster_lfs = cells.get(on_faster_processor(LfsSetup{}, 4).setup(), kLargeFile);
  const Cell& faster = cells.get(on_faster_processor(sunos_clustered(), 4).setup(), kLargeFile);
  for (const Cell* cell : {&faster_lfs, &faster})
    add_number(answer, *cell, cell->setup.name, kLargeFilePhases[kWrite], "KB/s", {},
               cell->of(kLargeFilePhases[kWrite], kilobytes_per_s));
  answer.remarks.push_back("Counterfactual: a processor four times as fast.");
  add_equal(answer, "sequential write: \"performance equivalent to Sprite LFS\" (within 15 %)",
            written, .15);
  return answer;
}

ClaimAnswer exceptions(Cells& cells) {
  ClaimAnswer answer{.id = "LFS-44",
                     .part = "large-file",
                     .title = "Eight phases: where LFS is slower than SunOS (6.7)"};
  struct Asked {
    const char *workload, *phase;
    bool modifies;
  };
  constexpr std::array kAsked{Asked{"lfs-small-file", "create", true},
                              Asked{"lfs-small-file", "read", false},
                              Asked{"lfs-small-file", "delete", true},
                              Asked{kLargeFile, kLargeFilePhases[kWrite], true},
                              Asked{kLargeFile, kLargeFilePhases[kRead], false},
                              Asked{kLargeFile, kLargeFilePhases[kRandomWrite], true},
                              Asked{kLargeFile, kLargeFilePhases[kRandomRead], false},
                              Asked{kLargeFile, kLargeFilePhases[kReread], false}};
  const auto speed = [](const PhaseOutcome& phase) { return 1 / phase.longest_s; };
  std::vector<Named> modifying, reading;
  for (const Asked& asked : kAsked) {
    const Cell& lfs = cells.get(LfsSetup{}.setup(), asked.workload);
    const Cell& other = cells.get(sunos().setup(), asked.workload);
    const Figure ratio = part_of(lfs.of(asked.phase, speed), other.of(asked.phase, speed));
    add_number(answer, lfs.outcome ? other : lfs, asked.phase, "LFS over SunOS", "", {}, ratio);
    (asked.modifies ? modifying : reading).push_back({asked.phase, ratio});
  }
  add_rule(answer, "LFS is faster in all modifying phases", modifying, [&] {
    return std::all_of(modifying.begin(), modifying.end(),
                       [](const Named& each) { return *each.value > 1; });
  });
  constexpr double kSlack = .1;
  add_rule(answer,
           "reads are equally fast (within 10 %), except the sequential read after random writes",
           reading, [&] {
             for (std::size_t i = 0; i < reading.size(); ++i) {
               const bool slower = *reading[i].value < 1 - kSlack;
               if (slower != (i + 1 == reading.size())) return false;
             }
             return true;
           });
  answer.remarks.push_back(
      "LFS-24 and LFS-28 show the causes for the reads: blocks of 8 KB, and a separate block for "
      "each file.");
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> large_file(Context& context) {
  return {five_phases(context.cells), clustering(context.cells), exceptions(context.cells)};
}

}  // namespace headcrash::experiment::rosenblum92
