// Builds machines, and destroys their parts in the correct order (modelled_machine.h).
#include "harness/papers/modelled_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "fs-adapters/registry.h"
#include "fs-adapters/substrate/os/device_stores.h"
#include "fs-adapters/substrate/os/fiber_store.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "plugin/base/invariant.h"
#include "plugin/media/memory_overlay.h"
#include "plugin/media/memory_store.h"
#include "plugin/profiles/shutdown.h"

namespace headcrash::experiment {
namespace {

constexpr std::uint32_t kLoadSectors = 2048, kLoadPieceSectors = 16;
// Granularity at which block kinds are recorded: the size of the smallest fragment in any
// experiment.
constexpr std::uint64_t kPlaceSectors = 2;

/// The disk of a checker. Requests take time, and each byte that the checker reads or writes costs
/// processor time.
class CheckedStore final : public model::SectorStore {
 public:
  CheckedStore(os::System& system, std::uint32_t request_sectors_max)
      : system_(system), store_(system.queue, {.request_sectors_max = request_sectors_max}) {}

  std::uint64_t sectors() const override { return store_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    charge(into.size());
    return store_.read(lba, into);
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    charge(data.size());
    return store_.write(lba, data);
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    return store_.write_zeroes(lba, count);
  }

 private:
  void charge(std::size_t bytes) const {
    system_.cpu.charge(os::Cost::clear_per_kib, static_cast<std::int64_t>(bytes));
  }
  os::System& system_;
  os::FiberStore store_;
};

/// Returns a copy of the stack with the options' overrides in every drive.
std::shared_ptr<const profiles::Stack> with_overrides(const profiles::Stack& stack,
                                                      const ModelledMachineOptions& options) {
  auto copy = std::make_shared<profiles::Stack>(stack);
  if (auto* const drive = std::get_if<model::DiskProfile>(&copy->profile)) {
    drive->queue = options.drive_queue.value_or(drive->queue);
    drive->read_buffer.write_segments =
        options.write_segments.value_or(drive->read_buffer.write_segments);
  }
  for (auto& below : copy->below) below = with_overrides(*below, options);
  return copy;
}

/// Writes the pieces of `now` that differ from `before`. Adjacent pieces are combined into one
/// request. Both spans must have the same size.
Result<void> write_what_differs(model::SectorStore& store, std::uint64_t lba,
                                std::span<const std::byte> before,
                                std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = kLoadPieceSectors * model::kSectorBytes;
  const auto differs = [&](std::size_t at) {
    const std::size_t count = std::min(kPiece, bytes.size() - at);
    return std::memcmp(bytes.data() + at, before.data() + at, count) != 0;
  };
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at;
    while (end < bytes.size() && differs(end)) end = std::min(end + kPiece, bytes.size());
    if (end > at) TRY(store.write(lba + at / model::kSectorBytes, bytes.subspan(at, end - at)));
    at = end + kPiece;
  }
  return {};
}

/// Returns the end of the packed pieces that begin at `lba` and have no gaps between them. The end
/// is at most kLoadSectors after `lba`.
std::uint64_t end_of_packed(const media::PackedStore& image, std::uint64_t lba) {
  const std::uint64_t last = std::min<std::uint64_t>(lba + kLoadSectors, image.sectors());
  std::uint64_t end = lba;
  while (end < last && image.next_packed(end) < end + kLoadPieceSectors) end += kLoadPieceSectors;
  return std::min(end, last);
}

/// Packs the contents of a medium. `medium` must be a MemoryStore, or a MemoryOverlay over the
/// medium of another image.
std::shared_ptr<const media::PackedStore> packed(const model::SectorStore& medium) {
  if (const auto* const overlay = dynamic_cast<const media::MemoryOverlay*>(&medium))
    return media::PackedStore::of(*overlay);
  return media::PackedStore::of(dynamic_cast<const media::MemoryStore&>(medium));
}

/// Returns a writable medium: a copy of `base`, or a blank medium if `base` is null.
Result<std::unique_ptr<model::SectorStore>> medium_over(
    std::shared_ptr<const model::SectorStore> base, std::uint64_t sectors) {
  if (!base) return media::MemoryStore::create(sectors);
  return std::make_unique<media::MemoryOverlay>(std::move(base));
}

}  // namespace

