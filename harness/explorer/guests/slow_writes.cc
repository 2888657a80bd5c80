// Finds the writes to be slowed down (slow_writes.h). Writes are selected by the same descriptions
// that appear in reports on crash states.
#include "harness/explorer/guests/slow_writes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/explorer/guests/known_disks.h"

namespace headcrash::explorer {

Result<SlowPlaces> places_of_kind(const std::filesystem::path& recording, std::string_view type,
                                  std::string_view kind, std::uint64_t from, std::uint64_t to) {
  constexpr std::size_t kNamedMost = 12;
  // Maximum number of ranges that "slow" accepts (plugin/servers/nbd/CONTROL.md).
  constexpr std::size_t kPlacesMost = 4096;
  TRY(const auto run, states::RunHistory::load(recording));
  TRY(const auto disks, KnownDisks::read(*run, type, {0}));
  TRY(const auto reader, record::RecordingReader::open(recording));
  std::set<SlowPlaces::value_type> places;
  std::set<std::string> others;
  for (const states::RecordedWrite& write : run->writes(0)) {
    if (write.op != model::Op::write || write.submitted_event < from || write.submitted_event >= to)
      continue;
    TRY(const auto bytes, described_bytes(reader, write.bytes_at, write.sectors));
    const std::string what =
        kind_of_write(disks.at(0, write.submitted_event), write.lba, bytes).what;
    if (what.find(kind) == std::string::npos)
      others.insert(what);
    else
      places.emplace(write.lba, write.sectors);
  }
  if (places.size() > kPlacesMost)
    return fail("slow",
                fmt::format("{} writes are of the kind \"{}\"; at most {} can be slow",
                            places.size(), kind, kPlacesMost),
                "use a more specific kind or a shorter workload");
  if (!places.empty()) return SlowPlaces(places.begin(), places.end());
  std::vector<std::string> named(others.begin(), others.end());
  named.resize(std::min(named.size(), kNamedMost));
  return fail(
      "slow", fmt::format("this workload has no write of kind \"{}\"", kind),
      fmt::format("use one of these kinds, or a part of its name: {}", fmt::join(named, "; ")));
}

}  // namespace headcrash::explorer
