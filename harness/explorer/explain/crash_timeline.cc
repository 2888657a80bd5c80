// Creates the timeline of a crash (crash_timeline.h). Reads all events of the recording once, and
// then finds the flush that covers each write, the contents of the written blocks, and the writes
// that each state lacks.
#include "harness/explorer/explain/crash_timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "harness/explorer/explain/block_kind.h"
#include "harness/explorer/explain/lost_writes.h"
#include "harness/explorer/guests/array_cut.h"
#include "harness/explorer/guests/known_disks.h"
#include "harness/workload/stamp.h"
#include "plugin/record/recording.h"
#include "plugin/record/used_disk.h"

namespace headcrash::explorer {
namespace {

using report::CrashPage;
using report::Moment;
using report::TimelineRequest;
using report::TimelineState;
using states::CrashState;
using states::RunHistory;

constexpr std::size_t kNamesShown = 4;

class FileNames {
 public:
  explicit FileNames(const std::vector<workload::Operation>& operations) {
    std::map<std::string, std::uint32_t> file_of;
    for (const workload::Operation& operation : operations) {
      if (workload::is_write(operation.kind)) {
        file_of[operation.path] = operation.file;
        add(operation.file, operation.path);
      }
      using Kind = workload::Operation::Kind;
      const bool renamed = operation.kind == Kind::rename ||
                           operation.kind == Kind::rename_noreplace ||
                           operation.kind == Kind::rename_whiteout || operation.kind == Kind::link;
      if (const auto file = file_of.find(operation.path); renamed && file != file_of.end()) {
        const std::uint32_t number = file->second;
        add(number, operation.target);
        file_of[operation.target] = number;
      }
    }
  }
  const std::vector<std::string>& of(std::uint32_t file) const {
    static const std::vector<std::string> kNone;
    const auto found = names_.find(file);
    return found == names_.end() ? kNone : found->second;
  }

 private:
  void add(std::uint32_t file, const std::string& name) {
    auto& names = names_[file];
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::map<std::uint32_t, std::vector<std::string>> names_;
};

TimelineRequest::Op op_of(model::Op op) {
  switch (op) {
    case model::Op::read:
      return TimelineRequest::Op::read;
    case model::Op::trim:
      return TimelineRequest::Op::trim;
    case model::Op::write_zeroes:
      return TimelineRequest::Op::zero;
    default:
      return TimelineRequest::Op::write;
  }
}

class Timeline {
 public:
  Timeline(const RunHistory& run, const TimelineOptions& options)
      : run_(run), options_(options), names_(options.operations) {}

  Result<CrashPage> make() {
    TRY(read_events());
    cover_by_flushes();
    find_flushes_of_promises();
    TRY(describe_blocks());
    TRY(add_issuers());
    page_.events = run_.events();
    page_.first_event = options_.from_event;
    page_.last_event = options_.to_event == 0 ? run_.events() : options_.to_event;
    page_.cut = options_.state ? options_.state->event : run_.events();
    for (const workload::Operation& operation : options_.operations)
      page_.operations.push_back(
          {workload::format(operation), workload::is_persistence_point(operation)});
    for (const oracle::Finding& finding : options_.findings)
      page_.findings.push_back({std::string(oracle::name(finding.kind)),
                                std::string(oracle::name(finding.tier)), finding.path,
                                finding.expected, finding.found});
    TRY(describe_states());
    recovery_after_cut();
    if (options_.hardware) {
      TRY(auto recorded, recorded_series(run_, options_.hardware));
      page_.series = std::move(recorded.series);
      page_.series_notes = std::move(recorded.notes);
    }
    return std::move(page_);
  }

 private:
  /// Returns true if the host sends its requests to this device. A member of an array gets its
  /// requests from the array instead.
  bool is_hosts(model::DeviceId device) const {
    const auto& disks = run_.disks();
    return disks.empty() ? device == 0 : std::ranges::find(disks, device) != disks.end();
  }

