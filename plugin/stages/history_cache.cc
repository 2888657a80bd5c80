#include "plugin/stages/history_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "plugin/media/host_reason.h"

namespace headcrash::stages {
namespace {

/// A range of sectors and the location of its first sector in the recording. The other sectors
/// follow at adjacent locations, because a range is contiguous in the recording.
struct LocatedRange {
  std::uint64_t lba = 0, end = 0;
  /// nullopt if this recording does not contain the range
  std::optional<record::ExtentLocation> where;
};

std::vector<LocatedRange> stretches_of(const states::StateImage& image) {
  std::vector<LocatedRange> all;
  std::uint64_t next = 0;
  image.top().index().visit(
      0, image.sectors(),
      [&](std::uint64_t lba, std::uint64_t count, record::ExtentLocation where) {
        if (lba > next) all.push_back({next, lba, std::nullopt});
        all.push_back({lba, lba + count, where});
        next = lba + count;
      });
  if (next < image.sectors()) all.push_back({next, image.sectors(), std::nullopt});
  return all;
}

/// Calls visit(lba, sectors) for every range whose bytes are at different locations in the two
/// images.
template <typename Visit>
void visit_differences(const states::StateImage& one, const states::StateImage& other,
                       Visit visit) {
  const std::vector<LocatedRange> ours = stretches_of(one);
  const std::vector<LocatedRange> theirs = stretches_of(other);
  const auto where_at = [](const LocatedRange& stretch, std::uint64_t lba) {
    return stretch.where ? std::optional(stretch.where->after(lba - stretch.lba)) : std::nullopt;
  };
  std::uint64_t lba = 0;
  for (std::size_t a = 0, b = 0; a < ours.size() && b < theirs.size();) {
    const std::uint64_t end = std::min(ours[a].end, theirs[b].end);
    if (where_at(ours[a], lba) != where_at(theirs[b], lba)) visit(lba, end - lba);
    lba = end;
    if (ours[a].end == end) ++a;
    if (theirs[b].end == end) ++b;
  }
}

}  // namespace

Result<std::uint64_t> OpenHistory::digest(model::DeviceId device, const states::StateImage& image) {
  std::optional<Known> known;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(device); found != known_.end()) known = found->second;
  }
  Result<std::uint64_t> digest;
  if (known) {
    digest = known->digest;
    visit_differences(known->image, image, [&](std::uint64_t lba, std::uint64_t sectors) {
      if (!digest) return;
      const auto before = known->image.digest(lba, sectors);
      const auto after = image.digest(lba, sectors);
      if (!before || !after) {
        digest = before ? after : before;
      } else {
        digest = *digest - *before + *after;
      }
    });
  } else {
    digest = image.digest();
  }
  if (!digest) return digest;
  const std::lock_guard lock(mutex_);
  known_.insert_or_assign(device, Known{image, *digest});
  return digest;
}

Result<HistoryCache::Version> HistoryCache::version_of(const std::filesystem::path& recording) {
  struct stat status = {};
  if (stat(recording.c_str(), &status) != 0)
    return fail(recording, "cannot be opened: " + media::host_reason(errno), "check the path");
  return Version{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                 static_cast<std::uint64_t>(status.st_mtim.tv_sec),
                 static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

std::shared_ptr<HistoryCache::Entry> HistoryCache::entry(const std::filesystem::path& recording,
                                                         const Version& version) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry->path == recording; });
  if (known != entries_.end()) {
    if ((*known)->version == version) {
      entries_.splice(entries_.begin(), entries_, known);
      return entries_.front();
    }
    entries_.erase(known);
  }
  if (entries_.size() == kKeptMax) entries_.pop_back();
  entries_.push_front(std::make_shared<Entry>());
  entries_.front()->path = recording;
  entries_.front()->version = version;
  return entries_.front();
}

void HistoryCache::forget(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  entries_.remove_if([&](const auto& kept) { return kept.get() == &entry; });
}

Result<std::shared_ptr<OpenHistory>> HistoryCache::get(const std::filesystem::path& recording) {
  TRY(const auto version, version_of(recording));
  const std::shared_ptr<Entry> found = entry(recording, version);
  const std::lock_guard reading(found->reading);
  if (!found->read) {
    auto run = states::RunHistory::load(recording);
    if (run) {
      found->history = std::make_shared<OpenHistory>(std::move(*run));
    } else {
      found->history = forward_error(run);
      forget(*found);
    }
    found->read = true;
  }
  return found->history;
}

}  // namespace headcrash::stages
