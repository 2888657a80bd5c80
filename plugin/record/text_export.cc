#include "plugin/record/text_export.h"

#include <fmt/format.h>

#include <functional>
#include <unordered_map>

#include "plugin/base/csv.h"
#include "plugin/base/names.h"
#include "plugin/record/log_file.h"

namespace headcrash::record {

const char* name_of(Kind kind) {
  static constexpr auto kNames =
      base::names<Kind>({"", "submit", "ack", "media", "mark", "fault", "power", "opened"});
  return kNames[kind].data();
}

const char* name_of(Bytes bytes) {
  static constexpr auto kNames = base::names<Bytes>({"none", "referred", "zeroes", "carried"});
  return kNames[bytes].data();
}

const char* name_of(model::Op op) {
  static constexpr auto kNames =
      base::names<model::Op>({"read", "write", "flush", "trim", "write_zeroes"});
  return kNames[op].data();
}

const char* name_of(model::Status status) {
  static constexpr auto kNames = base::names<model::Status>(
      {"ok", "power_lost", "medium_error", "out_of_range", "store_error", "device_failed"});
  return kNames[status].data();
}

const char* name_of(model::MediaWrite::Outcome outcome) {
  static constexpr auto kNames = base::names<model::MediaWrite::Outcome>(
      {"written", "torn", "unreadable", "misdirected", "corrupted"});
  return kNames[outcome].data();
}

namespace {

constexpr model::TimeNs kNsPerSecond = 1'000'000'000;

/// An output format. It receives the header once, then every event, and appends lines to the
/// output.
class TextFormat {
 public:
  virtual ~TextFormat() = default;
  virtual void begin(const RecordingHeader& header, std::string& out) = 0;
  virtual std::uint64_t add(const Event& event, std::uint64_t ordinal,
                            std::string& out) = 0;  ///< lines
};

std::string_view text_of(const Event& event) {
  return {reinterpret_cast<const char*>(event.payload.data()), event.payload.size()};
}

class Csv final : public TextFormat {
 public:
  void begin(const RecordingHeader& header, std::string& out) override {
    for (const RecordedDevice& device : header.devices) names_.push_back(device.name);
    out +=
        "event,offset,kind,device,time_ns,request,op,fua,lba,sectors,result,bytes,bytes_at,text\n";
  }

  std::uint64_t add(const Event& e, std::uint64_t ordinal, std::string& out) override {
    const bool of_device = e.kind == Kind::submit || e.kind == Kind::ack || e.kind == Kind::media ||
                           e.kind == Kind::fault;
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},", ordinal, e.offset, name_of(e.kind),
                   of_device ? device(e.device) : "", e.at);
    if (e.request != 0) fmt::format_to(std::back_inserter(out), "{}", e.request);
    const auto range = [&] { return fmt::format("{},{}", e.lba, e.sectors); };
    const std::string at = e.bytes_at != 0 ? fmt::format("{}", e.bytes_at) : "";
    switch (e.kind) {
      case Kind::submit:
        fmt::format_to(std::back_inserter(out), ",{},{},{},,{},{},", name_of(e.op), e.fua ? 1 : 0,
                       range(), e.payload_bytes != 0 ? "carried" : "none", at);
        break;
      case Kind::ack:
        fmt::format_to(std::back_inserter(out), ",,,,,{},,,",
                       name_of(static_cast<model::Status>(e.detail)));
        break;
      case Kind::media:
        fmt::format_to(
            std::back_inserter(out), ",,,{},{},{},{},", range(),
            e.moved ? "moved" : name_of(static_cast<model::MediaWrite::Outcome>(e.detail)),
            name_of(e.bytes), at);
        break;
      case Kind::power:
        fmt::format_to(std::back_inserter(out), ",,,,,{},,,", e.detail == 1 ? "on" : "off");
        break;
      case Kind::mark:
      case Kind::fault:
        fmt::format_to(std::back_inserter(out), ",,,,,,,,{}", base::csv_cell(text_of(e)));
        break;
      case Kind::opened:
        out += ",,,,,,,,";
        break;
    }
    out += '\n';
    return 1;
  }

 private:
  std::string device(model::DeviceId id) const {
    return id < names_.size() ? base::csv_cell(names_[id]) : fmt::format("{}", id);
  }
  std::vector<std::string> names_;
};