  Result<void> read_events() {
    for (const record::RecordedDevice& device : run_.header().devices)
      page_.devices.push_back({device.name, device.profile, device.medium});
    TRY(auto reader, record::RecordingReader::open(run_.path()));
    std::size_t left_out = 0;
    for (std::uint64_t ordinal = 0; ordinal < run_.events(); ++ordinal) {
      TRY(const auto event, reader.next(record::PayloadUse::skip));
      if (!event) break;
      if (!take(*event, {ordinal, event->at})) ++left_out;
    }
    if (left_out > 0)
      page_.left_out.push_back(fmt::format(
          "{} requests and media writes are omitted: the page shows only the first {} of each "
          "kind.",
          left_out, options_.requests_most));
    return {};
  }

  /// Processes an event. Returns false if the limit on requests is exceeded.
  bool take(const record::Event& event, Moment at) {
    using record::Kind;
    switch (event.kind) {
      case Kind::submit:
        return !is_hosts(event.device) || submitted(event, at);
      case Kind::ack:
        acknowledged(event, at);
        return true;
      case Kind::media:
        return event.moved || media(event, at);
      case Kind::mark:
        marked(event, at);
        return true;
      case Kind::power:
        power(event.detail != 0, at);
        return true;
      case Kind::opened:
        power(false, at);
        return true;
      case Kind::fault:
        return true;
    }
    return true;
  }

  bool submitted(const record::Event& event, Moment at) {
    if (event.op == model::Op::flush) {
      waiting_[event.device][event.request] = {true, page_.flushes.size()};
      page_.flushes.push_back({event.device, event.request, at, std::nullopt, std::nullopt});
      return true;
    }
    if (event.sectors == 0) return true;
    const record::RecordedDevice& device = run_.header().devices[event.device];
    // A request that the device rejects has no effect. Neither has a trim of a used disk
    // (record/used_disk.h).
    if (event.lba > device.sectors || event.sectors > device.sectors - event.lba) return true;
    if (event.op == model::Op::trim && record::is_used_disk(device)) return true;
    if (page_.requests.size() >= options_.requests_most) return false;
    waiting_[event.device][event.request] = {false, page_.requests.size()};
    TimelineRequest request{.device = event.device,
                            .request = event.request,
                            .op = op_of(event.op),
                            .fua = event.fua,
                            .lba = event.lba,
                            .sectors = event.sectors,
                            .submitted = at};
    if (event.op == model::Op::read) request.block = report::BlockClass::read;
    if (event.op != model::Op::read)
      of_request_[event.device][event.request] = page_.requests.size();
    bytes_at_.push_back(event.op == model::Op::write ? event.bytes_at : 0);
    on_medium_.push_back(0);
    page_.requests.push_back(std::move(request));
    return true;
  }

  void acknowledged(const record::Event& event, Moment at) {
    auto& waiting = waiting_[event.device];
    const auto found = waiting.find(event.request);
    if (found == waiting.end()) return;
    const auto [is_flush, index] = found->second;
    waiting.erase(found);
    if (event.detail != static_cast<std::uint32_t>(model::Status::ok)) return;
    if (is_flush) {
      page_.flushes[index].acked = at;
    } else {
      page_.requests[index].acked = at;
    }
  }

  bool media(const record::Event& event, Moment at) {
    if (const auto found = of_request_[event.device].find(event.request);
        found != of_request_[event.device].end()) {
      TimelineRequest& request = page_.requests[found->second];
      on_medium_[found->second] += event.sectors;
      if (on_medium_[found->second] >= request.sectors && !request.on_medium)
        request.on_medium = at.event;
    }
    if (page_.media.size() >= options_.requests_most) return false;
    page_.media.push_back(
        {event.device, at, event.lba, event.sectors,
         event.detail == static_cast<std::uint32_t>(model::MediaWrite::Outcome::written)});
    return true;
  }

