// The metadata that an array keeps on its members (superblocks, dirty flag), and how an array
// starts.
//
//   first write after idle time   superblocks (dirty) -> region bits -> data and parity
//   idle for kArrayIdleCleanNs    flush of volatile members -> superblocks (clean) -> clear bits
//   power-on                      read superblocks -> use the newest -> recovery -> serve requests
//
// Only one coroutine at a time writes superblocks. A coroutine that needs them to be on the members
// increments `metadata_wanted_` and waits. If a member fails during the write, the superblocks are
// written again.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "plugin/base/invariant.h"
#include "plugin/base/random.h"
#include "plugin/model/array/array_controller.h"

namespace headcrash::model {
namespace {

constexpr std::uint32_t kSlotsSectors = kSuperblockSectors * kSuperblockSlots;
constexpr std::size_t kSlotBytes = std::size_t{kSuperblockSectors} * kSectorBytes;

/// Derives the id of a new array from its parameters, so that equal runs produce equal bytes.
std::uint64_t new_array_id(std::uint64_t seed, std::uint64_t device, const RaidLayout& layout) {
  std::uint64_t id = 0;
  for (const std::uint64_t word :
       {seed, device, static_cast<std::uint64_t>(layout.level), std::uint64_t{layout.members},
        std::uint64_t{layout.unit}, layout.stripes}) {
    id = Random(id ^ word).next();
  }
  return id;
}

/// Returns the first sequence number to use after a start. Each start uses a new range of numbers:
/// a member that was absent may still hold records whose numbers are unknown to the other members.
std::uint64_t first_sequence_of(std::uint64_t events) {
  return (events + 1) << 32;
}

const Superblock* newest_of(const std::vector<std::optional<Superblock>>& found,
                            std::uint64_t array_id) {
  const Superblock* newest = nullptr;
  for (const auto& s : found) {
    if (s && s->array_id == array_id && (newest == nullptr || s->events > newest->events))
      newest = &*s;
  }
  return newest;
}

/// Returns the rebuild progress that is recorded for a member, or 0 if another drive has taken the
/// member's place. The result may be too low if the newest superblock is lost; the rebuild then
/// repeats some stripes.
std::uint64_t progress_of(const std::optional<Superblock>& own, const Superblock& newest,
                          std::uint32_t member) {
  if (!own || own->array_id != newest.array_id || own->member != member ||
      own->events < newest.settled || (own->rebuilding >> member & 1) == 0)
    return 0;
  return std::min({own->rebuilt, newest.rebuilt, newest.stripes});
}

/// Returns the array id that most members have.
std::optional<std::uint64_t> common_array(const std::vector<std::optional<Superblock>>& found) {
  std::optional<std::uint64_t> common;
  std::ptrdiff_t votes = 0;
  for (const auto& s : found) {
    if (!s) continue;
    const auto same = std::count_if(found.begin(), found.end(), [&s](const auto& other) {
      return other && other->array_id == s->array_id;
    });
    if (same > votes) common = s->array_id;
    votes = std::max(votes, same);
  }
  return common;
}

}  // namespace

// ---- superblocks

Superblock ArrayController::superblock(std::uint32_t member) const {
  Superblock s;
  s.array_id = array_id_;
  s.level = layout.level;
  s.members = layout.members;
  s.member = member;
  s.stripe_unit_sectors = layout.unit;
  s.prewrite_sectors = profile.prewrite_sectors;
  s.region_sectors = profile.recovery == ArrayRecovery::dirty_regions ? profile.region_sectors : 0;
  s.stripes = layout.stripes;
  s.events = events_;
  s.settled = settled_events_;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (states_[m] == MemberState::failed) s.failed |= 1ULL << m;
    if (states_[m] == MemberState::rebuilding) s.rebuilding |= 1ULL << m;
  }
  invariant(s.rebuilding == 0 || noted_stripes_ <= rebuilt_stripes_,
            "array: a superblock must not record more stripes than were rebuilt");
  if (s.rebuilding != 0) s.rebuilt = noted_stripes_;
  s.dirty = want_dirty_ || unclean_;
  s.prewrite_tail = !logs() ? 0 : before_roll_forward_ ? adopted_tail_ : log_.tail();
  return s;
}

