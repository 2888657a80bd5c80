#include "plugin/states/content.h"

#include <algorithm>
#include <limits>
#include <set>

#include "plugin/record/media_bytes.h"
#include "plugin/record/used_disk.h"
#include "plugin/states/digest.h"

namespace headcrash::states {
namespace {

using model::kSectorBytes;
using record::ExtentLocation;

/// Maximum number of running totals that are kept in memory. Each takes 8 bytes.
constexpr std::size_t kTotalsMax = 8 << 20;

ExtentLocation bytes_of(const RecordedWrite& write) {
  if (write.op != model::Op::write) return ExtentLocation::zeroes();
  return write.bytes_at == 0 ? ExtentLocation::unrecorded() : ExtentLocation::at(write.bytes_at);
}

/// Sets the contents of a range of an image and returns the digest of the range's previous
/// contents. To zero a range, only the sectors that were written are visited, because the range may
/// be large. On a used disk, every sector has contents, so the whole range is set.
Result<std::uint64_t> put(StateImage& image, std::uint64_t lba, std::uint64_t sectors,
                          ExtentLocation where, bool used_disk,
                          const StateImage::KnownDigest& known) {
  const auto old = image.digest(lba, sectors, known);
  if (!old) return old;
  if (!where.is_zeroes() || where.unreadable() || used_disk) {
    image.assign(lba, sectors, where);
    return old;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written;
  image.visit_written(lba, sectors, [&](std::uint64_t from, std::uint64_t count) {
    written.emplace_back(from, count);
  });
  for (const auto& [from, count] : written) image.assign(from, count, where);
  return old;
}

}  // namespace

// ---- sums of writes

WriteSums::WriteSums(std::shared_ptr<const RunHistory> run, model::DeviceId device)
    : run_(std::move(run)), device_(device) {
  const auto& writes = run_->writes(device);
  for (std::size_t i = 0; i < writes.size(); ++i)
    if (writes[i].bytes_at != 0) by_location_.push_back(i);
  std::ranges::sort(by_location_, {}, [&](std::size_t i) { return writes[i].bytes_at; });
}

Result<const std::vector<std::uint64_t>*> WriteSums::totals(std::size_t index) {
  if (const auto found = kept_.find(index); found != kept_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, found->second.place);
    return &found->second.totals;
  }
  const RecordedWrite& write = run_->writes(device_)[index];
  std::vector<std::byte> bytes(std::size_t{write.sectors} * kSectorBytes);
  TRY(run_->read_payload(write, 0, bytes));
  std::vector<std::uint64_t> totals(std::size_t{write.sectors} + 1);
  for (std::size_t i = 0; i < write.sectors; ++i)
    totals[i + 1] = totals[i] + digest_sum(write.lba + i, std::span(bytes).subspan(i * kSectorBytes,
                                                                                   kSectorBytes));
  while (!by_use_.empty() && kept_totals_ + totals.size() > kTotalsMax) {
    const auto oldest = kept_.find(by_use_.back());
    kept_totals_ -= oldest->second.totals.size();
    kept_.erase(oldest);
    by_use_.pop_back();
  }
  kept_totals_ += totals.size();
  by_use_.push_front(index);
  return &kept_.emplace(index, CachedTotals{std::move(totals), by_use_.begin()})
              .first->second.totals;
}

Result<std::uint64_t> WriteSums::of(std::size_t index, std::uint64_t lba, std::uint64_t sectors) {
  const RecordedWrite& write = run_->writes(device_)[index];
  if (write.op != model::Op::write) return 0;
  TRY(const auto known, totals(index));
  const std::uint64_t first = lba - write.lba;
  return (*known)[first + sectors] - (*known)[first];
}

Result<std::optional<std::uint64_t>> WriteSums::at(std::uint64_t lba, std::uint64_t sectors,
                                                   ExtentLocation where) {
  const auto& writes = run_->writes(device_);
  const auto behind = std::ranges::upper_bound(by_location_, where.offset(), {},
                                               [&](std::size_t i) { return writes[i].bytes_at; });
  if (behind == by_location_.begin()) return std::nullopt;
  const std::size_t index = *std::prev(behind);
  const RecordedWrite& write = writes[index];
  const std::uint64_t skipped = (where.offset() - write.bytes_at) / kSectorBytes;
  if (lba != write.lba + skipped || skipped + sectors > write.sectors) return std::nullopt;
  TRY(const auto sum, of(index, lba, sectors));
  return sum;
}

Result<std::uint64_t> WrittenContent::all(std::uint64_t event) {
  const std::uint64_t begin = run_->power_cycle_begin(event);
  const auto& writes = run_->writes(device_);
  const auto submitted = [&](std::uint64_t before) {
    return static_cast<std::size_t>(std::partition_point(writes.begin(), writes.end(),
                                                         [&](const RecordedWrite& write) {
                                                           return write.submitted_event < before;
                                                         }) -
                                    writes.begin());
  };
  PowerCycle& power_cycle = power_cycles_[begin];
  if (!power_cycle.rolled) {
    TRY(auto start, run_->image({.device = device_, .event = begin}, device_));
    const auto digest = start.digest();
    if (!digest) return digest;
    power_cycle.first = submitted(begin);
    power_cycle.after = {*digest};
    power_cycle.rolled = std::move(start);
  }
  const std::size_t wanted = submitted(event) - power_cycle.first;
  while (power_cycle.after.size() <= wanted) {
    const std::size_t index = power_cycle.first + power_cycle.after.size() - 1;
    const RecordedWrite& write = writes[index];
    const auto fresh = sums_.of(index, write.lba, write.sectors);
    if (!fresh) return fresh;
    const auto old = put(*power_cycle.rolled, write.lba, write.sectors, bytes_of(write),
                         record::is_used_disk(run_->header().devices[device_]), sums_.known());
    if (!old) return old;
    power_cycle.after.push_back(power_cycle.after.back() + *fresh - *old);
  }
  return power_cycle.after[wanted];
}

// ---- one cut

Result<CutContent> CutContent::create(WrittenContent& content, std::uint64_t event,
                                      std::optional<model::RequestId> lies_from, Queries use) {
  CutContent cut(content);
  const RunHistory& run = content.run();
  const auto& writes = run.writes(content.device());
  cut.unflushed_ = run.unflushed_at(content.device(), event, lies_from);
  const auto end =
      static_cast<std::size_t>(std::partition_point(writes.begin(), writes.end(),
                                                    [&](const RecordedWrite& write) {
                                                      return write.submitted_event < event;
                                                    }) -
                               writes.begin());
  cut.first_ = cut.unflushed_.empty() ? end : cut.unflushed_.front();
  cut.fates_.assign(end - cut.first_, 1);
  for (const std::size_t unflushed : cut.unflushed_) cut.fates_[unflushed - cut.first_] = 0;
  const std::size_t durable = cut.fates_.size() - cut.unflushed_.size();
  const bool on_all = use == Queries::many || cut.unflushed_.size() <= durable;
  // Select the writes whose sectors must be hashed. A digest derived from the content before the
  // first unflushed write needs the durable writes after that write. A digest derived from the
  // content after all writes needs the unflushed writes.
  std::vector<std::uint8_t> wanted(cut.fates_.size());
  std::vector<std::size_t> taking_part;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = (cut.fates_[i] == 0) == on_all ? 1 : 0;
    if (on_all || wanted[i] != 0) taking_part.push_back(cut.first_ + i);
  }
  TRY(cut.find_atoms(taking_part, wanted));
  TRY(cut.anchor(event, on_all));
  return cut;
}