  void marked(const record::Event& event, Moment at) {
    const auto& marks = run_.marks();
    const auto mark = std::ranges::lower_bound(marks, at.event, {}, &states::RecordedMark::event);
    if (mark == marks.end() || mark->event != at.event || event.kind != record::Kind::mark) return;
    report::TimelineMark described{at, mark->text, mark->text.starts_with("persisted "),
                                   std::nullopt};
    if (described.promise) described.operation = workload::parse_persisted_mark(mark->text);
    if (described.operation && *described.operation >= options_.operations.size())
      described.operation.reset();
    page_.marks.push_back(std::move(described));
  }

  /// Records that the power was switched. After a power cut, the requests so far belong to a
  /// previous power cycle.
  void power(bool on, Moment at) {
    page_.power.emplace_back(at, on);
    if (on) return;
    for (std::size_t i = cycle_; i < page_.requests.size(); ++i)
      page_.requests[i].cycle_ended = at.event;
    cycle_ = page_.requests.size();
    waiting_.clear();
  }

  /// Determines when each write became durable. If a write was acknowledged before a flush was
  /// submitted, the write is durable when this flush completes.
  void cover_by_flushes() {
    for (TimelineRequest& request : page_.requests) {
      if (!request.acked || request.op == TimelineRequest::Op::read) continue;
      if (request.fua) request.durable = request.acked;
      for (auto flush = std::ranges::partition_point(page_.flushes,
                                                     [&](const report::TimelineFlush& each) {
                                                       return each.submitted.event <
                                                              request.acked->event;
                                                     });
           flush != page_.flushes.end(); ++flush) {
        if (flush->device != request.device || !flush->acked) continue;
        if (request.cycle_ended && flush->acked->event > *request.cycle_ended) break;
        if (!request.durable || flush->acked->event < request.durable->event)
          request.durable = flush->acked;
        // Flushes may complete in a different order. Stop at the first flush that was submitted
        // after the earliest completion found so far: neither this flush nor any later one can have
        // completed earlier.
        if (flush->submitted.event > request.durable->event) break;
      }
    }
  }

  /// Finds, for each promise and device, the last flush that was submitted after the previous mark
  /// and completed before the promise's mark.
  void find_flushes_of_promises() {
    std::uint64_t from = 0;
    for (std::size_t mark = 0; mark < page_.marks.size(); ++mark) {
      const std::uint64_t to = page_.marks[mark].at.event;
      if (page_.marks[mark].promise) {
        std::map<std::size_t, report::TimelineFlush*> last;
        for (report::TimelineFlush& flush : page_.flushes) {
          if (flush.submitted.event < from || !flush.acked || flush.acked->event > to) continue;
          report::TimelineFlush*& newest = last[flush.device];
          if (newest == nullptr || newest->acked->event < flush.acked->event) newest = &flush;
        }
        for (const auto& [device, flush] : last) flush->promise = mark;
      }
      from = to;
    }
  }

  Result<void> describe_blocks() {
    TRY(const auto reader, record::RecordingReader::open(run_.path()));
    std::vector<model::DeviceId> devices;
    for (const TimelineRequest& request : page_.requests) {
      const auto device = static_cast<model::DeviceId>(request.device);
      if (request.op != TimelineRequest::Op::read &&
          std::ranges::find(devices, device) == devices.end())
        devices.push_back(device);
    }
    TRY(auto known, KnownDisks::read(run_, options_.type, devices));
    disks_ = std::move(known);
    page_.filesystem_type = disks_.type();
    for (std::size_t i = 0; i < page_.requests.size(); ++i) TRY(describe_block(reader, i));
    return {};
  }

  Result<void> add_issuers() {
    TRY(const auto issuers, Issuers::read(run_.path()));
    for (TimelineRequest& request : page_.requests) {
      const auto* known =
          issuers.find(static_cast<model::DeviceId>(request.device), request.request);
      if (known == nullptr || known->issued.empty()) continue;
      request.issuer = issuers_text(known->issued);
      request.stack = stack_text(known->issued.front());
      if (!known->dirtied.empty()) request.issuer += "; dirtied by " + issuers_text(known->dirtied);
    }
    return {};
  }