Result<ModelledMachineOptions> machine_with(std::string_view type, std::string_view system) {
  TRY(const auto found, adapters::find_system(type, system));
  ModelledMachineOptions options;
  options.system = std::shared_ptr<const adapters::SystemUnderTest>(std::shared_ptr<void>(), found);
  return options;
}

Result<std::unique_ptr<ModelledMachine>> ModelledMachine::start(
    const ModelledMachineOptions& options) {
  invariant(options.system != nullptr, "a modelled machine must have a file system");
  std::unique_ptr<ModelledMachine> machine(new ModelledMachine(options));
  TRY(machine->assemble());
  machine->start_system();
  TRY(machine->mount());
  return machine;
}

Result<std::shared_ptr<const MachineImage>> ModelledMachine::image_of(
    const ModelledMachineOptions& options) {
  invariant(options.system != nullptr, "a machine image must have a file system");
  std::unique_ptr<ModelledMachine> machine(new ModelledMachine(options));
  TRY(machine->assemble(Contents::grown));
  profiles::shut_down(machine->built_);
  auto stores = std::move(machine->stores_);
  auto image = std::make_shared<MachineImage>();
  image->arrays = std::move(machine->arrays_);
  image->grown_from = options.image;
  machine.reset();
  for (const auto& array : image->arrays) image->bytes += array ? array->bytes() : 0;
  for (auto& [id, store] : stores) {
    const std::unique_ptr<model::SectorStore> made = std::move(store);
    const auto leaf = packed(*made);
    image->bytes += leaf->bytes();
    image->leaves.push_back(leaf);
  }
  return std::shared_ptr<const MachineImage>(std::move(image));
}

Result<std::unique_ptr<ModelledMachine>> ModelledMachine::found_cut(
    const ModelledMachineOptions& options, const CutMachine& found) {
  invariant(options.system != nullptr && !options.image,
            "a cut machine must have a file system and no image");
  ModelledMachineOptions as_found = options;
  as_found.image = std::make_shared<MachineImage>(found.media);
  std::unique_ptr<ModelledMachine> machine(new ModelledMachine(std::move(as_found)));
  TRY(machine->assemble());
  if (const model::Array* const array = machine->array())
    if (const auto refused = array->status().refused)
      return fail(options.profile, "does not start: " + *refused,
                  "set accept-dirty-degraded in the array's profile to accept the array's content");
  if (found.write_back) TRY(machine->write_uncounted(0, found.write_back));
  machine->built_.machine->simulation().run_until(machine->now() + found.start_ns);
  return machine;
}

Result<void> ModelledMachine::open_stores(const profiles::Plan& plan) {
  for (model::DeviceId id = 0; id < plan.device_count(); ++id) {
    if (!plan.all[id].parent) {
      host_devices_.push_back(id);
      leaves_.emplace_back();
    }
    if (!plan.all[id].leaf) continue;
    leaves_.back().push_back(id);
    std::shared_ptr<const model::SectorStore> base;
    if (options_.image) {
      const auto& leaves = options_.image->leaves;
      if (stores_.size() >= leaves.size() ||
          leaves[stores_.size()]->sectors() != plan.all[id].sectors)
        return fail(options_.profile, "has different drives from the image",
                    "use the profile and size of the image");
      base = leaves[stores_.size()];
    }
    TRY(auto store, medium_over(std::move(base), plan.all[id].sectors));
    stores_[id] = std::move(store);
  }
  return {};
}

