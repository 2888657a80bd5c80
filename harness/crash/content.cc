// Block by block: what may stand there, what does (content.h).
//
// With p the last persistence point covering the file and Q the last operation that may have run, a block may
// show the newest version written up to p, any version written in (p, Q], and, where nothing had been made
// persistent, zeroes. A block with a write in flight may also be torn: a prefix of one permitted content and
// the rest of another.
#include "harness/crash/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "harness/workload/stamp.h"

namespace headcrash::crash {
namespace {

/// What one block may hold.
struct Permitted {
  std::optional<std::uint32_t> persistent;  ///< version that at least must be there
  std::vector<std::uint32_t> pending;       ///< versions that may have replaced it
  std::vector<std::uint32_t> overwritten;   ///< versions before the persistent one
};

Permitted permitted_at(const ObjectHistory& object, std::uint64_t block,
                       const std::optional<std::size_t>& cover, std::size_t reached) {
  Permitted permitted;
  for (const WriteRecord& write : object.writes) {
    if (block < write.first_block || block >= write.first_block + write.blocks || write.operation > reached)
      continue;
    if (cover && write.operation <= *cover) {
      if (permitted.persistent) permitted.overwritten.push_back(*permitted.persistent);
      permitted.persistent = write.version;
    } else {
      permitted.pending.push_back(write.version);
    }
  }
  return permitted;
}

using Head = std::array<std::byte, 32>;

Head stamp_head(const ObjectHistory& object, std::uint32_t version, std::uint64_t block) {
  std::array<std::byte, workload::kStampBytes> stamp;
  workload::write_stamp({object.file, version, block}, stamp);
  Head head;
  std::copy_n(stamp.begin(), head.size(), head.begin());
  return head;
}

/// True if the observed first bytes can be a permitted content cut short by the power and another one after
/// the cut.
bool could_be_torn(const ObjectHistory& object, const Permitted& permitted, std::uint64_t block,
                   const std::vector<std::byte>& observed) {
  if (permitted.pending.empty()) return false;
  std::vector<Head> contents;
  for (const std::uint32_t version : permitted.pending)
    contents.push_back(stamp_head(object, version, block));
  contents.push_back(permitted.persistent ? stamp_head(object, *permitted.persistent, block) : Head{});
  const std::size_t length = std::min(observed.size(), Head{}.size());
  for (const Head& first : contents) {
    const auto differs = std::mismatch(observed.begin(),
                                       observed.begin() + static_cast<std::ptrdiff_t>(length), first.begin());
    const auto tear = differs.first - observed.begin();
    for (const Head& rest : contents) {
      if (std::equal(differs.first, observed.begin() + static_cast<std::ptrdiff_t>(length),
                     rest.begin() + tear))
        return true;
    }
  }
  return false;
}

bool contains(const std::vector<std::uint32_t>& versions, std::uint32_t version) {
  return std::find(versions.begin(), versions.end(), version) != versions.end();
}

struct BlockFault {
  Verdict kind;
  Tier tier;
  std::string expected, found;
};

std::string describe(const Permitted& permitted) {
  return permitted.persistent ? fmt::format("version {} or newer", *permitted.persistent)
                              : "zeroes or a version in flight";
}

std::optional<BlockFault> judge_block(const ObjectHistory& object, const ContentRun& run, std::uint64_t block,
                                      const Permitted& permitted) {
  const auto fault = [&](Verdict kind, Tier tier, std::string found) {
    return BlockFault{kind, tier, describe(permitted), std::move(found)};
  };
  switch (run.kind) {
    case ContentRun::Kind::zero:
      if (!permitted.persistent) return std::nullopt;
      return fault(Verdict::lost_synced_data, Tier::posix, "zeroes");
    case ContentRun::Kind::stamp:
      if (run.file == object.file &&
          (run.version == permitted.persistent || contains(permitted.pending, run.version))) {
        return std::nullopt;
      }
      if (run.file == object.file && contains(permitted.overwritten, run.version)) {
        return fault(Verdict::lost_synced_data, Tier::posix, fmt::format("version {}", run.version));
      }
      return fault(run.file == object.file ? Verdict::wrong_data : Verdict::stale_data, Tier::integrity,
                   fmt::format("version {} of file {}", run.version, run.file));
    case ContentRun::Kind::moved:
      return fault(Verdict::wrong_data, Tier::integrity,
                   fmt::format("block {} of file {}", run.stamped_block, run.file));
    case ContentRun::Kind::foreign:
      if (could_be_torn(object, permitted, block, run.head)) return std::nullopt;
      return fault(permitted.persistent ? Verdict::wrong_data : Verdict::stale_data, Tier::integrity,
                   "foreign bytes");
  }
  return std::nullopt;
}

std::optional<Finding> judge_size(const ObjectHistory& object, const ObservedObject& observed,
                                  const Horizon& horizon, const std::optional<std::size_t>& cover) {
  std::uint64_t least = 0, most = 0;
  for (const auto& [operation, size] : object.sizes) {
    if (cover && operation <= *cover) least = size;
    if (operation <= horizon.reached) most = size;
  }
  if (observed.size_bytes >= least && observed.size_bytes <= most) return std::nullopt;
  const Verdict kind = observed.size_bytes > most ? Verdict::wrong_data
                       : observed.size_bytes == 0 ? Verdict::zero_length
                                                  : Verdict::lost_synced_data;
  return Finding{kind, observed.size_bytes > most ? Tier::integrity : Tier::posix, observed.path,
                 least == most ? fmt::format("{} bytes", least) : fmt::format("{} to {} bytes", least, most),
                 fmt::format("{} bytes", observed.size_bytes)};
}

}  // namespace

std::optional<std::size_t> last_cover(const std::vector<std::size_t>& covers,
                                      const std::optional<std::size_t>& persisted) {
  if (!persisted) return std::nullopt;
  const auto after = std::upper_bound(covers.begin(), covers.end(), *persisted);
  if (after == covers.begin()) return std::nullopt;
  return *std::prev(after);
}

std::vector<Finding> judge_content(const ObjectHistory& object, const ObservedObject& observed,
                                   const Horizon& horizon) {
  const std::optional<std::size_t> cover = last_cover(object.covers, horizon.persisted);
  std::vector<Finding> findings;
  if (observed.error != 0) {
    findings.push_back({cover ? Verdict::lost_synced_data : Verdict::wrong_data, Tier::posix, observed.path,
                        "readable content", fmt::format("read error {}", observed.error)});
    return findings;
  }
  if (auto size = judge_size(object, observed, horizon, cover)) findings.push_back(std::move(*size));

  std::map<Verdict, std::pair<BlockFault, std::pair<std::uint64_t, std::uint64_t>>>
      faults;  // first block, count
  const std::uint64_t end = (observed.size_bytes + workload::kStampBytes - 1) / workload::kStampBytes;
  for (const ContentRun& run : observed.runs) {
    for (std::uint64_t block = run.first_block; block < std::min(end, run.first_block + run.blocks);
         ++block) {
      const Permitted permitted = permitted_at(object, block, cover, horizon.reached);
      std::optional<BlockFault> fault = judge_block(object, run, block, permitted);
      if (!fault) continue;
      const auto [at, fresh] = faults.try_emplace(fault->kind, *fault, std::pair{block, std::uint64_t{0}});
      ++at->second.second.second;
    }
  }
  for (auto& [kind, entry] : faults) {
    auto& [fault, where] = entry;
    findings.push_back({kind, fault.tier, observed.path,
                        fmt::format("{} in block {}", fault.expected, where.first),
                        fmt::format("{} ({} block{} of 512 bytes)", fault.found, where.second,
                                    where.second == 1 ? "" : "s")});
  }
  return findings;
}

}  // namespace headcrash::crash