  Result<void> describe_block(const record::RecordingReader& reader, std::size_t i) {
    TimelineRequest& request = page_.requests[i];
    if (request.op == TimelineRequest::Op::read) {
      request.what = "a read";
      return {};
    }
    if (request.op != TimelineRequest::Op::write || bytes_at_[i] == 0) {
      request.what = request.op == TimelineRequest::Op::trim   ? "trim"
                     : request.op == TimelineRequest::Op::zero ? "zeroing"
                                                               : "bytes that were not recorded";
      return {};
    }
    TRY(const auto data, described_bytes(reader, bytes_at_[i], request.sectors));
    const KnownDisk disk =
        disks_.at(static_cast<model::DeviceId>(request.device), request.submitted.event);
    BlockKind kind = kind_of_write(disk, request.lba, data);
    request.block = kind.block;
    request.what = std::move(kind.what);
    for (std::size_t at = 0; at < report::kShownBytes; ++at)
      request.bytes += static_cast<char>(data[at]);
    describe_file(request, data,
                  disk.history != nullptr
                      ? disk.history->files(disk.request, request.lba, request.sectors)
                      : std::vector<std::string>{});
    return {};
  }

  /// Names the files to which the write belongs. Stamps in the data identify some files; `known`
  /// contains the files that the file system's metadata identifies. Links the request to the first
  /// finding about one of these files.
  void describe_file(TimelineRequest& request, std::span<const std::byte> data,
                     const std::vector<std::string>& known) const {
    std::optional<std::uint32_t> last;
    std::vector<std::string> files;
    for (std::size_t at = 0; at + workload::kStampBytes <= data.size();
         at += workload::kStampBytes) {
      const auto content = workload::read_stamp(data.subspan(at, workload::kStampBytes));
      const auto* stamp = std::get_if<workload::Stamp>(&content);
      if (stamp == nullptr || last == stamp->file) continue;
      last = stamp->file;
      for (const std::string& name : names_.of(stamp->file)) {
        if (std::ranges::find(files, name) == files.end()) files.push_back(name);
      }
    }
    for (const std::string& name : known)
      if (std::ranges::find(files, name) == files.end()) files.push_back(name);
    for (std::size_t i = 0; i < options_.findings.size() && !request.finding; ++i)
      if (std::ranges::find(files, options_.findings[i].path) != files.end()) request.finding = i;
    if (files.size() > kNamesShown) {
      files.resize(kNamesShown);
      files.emplace_back("...");
    }
    request.file = fmt::format("{}", fmt::join(files, ", "));
  }

  /// Finds the start of the recovery after the cut. Only a trial's recording contains a recovery;
  /// other recordings end before the power returns.
  void recovery_after_cut() {
    if (!options_.state) return;
    bool gone = false;
    for (const auto& [moment, on] : page_.power) {
      if (gone && on) {
        page_.recovery = moment;
        page_.last_event = run_.events();
        return;
      }
      gone = !on && (moment.event == page_.cut || moment.event + 1 == page_.cut);
    }
  }

  Result<void> describe_states() {
    std::string shown;
    if (options_.state) shown = states::format(*options_.state);
    std::vector<JudgedState> judged = options_.states;
    const bool known =
        std::ranges::any_of(judged, [&](const JudgedState& each) { return each.name == shown; });
    if (options_.state && !known) judged.push_back({shown, "", "", ""});
    std::stable_partition(judged.begin(), judged.end(), [&](const JudgedState& each) {
      return each.name == shown || outcome_of(each) == TimelineState::Outcome::failed;
    });
    if (judged.size() > options_.states_most) {
      page_.left_out.push_back(
          fmt::format("{} of {} crash states are shown; failed states take precedence.",
                      options_.states_most, judged.size()));
      judged.resize(options_.states_most);
    }
    for (const JudgedState& each : judged) {
      TRY(const auto state, states::parse_crash_state(each.name));
      if (state.event > run_.events())
        return fail(each.name, "is not a state of " + run_.path().string());
      if (options_.state && each.name == shown) page_.shown = page_.states.size();
      TRY(auto described, describe_state(each, state));
      page_.states.push_back(std::move(described));
    }
    return {};
  }