Result<void> ModelledMachine::assemble(Contents contents) {
  const bool makes_image =
      contents == Contents::grown || (contents == Contents::image && !options_.image);
  std::vector<profiles::MachineDevice> devices;
  std::vector<MachineDisk> wanted{{options_.profile, options_.size_bytes, options_.write_cache}};
  wanted.insert(wanted.end(), options_.more_disks.begin(), options_.more_disks.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    TRY(auto stack, profiles::load_stack(wanted[i].profile));
    devices.push_back({.name = fmt::format("hd{}", i),
                       .stack = with_overrides(*stack, options_),
                       .size_bytes = wanted[i].size_bytes,
                       .options = {.write_cache = wanted[i].write_cache}});
  }
  TRY(const auto plan, profiles::plan(devices));
  const std::size_t used = options_.system->description().devices;
  if (wanted.size() < used)
    return fail(options_.system->full_name(),
                "needs a separate log device, but the machine has none",
                "add the log device as the first entry of more_disks");
  TRY(open_stores(plan));
  // An image for a drive is written to the medium of the drive, bypassing any cache, because the
  // host sees the same contents through the cache. An image for an array needs an additional medium
  // with the contents that the host sees, because each member holds only a part of them.
  arrays_.resize(used);
  if (makes_image) {
    std::vector<std::unique_ptr<model::SectorStore>> flat(used);
    std::vector<os::DeviceStores::Part> parts;
    for (std::size_t i = 0; i < used; ++i) {
      const std::uint64_t sectors = plan.all[host_devices_[i]].sectors;
      if (leaves_[i].size() > 1) {
        TRY(auto made,
            medium_over(options_.image ? options_.image->arrays.at(i) : nullptr, sectors));
        flat[i] = std::move(made);
      }
      model::SectorStore* const drive = stores_.at(leaves_[i][0]).get();
      parts.push_back({.store = flat[i] ? flat[i].get() : drive, .sectors = sectors});
    }
    os::DeviceStores image(parts);
    TRY(make_image(image, used > 1 ? parts[1].sectors : 0));
    for (std::size_t i = 0; i < used; ++i)
      if (const auto array = std::move(flat[i])) arrays_[i] = packed(*array);
  }
  TRY(built_, profiles::build(plan, observer_,
                              {.seed = options_.seed,
                               .store =
                                   [this](model::DeviceId id) {
                                     const auto found = stores_.find(id);
                                     return found == stores_.end() ? nullptr : found->second.get();
                                   },
                               .faults = options_.faults}));
  clock_ = std::make_unique<os::VirtualClock>(built_.machine->simulation());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    disks_.push_back(std::make_unique<os::ModelDisk>(*built_.machine, i));
  for (std::size_t i = 0; i < used; ++i) {
    if (!arrays_[i]) continue;
    TRY(load(i, *arrays_[i]));
    if (contents != Contents::grown) arrays_[i].reset();
  }
  count_kinds();
  return {};
}

Result<void> ModelledMachine::make_image(model::SectorStore& image, std::uint64_t second_sectors) {
  if (!options_.image) {
    adapters::Settings settings = options_.mkfs;
    settings.insert(options_.system->description().mkfs.begin(),
                    options_.system->description().mkfs.end());
    TRY(options_.system->type().mkfs(image, settings));
  }
  if (!options_.populate && !options_.populate_with_zeroes) return {};
  os::SystemOptions how = system_options();
  how.costs = {};
  how.queue.concatenated_sectors = kLoadSectors;
  how.queue.flush_for_order = false;
  how.cache.bytes = options_.image_cache_bytes.value_or(how.cache.bytes);
  os::MemoryMachine machine(image,
                            {.latency_ns = 0, .system = how, .second_sectors = second_sectors});
  Result<void> done;
  machine.system.run_as(operator_, [&] {
    auto mounted = options_.system->mount(machine.system, {});
    if (!mounted) {
      done = forward_error(mounted);
      return;
    }
    machine.system.syncer.start();
    os::BufferCache& cache = machine.system.cache;
    const auto forget_data = [&cache] {
      for (const os::BufferCache::Dirty& dirty : cache.dirty())
        if (dirty.content == os::Content::data) cache.discard(dirty.key);
    };
    Vfs& vfs = (*mounted)->vfs();
    const auto filled = options_.populate ? options_.populate(vfs)
                                          : options_.populate_with_zeroes(vfs, forget_data);
    const auto unmounted = (*mounted)->unmount();
    if (!filled || !unmounted)
      done = fail("the image", "cannot be populated", "use a larger disk if the disk is full");
  });
  machine.system.executor.halt();
  return done;
}

