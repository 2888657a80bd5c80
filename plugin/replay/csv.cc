#include "plugin/replay/csv.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

namespace headcrash::replay {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kLineBytesMax = 256;
constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr int kDecimals = 6;
constexpr std::string_view kHead =
    "i,arrive_ms,complete_ms,op,lbn,blocks,response_ms,hit,seek_ms,rotlat_ms,media_xfer_ms\n";

/// Writes fields to a buffer. REQUIRES: the buffer has room.
class Line {
 public:
  explicit Line(char* at) : at_(at) {}
  void text(std::string_view word) {
    std::memcpy(at_, word.data(), word.size());
    at_ += word.size();
  }
  void number(std::uint64_t value) { at_ = std::to_chars(at_, at_ + 20, value).ptr; }
  void comma() { *at_++ = ','; }
  void milliseconds(TimeNs ns) {
    const auto value = static_cast<std::uint64_t>(ns);
    number(value / kNsPerMs);
    std::uint64_t fraction = value % kNsPerMs;
    *at_ = '.';
    for (int i = kDecimals; i > 0; --i) {
      at_[i] = static_cast<char>('0' + fraction % 10);
      fraction /= 10;
    }
    at_ += kDecimals + 1;
  }
  char* end() const { return at_; }

 private:
  char* at_;
};

std::string_view hit_of(const ReplayedRequest& r) {
  constexpr std::array<std::string_view, 6> kStatus = {
      "", "POWER_LOST", "MEDIUM_ERROR", "OUT_OF_RANGE", "STORE_ERROR", "DEVICE_FAILED"};
  if (r.status != model::Status::ok) return kStatus.at(static_cast<std::size_t>(r.status));
  return r.breakdown.cache_hit ? "WHOLE" : "NOMATCH";
}

}  // namespace

CsvWriter::CsvWriter(std::string path, std::FILE* file)
    : path_(std::move(path)), file_(file), buffer_(kBufferBytes) {
  std::memcpy(buffer_.data(), kHead.data(), kHead.size());
  held_ = kHead.size();
}

CsvWriter::~CsvWriter() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

Result<std::unique_ptr<CsvWriter>> CsvWriter::create(const std::string& path) {
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr)
    return fail(path, "cannot be written: " + std::generic_category().message(errno),
                "check the folder and its permissions");
  return std::unique_ptr<CsvWriter>(new CsvWriter(path, file));
}

void CsvWriter::write_out() {
  if (!failed_ && std::fwrite(buffer_.data(), 1, held_, file_) != held_) note_failure();
  held_ = 0;
}

void CsvWriter::replayed(const ReplayedRequest& r) {
  if (held_ + kLineBytesMax > buffer_.size()) write_out();
  Line line(buffer_.data() + held_);
  line.number(r.index);
  line.comma();
  line.milliseconds(r.arrive_ns);
  line.comma();
  line.milliseconds(r.complete_ns);
  line.text(r.request.read ? ",R," : ",W,");
  line.number(r.request.lbn);
  line.comma();
  line.number(r.request.blocks);
  line.comma();
  line.milliseconds(r.response_ns());
  line.comma();
  line.text(hit_of(r));
  line.comma();
  line.milliseconds(r.breakdown.seek_ns);
  line.comma();
  line.milliseconds(r.breakdown.rotation_ns);
  line.comma();
  line.milliseconds(r.breakdown.transfer_ns);
  line.text("\n");
  held_ = static_cast<std::size_t>(line.end() - buffer_.data());
}

void CsvWriter::note_failure() {
  if (!failed_) error_ = errno;
  failed_ = true;
}

Result<void> CsvWriter::close() {
  write_out();
  if (std::fflush(file_) != 0) note_failure();
  if (file_ != stdout && std::fclose(file_) != 0) note_failure();
  file_ = nullptr;
  if (failed_)
    return fail(path_, "cannot be written completely: " + std::generic_category().message(error_),
                "use a file system with free space");
  return {};
}

}  // namespace headcrash::replay