/// Sweeps the medium to find the atoms. Between two adjacent boundaries of writes, the set of
/// writers is constant.
Result<void> CutContent::find_atoms(const std::vector<std::size_t>& taking_part,
                                    const std::vector<std::uint8_t>& wanted) {
  const auto& writes = content_->run().writes(content_->device());
  struct Edge {
    std::uint64_t lba;
    bool begins;
    std::size_t write;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * taking_part.size());
  for (const std::size_t write : taking_part) {
    edges.push_back({writes[write].lba, true, write});
    edges.push_back({writes[write].lba + writes[write].sectors, false, write});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.lba < b.lba; });
  std::set<std::size_t> here;
  std::size_t wanted_here = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    const bool counts = wanted[edge.write - first_] != 0;
    if (edge.begins) {
      here.insert(edge.write);
      wanted_here += counts ? 1 : 0;
    } else {
      here.erase(edge.write);
      wanted_here -= counts ? 1 : 0;
    }
    if (wanted_here == 0 || i + 1 == edges.size() || edges[i + 1].lba == edge.lba) continue;
    atoms_.push_back({edge.lba,
                      edges[i + 1].lba - edge.lba,
                      static_cast<std::uint32_t>(writers_.size()),
                      static_cast<std::uint32_t>(here.size()),
                      0,
                      {}});
    writers_.insert(writers_.end(), here.begin(), here.end());
  }
  return {};
}

Result<void> CutContent::anchor(std::uint64_t event, bool on_all) {
  const RunHistory& run = content_->run();
  const std::uint64_t before =
      fates_.empty() ? event : run.writes(content_->device())[first_].submitted_event;
  TRY(const auto base, content_->all(on_all ? event : before));
  anchor_ = base;
  if (atoms_.empty()) return {};
  TRY(auto image, run.image({.device = content_->device(), .event = before}, content_->device()));
  before_ = std::move(image);
  for (Atom& atom : atoms_) {
    TRY(const auto held, on_all
                             ? content_->sums().of(writers_[atom.first_writer + atom.writers - 1],
                                                   atom.lba, atom.sectors)
                             : below(atom.lba, atom.sectors));
    atom.anchored = held;
    if (!on_all) atom.below = held;
  }
  return {};
}