class Blkparse final : public TextFormat {
 public:
  void begin(const RecordingHeader&, std::string&) override {}

  std::uint64_t add(const Event& e, std::uint64_t, std::string& out) override {
    const std::uint64_t before = sequence_;
    switch (e.kind) {
      case Kind::submit:
        waiting_[e.request] = {e.op, e.fua, e.lba, e.sectors};
        line(e, 'Q', waiting_[e.request], "headcrash", out);
        line(e, 'D', waiting_[e.request], "headcrash", out);
        break;
      case Kind::ack:
        if (const auto found = waiting_.find(e.request); found != waiting_.end()) {
          if (e.detail == 0) line(e, 'C', found->second, "0", out);
          waiting_.erase(found);
        }
        break;
      case Kind::mark:
        start(e, "m", "N", out);
        for (const char c : text_of(e)) out += c == '\n' ? ' ' : c;
        out += '\n';
        break;
      case Kind::power:
      case Kind::opened:
        waiting_.clear();
        break;
      case Kind::media:
      case Kind::fault:
        break;
    }
    return sequence_ - before;
  }

 private:
  struct PendingRequest {
    model::Op op;
    bool fua;
    std::uint64_t lba;
    std::uint32_t sectors;
  };

  /// Returns blkparse's letters for the request type. A leading "F" stands for a flush, a trailing
  /// "F" for FUA.
  static std::string rwbs(const PendingRequest& request) {
    const std::string after = request.fua ? "F" : "";
    switch (request.op) {
      case model::Op::read:
        return "R" + after;
      case model::Op::write:
      case model::Op::write_zeroes:
        return "W" + after;
      case model::Op::trim:
        return "D" + after;
      case model::Op::flush:
        return "FN";
    }
    return "N";
  }

  void start(const Event& e, std::string_view action, std::string_view letters, std::string& out) {
    fmt::format_to(std::back_inserter(out),
                   "{:>3},{:<3} {:>2} {:>8} {:>5}.{:09} {:>5} {:>2} {:>3} ", 259, e.device, 0,
                   ++sequence_, e.at / kNsPerSecond, e.at % kNsPerSecond, 1, action, letters);
  }

  void line(const Event& e, char action, const PendingRequest& request, std::string_view process,
            std::string& out) {
    start(e, std::string_view(&action, 1), rwbs(request), out);
    if (request.sectors != 0) {
      fmt::format_to(std::back_inserter(out), "{} + {} [{}]\n", request.lba, request.sectors,
                     process);
    } else {
      fmt::format_to(std::back_inserter(out), "[{}]\n", process);
    }
  }

  std::unordered_map<model::RequestId, PendingRequest> waiting_;
  std::uint64_t sequence_ = 0;
};

Result<TextSummary> write_text(RecordingReader& reader, TextFormat& format, LogFile& into) {
  constexpr std::size_t kTextBytes = 256 << 10;
  TextSummary summary;
  std::string out;
  format.begin(reader.header(), out);
  const auto put = [&] {
    into.append(std::as_bytes(std::span(out)));
    out.clear();
  };
  for (;; ++summary.events) {
    TRY(auto event, reader.next(PayloadUse::skip));
    if (!event) break;
    summary.lines += format.add(*event, summary.events, out);
    if (out.size() >= kTextBytes) put();
  }
  put();
  TRY(into.close());
  summary.tail_error = reader.tail_error();
  return summary;
}

Result<TextSummary> export_text(const std::filesystem::path& from, const std::filesystem::path& to,
                                TextFormat& format) {
  TRY(auto reader, RecordingReader::open(from));
  TRY(auto into, LogFile::create(to, LogFile::Content::exported));
  auto written = write_text(reader, format, *into);
  if (written) return written;
  into.reset();
  std::error_code none;
  std::filesystem::remove(to, none);
  return written;
}

}  // namespace

Result<TextSummary> export_csv(const std::filesystem::path& from, const std::filesystem::path& to) {
  Csv format;
  return export_text(from, to, format);
}

Result<TextSummary> export_blkparse(const std::filesystem::path& from,
                                    const std::filesystem::path& to) {
  Blkparse format;
  return export_text(from, to, format);
}

}  // namespace headcrash::record