/// Writes the image through the array, because the array determines the placement of data and
/// parity.
Result<void> ModelledMachine::load(std::size_t device, const media::PackedStore& image) {
  return write_uncounted(device, [&image](model::SectorStore& store) {
    std::vector<std::byte> before, bytes;
    Result<void> done;
    std::uint64_t end = 0;
    for (std::uint64_t lba = image.next_packed(0); done && lba < image.sectors();
         lba = image.next_packed(end)) {
      end = end_of_packed(image, lba);
      before.assign((end - lba) * model::kSectorBytes, std::byte{0});
      bytes.resize(before.size());
      if (image.base()) done = image.base()->read(lba, before);
      if (done) done = image.read(lba, bytes);
      if (done) done = write_what_differs(store, lba, before, bytes);
    }
    return done;
  });
}

Result<void> ModelledMachine::write_uncounted(
    std::size_t device, const std::function<Result<void>(model::SectorStore&)>& write) {
  constexpr os::TimeNs kRest =
      2 * model::kSecondNs;  // an array marks itself clean after this time without writes
  os::System loader(*clock_, *disks_[device], {.queue = {.flush_for_order = has_write_cache()}});
  Result<void> done;
  loader.run_as(operator_, [&] {
    os::FiberStore store(loader.queue, {.request_sectors_max = kLoadSectors});
    done = write(store);
  });
  loader.executor.run_until(now() + kRest);
  return done;
}

os::SystemOptions ModelledMachine::system_options() const {
  const adapters::SystemDescription& description = options_.system->description();
  os::SystemOptions how{.costs = options_.costs,
                        .queue = description.queue,
                        .cache = {.bytes = options_.cache_bytes,
                                  .block_copy = description.block_copy,
                                  .copies_bytes = options_.copies_bytes,
                                  .metadata_bytes = options_.metadata_bytes,
                                  .lock_data = options_.lock_data,
                                  .structures_count = options_.structures_count},
                        .syncer = options_.system->description().syncer.value_or(options_.syncer)};
  how.queue.schedule = options_.schedule;
  how.queue.concatenated_sectors = options_.concatenated_sectors;
  how.queue.outstanding = options_.outstanding;
  how.queue.reads_first = options_.reads_first;
  how.queue.reads_in_row_max = std::numeric_limits<std::uint32_t>::max();
  how.queue.flush_for_order = has_write_cache() && options_.flushes;
  return how;
}

bool ModelledMachine::has_write_cache() const {
  const std::size_t more = options_.system->description().devices - 1;
  const auto last = options_.more_disks.begin() + static_cast<std::ptrdiff_t>(more);
  return options_.write_cache ||
         std::any_of(options_.more_disks.begin(), last,
                     [](const MachineDisk& disk) { return disk.write_cache; });
}

void ModelledMachine::start_system() {
  std::vector<os::BlockDevice*> devices;
  devices.reserve(options_.system->description().devices);
  for (std::size_t i = 0; i < options_.system->description().devices; ++i)
    devices.push_back(disks_[i].get());
  system_ = std::make_unique<os::System>(*clock_, devices, system_options());
  system_->queue.trace(this);
  trace_ = {};
  under_way_before_ = 0;
}

Result<void> ModelledMachine::mount() {
  Result<void> done;
  system_->run_as(operator_, [&] {
    auto mounted = options_.system->mount(*system_, {.flushes = options_.flushes});
    if (mounted) {
      mounted_ = *std::move(mounted);
      if (options_.front) front_ = options_.front(mounted_->vfs());
      system_->syncer.start();
    } else {
      done = forward_error(mounted);
    }
  });
  return done;
}

/// Destroys the mounted file system without writing anything, as if the machine lost its memory.
void ModelledMachine::end_system() {
  if (!system_) return;
  if (mounted_) system_->run_as(operator_, [this] { mounted_->abandon(); });
  system_->executor.halt();
  front_.reset();
  mounted_.reset();
}

ModelledMachine::~ModelledMachine() {
  end_system();
}

void ModelledMachine::cut_after(os::TimeNs delay_ns) {
  const auto armed =
      built_.machine->arm({.kind = model::CutTrigger::Kind::after_time, .delay_ns = delay_ns});
  invariant(armed.has_value(), "it must be possible to arm a cut at a given time");
}

void ModelledMachine::cut() {
  built_.machine->disarm();
  built_.machine->power_cut();
  // Pending requests must fail before the system is destroyed, so run the events that make them
  // fail.
  if (system_) system_->executor.run_until(now() + 1);
  end_system();
  system_.reset();
}

