// Tracks unflushed changes by path (unflushed.h).
#include "harness/audit/tracer/unflushed.h"

namespace headcrash::audit {

void Unflushed::changed(const std::string& path, const ChangeSite& site) {
  open_[path].insert(site);
}

void Unflushed::moved(const std::string& from, const std::string& to) {
  auto node = open_.extract(from);
  open_.erase(to);  // the rename has replaced the object that had this name
  if (node.empty()) return;
  node.key() = to;
  open_.insert(std::move(node));
}

void Unflushed::removed(const std::string& path) {
  open_.erase(path);
}

void Unflushed::promised() {
  for (const auto& [path, sites] : open_)
    for (const ChangeSite& site : sites) {
      const auto [found, first] = at_lines_.try_emplace(site, UnflushedChange{.target = path});
      ++found->second.lines;
    }
}

}  // namespace headcrash::audit