void ArrayController::write_metadata_soon() {
  ++metadata_wanted_;
  if (!metadata_busy_) write_metadata();
}

Detached ArrayController::write_metadata() {
  metadata_busy_ = true;
  while (!metadata_settled()) {
    const std::uint64_t version = metadata_wanted_;
    ++events_;
    const Superblock now = superblock(0);
    AlignedBuffer buffer = take_buffer(std::uint64_t{layout.members} * kSuperblockSectors);
    Batch batch(commands_);
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      if (states_[m] == MemberState::failed) continue;
      std::byte* const slot = bytes_ ? buffer.data() + m * kSlotBytes : nullptr;
      if (bytes_) {
        std::memset(slot, 0, kSlotBytes);
        superblock(m).encode({slot, kSectorBytes});
      }
      batch.write(m, std::uint64_t{next_slot_[m]} * kSuperblockSectors, kSuperblockSectors, slot,
                  volatile_);
    }
    co_await batch;
    ++array_counters.metadata_writes;
    for (std::uint32_t m = 0; m < layout.members; ++m)
      next_slot_[m] = (next_slot_[m] + 1) % kSuperblockSlots;
    if (batch.dead == 0) settled_events_ = now.events;
    metadata_written_ = version;
    dirty_durable_ = now.dirty && (want_dirty_ || unclean_);
    if (logs()) log_.tail_durable(now.prewrite_tail);
    runner_.wake_all(log_waiters_);
    members_failed(batch.dead);  // if a member failed, causes the superblocks to be written again
    runner_.wake_all(metadata_waiters_);
  }
  metadata_busy_ = false;
}

Task ArrayController::settle_metadata() {
  while (!metadata_settled()) co_await Wait{metadata_waiters_};
  co_return Status::ok;
}

// ---- dirty and clean

void ArrayController::begin_update() {
  ++updates_inside_;
  ++updates_begun_;
}

void ArrayController::end_update() {
  invariant(updates_inside_ > 0, "array: each end of an update must match its beginning");
  --updates_inside_;
  last_update_at_ = simulation_.now();
  if (!idle_scheduled_ && updates_inside_ == 0) consider_idle();
}

Task ArrayController::make_dirty(std::uint64_t first, std::uint64_t last) {
  if (!want_dirty_) {
    want_dirty_ = true;
    write_metadata_soon();
  }
  while (!is_marked_dirty() || !metadata_settled()) co_await Wait{metadata_waiters_};
  if (layout.bitmap_sectors > 0) co_await mark_regions(first, last);
  co_return Status::ok;
}

void ArrayController::consider_idle() {
  if (!intake_.powered() || !started_ || refusing_ || idle_scheduled_ || cleaning_) return;
  if (!want_dirty_ || unclean_ || updates_inside_ > 0) return;
  const TimeNs due = last_update_at_ + kArrayIdleCleanNs;
  if (simulation_.now() >= due) {
    make_clean();
  } else {
    idle_scheduled_ = true;
    schedule(due, Tag::idle);
  }
}

Detached ArrayController::make_clean() {
  cleaning_ = true;
  const std::uint64_t begun = updates_begun_;
  if (volatile_) {
    Batch batch(commands_);
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      if (states_[m] != MemberState::failed) batch.other(Op::flush, m, 0, 0, false);
    }
    co_await batch;
    members_failed(batch.dead);
  }
  if (updates_inside_ == 0 && updates_begun_ == begun && !unclean_) {
    want_dirty_ = dirty_durable_ = false;
    write_metadata_soon();
    co_await settle_metadata();
    if (layout.bitmap_sectors > 0 && !want_dirty_) {
      regions_.clear();
      write_regions_soon();
    }
  }
  cleaning_ = false;
  consider_idle();
}

// ---- start

Result<void> ArrayController::assemble_now() {
  start();
  runner_.run();
  while (!started_ && simulation_.run_next()) {
  }
  if (assembly_error_) return tl::unexpected<Error>(*assembly_error_);
  return {};
}

void ArrayController::start() {
  start_up();
}

void ArrayController::refuse(const std::string& why) {
  refusing_ = true;
  refusal_ = why;
  incident("refused: " + why);
}