Result<std::uint64_t> CutContent::below(std::uint64_t lba, std::uint64_t sectors) {
  return before_->digest(lba, sectors, content_->sums().known());
}

/// Returns the content sum of a part of `atom` in the current state. Only the first `writers`
/// writers of the atom are considered.
Result<std::uint64_t> CutContent::value(const Atom& atom, std::uint64_t lba, std::uint64_t sectors,
                                        std::uint32_t writers) {
  while (writers > 0) {
    const std::size_t writer = writers_[atom.first_writer + --writers];
    if (torn_ && unflushed_[torn_->unflushed] == writer) {
      const std::uint64_t new_from =
          content_->run().writes(content_->device())[writer].lba + torn_->first;
      const std::uint64_t from = std::clamp(new_from, lba, lba + sectors);
      const std::uint64_t to = std::clamp(new_from + torn_->count, lba, lba + sectors);
      const auto middle = content_->sums().of(writer, from, to - from);
      if (!middle) return middle;
      const auto left =
          from > lba ? value(atom, lba, from - lba, writers) : Result<std::uint64_t>(0);
      if (!left) return left;
      const auto right = to < lba + sectors ? value(atom, to, lba + sectors - to, writers)
                                            : Result<std::uint64_t>(0);
      if (!right) return right;
      return *left + *middle + *right;
    }
    if (fates_[writer - first_] != 0) return content_->sums().of(writer, lba, sectors);
  }
  return below(lba, sectors);
}

Result<std::uint64_t> CutContent::digest(std::span<const std::uint8_t> kept,
                                         std::optional<TornPart> torn) {
  for (std::size_t i = 0; i < unflushed_.size(); ++i) fates_[unflushed_[i] - first_] = kept[i];
  torn_ = torn;
  const std::size_t torn_write =
      torn ? unflushed_[torn->unflushed] : std::numeric_limits<std::size_t>::max();
  std::uint64_t sum = anchor_;
  for (Atom& atom : atoms_) {
    // `last` is the number of writers up to the newest one that is present or torn; 0 if there is
    // none.
    const std::size_t* writers = writers_.data() + atom.first_writer;
    std::uint32_t last = atom.writers;
    while (last > 0 && fates_[writers[last - 1] - first_] == 0 && writers[last - 1] != torn_write)
      --last;
    if (last == 0) {
      if (!atom.below) {
        const auto found = below(atom.lba, atom.sectors);
        if (!found) return found;
        atom.below = *found;
      }
      sum += *atom.below - atom.anchored;
      continue;
    }
    const auto held = value(atom, atom.lba, atom.sectors, last);
    if (!held) return held;
    sum += *held - atom.anchored;
  }
  return sum;
}

// ---- media

Result<MediaContent> MediaContent::load(const RunHistory& run) {
  MediaContent content;
  const auto& devices = run.header().devices;
  content.steps_.resize(devices.size());
  content.before_.resize(devices.size());
  std::vector<std::optional<StateImage>> rolled(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto id = static_cast<model::DeviceId>(i);
    const auto& caches = run.caches();
    if (!devices[i].medium && std::find(caches.begin(), caches.end(), id) == caches.end()) continue;
    TRY(auto start, run.image({.base = CrashState::Base::physical}, id));
    TRY(const auto digest, start.digest());
    content.before_[i] = digest;
    rolled[i] = std::move(start);
  }
  TRY(auto reader, record::RecordingReader::open(run.path()));
  for (std::uint64_t ordinal = 0; ordinal < run.events(); ++ordinal) {
    TRY(const auto event, reader.next(record::PayloadUse::skip));
    if (!event) break;
    const record::Event& e = *event;
    if (e.kind != record::Kind::media || e.device >= devices.size() || !rolled[e.device]) continue;
    StateImage& image = *rolled[e.device];
    TRY(const auto old, image.digest(e.lba, e.sectors));
    image.apply(e);
    TRY(const auto fresh, image.digest(e.lba, e.sectors));
    auto& steps = content.steps_[e.device];
    const std::uint64_t last = steps.empty() ? content.before_[e.device] : steps.back().digest;
    if (!e.moved) steps.push_back({ordinal, last + fresh - old});
  }
  return content;
}

std::uint64_t MediaContent::digest(model::DeviceId device, std::uint64_t event) const {
  const auto& steps = steps_[device];
  const auto end = std::partition_point(steps.begin(), steps.end(),
                                        [&](const Step& step) { return step.event < event; });
  return end == steps.begin() ? before_[device] : std::prev(end)->digest;
}

}  // namespace headcrash::states
