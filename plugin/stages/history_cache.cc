// Recordings kept open (history_cache.h).
#include "plugin/stages/history_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "plugin/media/host_reason.h"

namespace headcrash::stages {

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

Result<std::shared_ptr<const states::RunHistory>> HistoryCache::get(const std::filesystem::path& recording) {
  const auto version = version_of(recording);
  if (!version) return pass_on(version);
  const std::shared_ptr<Entry> found = entry(recording, *version);
  const std::lock_guard reading(found->reading);
  if (!found->read) {
    found->history = states::RunHistory::load(recording);
    found->read = true;
    if (!found->history) forget(*found);
  }
  return found->history;
}

}  // namespace headcrash::stages