template <typename Body>
Result<void> ModelledMachine::as_step(RecoveryStep& step, const Body& body) {
  const os::TimeNs begun_at = now(), cpu = system_->cpu.busy_ns(), busy = device_counters().busy_ns;
  clear_trace();
  auto done = body();
  step = {.done = true,
          .elapsed_ns = now() - begun_at,
          .cpu_ns = system_->cpu.busy_ns() - cpu,
          .device_busy_ns = device_counters().busy_ns - busy,
          .requests = system_->queue.counters().requests,
          .sectors = system_->queue.counters().sectors};
  return done;
}

Result<std::uint64_t> ModelledMachine::repair(bool fast) {
  Result<std::uint64_t> findings;
  system_->run_as(operator_, [&] {
    CheckedStore store(*system_, options_.check_sectors);
    const auto checker = options_.system->type().checker();
    auto report = checker->repair(store, {.fast = fast});
    if (report && report->unrepaired && fast) report = checker->repair(store, {});
    if (!report) {
      findings = forward_error(report);
      return;
    }
    findings = report->findings.size() + report->more_findings;
    if (report->unrepaired)
      findings = fail(options_.system->full_name(), "cannot be repaired",
                      "this is a bug; report it with the seed");
  });
  return findings;
}

Result<RecoveryStep> ModelledMachine::time_of_mkfs(const ModelledMachineOptions& options) {
  invariant(options.system != nullptr && !options.image, "mkfs must run on a blank device");
  std::unique_ptr<ModelledMachine> machine(new ModelledMachine(options));
  TRY(machine->assemble(Contents::blank));
  machine->start_system();
  RecoveryStep step;
  TRY(machine->as_step(step, [&] {
    Result<void> done;
    machine->system_->run_as(machine->operator_, [&] {
      CheckedStore store(*machine->system_, options.check_sectors);
      if (const auto formatted = options.system->type().mkfs(store, options.mkfs); !formatted)
        done = forward_error(formatted);
    });
    return done;
  }));
  return step;
}

Result<Recovery> ModelledMachine::recover(Repair when) {
  invariant(!system_, "a machine must not recover before a power cut");
  built_.machine->power_on();
  start_system();
  Recovery recovery;
  if (when == Repair::as_needed) {
    if (const auto mounted = as_step(recovery.mount, [this] { return mount(); })) return recovery;
    // Discards the blocks that the checker has cached, because they differ from the repaired disk.
    recovery.mount = {};
    end_system();
    start_system();
  }
  TRY(as_step(recovery.repair, [&]() -> Result<void> {
    TRY(const auto findings, repair(when == Repair::fast));
    recovery.findings = findings;
    return {};
  }));
  if (auto mounted = as_step(recovery.mount, [this] { return mount(); }); !mounted)
    return forward_error(mounted);
  return recovery;
}

Result<os::TimeNs> ModelledMachine::become_quiet(os::TimeNs most_ns) {
  const os::TimeNs begun_at = now();
  trace_.last_completed_at = begun_at;
  while (true) {
    const os::DiskQueueCounters& disk = system_->queue.counters();
    const bool under_way =
        under_way_before_ + disk.issued_reads + disk.issued_writes != trace_.completed;
    if (!under_way && !system_->cache.any_dirty() && system_->syncer.work_waiting() == 0) break;
    if (now() - begun_at > most_ns) {
      return fail("the modelled machine",
                  fmt::format("is not idle after {} s", most_ns / model::kSecondNs),
                  "this is a bug in the ordering scheme: data remains dirty");
    }
    system_->executor.run_until(now() + model::kSecondNs);
  }
  return trace_.last_completed_at;
}

const model::SectorStore* ModelledMachine::medium() const {
  return leaves_[0].size() == 1 ? stores_.at(leaves_[0][0]).get() : nullptr;
}

model::DeviceCounters ModelledMachine::device_counters() const {
  model::DeviceCounters sum;
  for (const auto& [id, store] : stores_) {
    const model::DeviceCounters one = built_.all[id].device->counters();
    sum.reads += one.reads;
    sum.writes += one.writes;
    sum.flushes += one.flushes;
    sum.trims += one.trims;
    sum.sectors_read += one.sectors_read;
    sum.sectors_written += one.sectors_written;
    sum.media_writes += one.media_writes;
    sum.media_sectors_written += one.media_sectors_written;
    sum.cache_hits += one.cache_hits;
    sum.seeks += one.seeks;
    sum.busy_ns += one.busy_ns;
  }
  return sum;
}

