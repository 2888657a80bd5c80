#include "plugin/base/line_framing.h"

namespace headcrash::base {

std::optional<LineFramer::Line> LineFramer::next() {
  const std::size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    if (buffer_.size() > longest_bytes_) {
      skipping_ = true;
      buffer_.clear();
      searched_ = 0;
    }
    return std::nullopt;
  }
  Line line;
  line.too_long = skipping_ || end > longest_bytes_;
  if (!line.too_long) line.text = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  searched_ = 0;
  skipping_ = false;
  return line;
}

void LineFramer::reset() {
  buffer_.clear();
  searched_ = 0;
  skipping_ = false;
}

}  // namespace headcrash::base