Detached ArrayController::start_up() {
  refusing_ = false;
  assembly_error_.reset();
  co_await assemble();
  if (assembly_error_) {
    refuse(assembly_error_->message());
  } else {
    co_await recover();
  }
  started_ = true;
  runner_.wake_all(start_waiters_);
  if (!refusing_) resume_background();
}

/// Resumes an interrupted rebuild or, if there is no rebuild, the resync.
void ArrayController::resume_background() {
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (states_[m] != MemberState::rebuilding) continue;
    if (rebuilt_stripes_ == 0) incident(fmt::format("rebuild of member {} begins again", m));
    rebuild_member(m, rebuilt_stripes_);
  }
  if (unclean_ && background_ == Background::none) check_stripes(Background::resync, true);
  consider_idle();
}

Task ArrayController::read_superblocks(Slots& found, std::uint64_t& dead) {
  AlignedBuffer buffer = take_buffer(std::uint64_t{layout.members} * kSlotsSectors);
  std::memset(buffer.data(), 0, layout.members * kSlotBytes * kSuperblockSlots);
  Batch batch(commands_);
  for (std::uint32_t m = 0; m < layout.members; ++m)
    batch.read(m, 0, kSlotsSectors, buffer.data() + m * kSlotBytes * kSuperblockSlots);
  co_await batch;
  if (batch.store_error) co_return Status::store_error;
  dead = batch.dead;
  // Read the slots separately, because a slot that the last cut made unreadable must not hide the
  // other one.
  for (std::uint32_t slot = 0; slot < kSuperblockSlots && batch.unreadable != 0; ++slot) {
    Batch again(commands_);
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      std::byte* const at = buffer.data() + (m * kSuperblockSlots + slot) * kSlotBytes;
      if ((batch.unreadable >> m & 1) == 0) continue;
      std::memset(at, 0, kSlotBytes);
      again.read(m, std::uint64_t{slot} * kSuperblockSectors, 1, at);
    }
    co_await again;
    if (again.store_error) co_return Status::store_error;
    dead |= again.dead;
    for (std::uint32_t m = 0; m < layout.members; ++m) {
      if ((again.unreadable >> m & 1) != 0)
        std::memset(buffer.data() + (m * kSuperblockSlots + slot) * kSlotBytes, 0, kSlotBytes);
    }
  }
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    for (std::uint32_t slot = 0; slot < kSuperblockSlots; ++slot) {
      const auto one = Superblock::decode(
          {buffer.data() + (m * kSuperblockSlots + slot) * kSlotBytes, std::size_t{kSectorBytes}});
      if (one && (dead >> m & 1) == 0 && (!found[m] || found[m]->events < one->events)) {
        found[m] = one;
        next_slot_[m] = (slot + 1) % kSuperblockSlots;
      }
    }
  }
  co_return Status::ok;
}

std::optional<Error> ArrayController::disagreement(const Slots& found, std::uint64_t dead,
                                                   const Superblock& newest) const {
  if (!newest.same_shape(superblock(0)))
    return Error{profile.name, "the members belong to an array with another profile",
                 "use the array's own profile, or an empty store"};
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    if (((dead | newest.failed | newest.rebuilding) >> m & 1) != 0) continue;
    if (!found[m]) {
      // The member is blank because the creation of the array was interrupted.
      if (newest.settled == 0) continue;
      return Error{member_name(m), "is blank, but the other members record it as active",
                   "restore the member's store, or fail the member before replacing it"};
    }
    if (found[m]->array_id != newest.array_id)
      return Error{member_name(m), "belongs to another array",
                   "use stores that were created together"};
    if (found[m]->member != m)
      return Error{member_name(m), fmt::format("is member {} of this array", found[m]->member),
                   "list the members in the array's order"};
    if (found[m]->events < newest.settled)
      return Error{member_name(m), "is older than the other members, so it is an old copy",
                   "restore the member's own store, or fail the member before replacing it"};
  }
  return std::nullopt;
}

void ArrayController::make_new(std::uint64_t dead) {
  array_id_ = new_array_id(seed_, device_, layout);
  if (dead != 0) {
    assembly_error_ =
        Error{profile.name, "a new array requires all members, but a member does not respond",
              "clear its fault, or choose another drive"};
  }
  write_metadata_soon();
}