  static TimelineState::Outcome outcome_of(const JudgedState& state) {
    if (state.verdict.empty()) return TimelineState::Outcome::unknown;
    return oracle::keeps_promises(oracle::verdict_named(state.verdict))
               ? TimelineState::Outcome::kept
               : TimelineState::Outcome::failed;
  }

  Result<TimelineState> describe_state(const JudgedState& judged, const CrashState& state) {
    TimelineState described{.name = judged.name,
                            .strategy = judged.strategy,
                            .verdict = judged.verdict,
                            .summary = judged.summary,
                            .outcome = outcome_of(judged),
                            .event = state.event};
    if (options_.state && *options_.state == state && !options_.state_name.empty())
      described.name = options_.state_name;
    // An array splits each host write into writes to its members, so the page shows which member
    // writes are lost.
    described.by_members = run_.header().of_array() && state.base != CrashState::Base::writes;
    for (const auto& [device, event] : state.stopped) {
      described.stopped.emplace_back(device, Moment{event, time_before(event)});
      for (std::size_t i = 0; i < page_.media.size(); ++i) {
        const report::TimelineMediaWrite& media = page_.media[i];
        if (media.device == device && media.at.event >= event && media.at.event < state.event)
          described.undone.push_back(i);
      }
    }
    if (described.by_members || state.base == CrashState::Base::members) return described;
    if (state.base == CrashState::Base::writes) {
      for (const states::UnflushedWrite& one : run_.unflushed_of(state)) {
        const model::RequestId request = run_.writes(one.device)[one.write].request;
        if (const auto missing = missing_write(state, request))
          add_missing(described, one.device, request, missing->torn);
      }
      return described;
    }
    TRY(const auto lost, lost_writes(run_, state, disks_));
    for (const LostWrite& each : lost.writes) {
      const auto device =
          std::ranges::find(run_.header().devices, each.disk, &record::RecordedDevice::name);
      const auto id = each.disk.empty()
                          ? run_.devices_of(state).front()
                          : static_cast<model::DeviceId>(device - run_.header().devices.begin());
      add_missing(described, id, each.write.request, each.torn);
    }
    return described;
  }
  void add_missing(TimelineState& state, model::DeviceId device, model::RequestId request,
                   const std::optional<states::TornWrite>& torn) {
    const auto found = of_request_[device].find(request);
    if (found == of_request_[device].end()) return;
    if (torn) {
      state.torn.push_back({found->second, torn->first, torn->count});
    } else {
      state.lost.push_back(found->second);
    }
  }
  std::int64_t time_before(std::uint64_t event) const {
    std::int64_t at = 0;
    for (const report::TimelineMediaWrite& media : page_.media)
      if (media.at.event < event) at = media.at.at_ns;
    for (const TimelineRequest& request : page_.requests)
      if (request.submitted.event < event) at = std::max(at, request.submitted.at_ns);
    return at;
  }

  const RunHistory& run_;
  const TimelineOptions& options_;
  FileNames names_;
  CrashPage page_;
  KnownDisks disks_;
  using Requests = std::unordered_map<model::RequestId, std::size_t>;
  std::map<model::DeviceId, std::unordered_map<model::RequestId, std::pair<bool, std::size_t>>>
      waiting_;
  std::map<model::DeviceId, Requests> of_request_;
  std::vector<std::uint64_t> bytes_at_, on_medium_;  // one element for each request on the page
  std::size_t cycle_ = 0;                            // first request of the current power cycle
};

}  // namespace

Result<CrashPage> crash_timeline(const RunHistory& run, const TimelineOptions& options) {
  return Timeline(run, options).make();
}

}  // namespace headcrash::explorer