model::NvramCounters ModelledMachine::nvram_counters(NvramPlace place) const {
  model::NvramCounters sum;
  for (std::size_t id = 0; id < built_.all.size(); ++id) {
    const model::Nvram* const nvram = built_.all[id].nvram;
    const bool above = std::ranges::find(host_devices_, id) != host_devices_.end();
    if (nvram == nullptr || above != (place == NvramPlace::above)) continue;
    const model::NvramCounters one = nvram->nvram_counters();
    sum.cached_writes += one.cached_writes;
    sum.write_hits += one.write_hits;
    sum.dirty_hits += one.dirty_hits;
    sum.read_hits += one.read_hits;
    sum.absorbed_sectors += one.absorbed_sectors;
    sum.destages += one.destages;
    sum.destaged_sectors += one.destaged_sectors;
    sum.failed_destages += one.failed_destages;
    sum.write_throughs += one.write_throughs;
    sum.room_waits += one.room_waits;
    sum.replayed_sectors += one.replayed_sectors;
    sum.lost_sectors += one.lost_sectors;
    sum.dirty_sectors += one.dirty_sectors;
  }
  return sum;
}

/// Starts recording the kinds of written blocks. Writes that load an image have no kind.
void ModelledMachine::count_kinds() {
  kinds_.resize(host_devices_.size());
  for (std::size_t i = 0; i < host_devices_.size(); ++i) {
    model::Nvram* const nvram = built_.all[host_devices_[i]].nvram;
    if (nvram == nullptr) continue;
    kinds_[i].resize(disks_[i]->sectors() / kPlaceSectors + 1);
    nvram->count_kinds([this, i](std::uint64_t lba) { return kinds_[i][lba / kPlaceSectors]; });
  }
}

/// Records the kind of a write. Called before requests are concatenated, because the cache needs to
/// know the kind as soon as it accepts the write.
void ModelledMachine::issued(os::RequestId, const os::BlockRequest& request, const os::Ordering&) {
  if (request.op != model::Op::write || request.sectors == 0) return;
  std::vector<std::uint8_t>& kinds = kinds_[os::device_of(request.lba)];
  if (kinds.empty()) return;
  const std::uint64_t first = request.lba & os::kSectorMask, last = first + request.sectors - 1;
  std::fill(kinds.begin() + static_cast<std::ptrdiff_t>(first / kPlaceSectors),
            kinds.begin() + static_cast<std::ptrdiff_t>(last / kPlaceSectors) + 1, request.kind);
}

std::vector<WriteHits> ModelledMachine::write_hits() const {
  std::vector<WriteHits> sums;
  for (const std::string_view kind : options_.system->type().block_kinds())
    sums.push_back({.kind = kind});
  for (const model::DeviceId id : host_devices_) {
    if (built_.all[id].nvram == nullptr) continue;
    const model::NvramKinds& kinds = built_.all[id].nvram->kinds();
    for (std::size_t kind = 0; kind < sums.size(); ++kind) {
      sums[kind].writes += kinds.at(kind).cached_writes;
      sums[kind].block_hits += kinds.at(kind).block_hits;
      sums[kind].dirty_hits += kinds.at(kind).dirty_hits;
    }
  }
  return sums;
}

const model::Array* ModelledMachine::array() const {
  for (const profiles::BuiltDevice& one : built_.all) {
    if (one.nvram != nullptr) continue;
    return one.array;
  }
  return nullptr;
}

void ModelledMachine::clear_trace() {
  const os::DiskQueueCounters& disk = system_->queue.counters();
  under_way_before_ += disk.issued_reads + disk.issued_writes - trace_.completed;
  system_->queue.clear_counters();
  trace_ = {};
}

void ModelledMachine::completed(const os::DiskTrace& request) {
  ++trace_.completed;
  trace_.response_ns += request.completed_at - request.issued_at;
  trace_.last_completed_at = request.completed_at;
}

}  // namespace headcrash::experiment