void ArrayController::adopt(const Slots& found, std::uint64_t dead, const Superblock& newest) {
  array_id_ = newest.array_id;
  events_ = newest.events;
  settled_events_ = newest.settled;
  want_dirty_ = dirty_durable_ = unclean_ = newest.dirty && layout.parity > 0;
  lost_members_ = 0;
  // If two members were being rebuilt, neither of them can be trusted, so both count as failed.
  bool news = (newest.rebuilding & (newest.rebuilding - 1)) != 0;
  for (std::uint32_t m = 0; m < layout.members; ++m) {
    const bool gone = (dead >> m & 1) != 0 && layout.parity > 0;
    const bool rebuilding = (newest.rebuilding >> m & 1) != 0;
    states_[m] = (newest.failed >> m & 1) != 0 || gone          ? MemberState::failed
                 : rebuilding && newest.rebuilding == 1ULL << m ? MemberState::rebuilding
                 : rebuilding                                   ? MemberState::failed
                                                                : MemberState::active;
    if (states_[m] != MemberState::active) ++lost_members_;
    if (states_[m] == MemberState::rebuilding)
      rebuilt_stripes_ = noted_stripes_ = progress_of(found[m], newest, m);
    if (gone && (newest.failed >> m & 1) == 0) {
      incident(fmt::format("member {} does not respond", m));
      news = true;
    }
    if (!found[m] && !gone && (newest.failed >> m & 1) == 0) news = true;
  }
  adopted_tail_ = newest.prewrite_tail;
  before_roll_forward_ = unclean_;
  if (logs())
    log_.open(layout.members, kSlotsSectors, profile.prewrite_sectors, align_,
              std::max(newest.prewrite_tail, first_sequence_of(events_)));
  if (news) write_metadata_soon();
}

Task ArrayController::assemble() {
  metadata_written_ = metadata_wanted_;
  if (bytes_) noted_stripes_ = 0;  // adopt() restores the number from the superblocks
  rebuilt_stripes_ = noted_stripes_;
  regions_.forget_writes();
  if (!bytes_) {
    unclean_ = (unclean_ || want_dirty_ || dirty_durable_) && layout.parity > 0;
    if (logs() && log_.live() == 0)
      log_.open(layout.members, kSlotsSectors, profile.prewrite_sectors, align_, log_.tail());
    co_return Status::ok;
  }
  if (layout.bitmap_sectors > 0) regions_.open(layout.bitmap_sectors, profile.region_sectors);
  Slots found(layout.members);
  std::uint64_t dead = 0;
  const Status status = co_await read_superblocks(found, dead);
  if (status == Status::store_error) {
    assembly_error_ = Error{profile.name, "the host's storage has failed", {}};
    co_return status;
  }
  const auto common = common_array(found);
  if (!common) {
    make_new(dead);
    if (logs()) log_.open(layout.members, kSlotsSectors, profile.prewrite_sectors, align_, 1);
  } else {
    const Superblock newest = *newest_of(found, *common);
    assembly_error_ = disagreement(found, dead, newest);
    if (!assembly_error_) adopt(found, dead, newest);
  }
  co_await settle_metadata();
  co_return Status::ok;
}

/// Recovers the array. Calls refuse() if the array must not serve requests.
Task ArrayController::recover() {
  if (broken()) {
    refuse("more members are lost than the array tolerates");
    co_return Status::ok;
  }
  if (!unclean_) co_return Status::ok;
  if (logs()) {
    const Status status = co_await roll_forward();
    if (status == Status::store_error)
      refuse("the host's storage failed while the array was reading its prewrites");
    unclean_ = status == Status::store_error;
  } else if (any_lost() && !layout.mirrored()) {
    // Rebuild from the beginning. If the cut left wrong parity in rebuilt stripes, nothing else
    // would correct it, because a degraded array is not checked.
    rebuilt_stripes_ = noted_stripes_ = 0;
    if (!profile.accept_dirty_degraded) {
      refuse(
          "dirty and degraded: data of the lost member may be wrong where writes were in flight");
      co_return Status::ok;
    }
    incident("dirty degraded start accepted: data of lost members may be wrong");
    unclean_ = false;
  } else if (profile.recovery == ArrayRecovery::none) {
    unclean_ = false;
  } else if (layout.bitmap_sectors > 0) {
    co_await read_regions();
  }
  last_update_at_ = simulation_.now();
  co_return Status::ok;
}

}  // namespace headcrash::model
