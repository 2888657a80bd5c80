#pragma once
// One description of a file system of our own, from which everything that makes, mounts, cuts,
// checks or lists one is driven: the in-process lab, campaigns, experiments, the programs behind
// FUSE, `headcrash image` and `headcrash list systems`. None of them names a file system;
// registry.h has the one table.
//
//   FileSystemType    a format: mkfs, checker, reader of images, and the systems that use it     "ufs", "lfs"
//   SystemUnderTest   one way to run it: promises, order in the driver, mount        "ufs soft-updates-init"
//   MountedSystem     one mount: a Vfs, unmount, abandon
//   ImageChecker      fsck: check and repair of one image after the other
//   ImageReader       names, inodes and contents of an image, by code that the mounted file system does not use
//   RepairTrials      trials of the checker itself on damaged images; optional
//   RecoveryTrial     another recovery, compared with the checker's; optional
//
// A new file system derives from FileSystemType and SystemUnderTest in its own folder and is one
// line in registry.cc. Types and systems are made once, are constant, and live as long as the
// process. Any thread may use them; checkers, readers, trials and mounts belong to one thread each.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fs-adapters/promises.h"
#include "fs-adapters/snapshots.h"
#include "fs-adapters/substrate/os/disk_queue.h"
#include "fs-adapters/substrate/os/faulty_disk.h"
#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/transactions.h"
#include "fs-adapters/vfs.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::adapters {

// ---- what a check says

/// How bad a finding is: what every power cut leaves, what updates in the right order may leave
/// (fsck clears it away), and what nothing but a fault leaves.
enum class Severity : std::uint8_t { stale, residue, damage };

/// One kind of finding of a type's checker. Kinds are constants of the type: `name` is valid for
/// ever, and equal `order` means the same kind.
struct FindingKind {
  std::string_view name;  ///< "leaked-blocks"
  Severity severity = Severity::damage;
  std::uint16_t order = 0;  ///< among the kinds of its type, for reports

  bool operator==(const FindingKind& other) const { return order == other.order; }
  bool operator<(const FindingKind& other) const { return order < other.order; }
};

struct CheckFinding {
  FindingKind kind;
  std::uint64_t inode = 0;  ///< 0: none
  std::uint64_t block = 0;  ///< in the type's unit of addresses; 0: none
  std::uint32_t count = 0;  ///< of what the kind counts
  bool repaired = false;
  std::string text;  ///< for people: one line
};

/// What a file system counts itself, by names for people: {"free inodes", 17}.
struct Counter {
  std::string_view name;  ///< valid for ever
  std::uint64_t value = 0;
  bool operator==(const Counter&) const = default;
};
using Counters = std::vector<Counter>;

struct CheckReport {
  std::vector<CheckFinding> findings;
  std::uint64_t more_findings = 0;  ///< beyond CheckOptions::findings_max
  bool was_clean = false;           ///< the image said, before, that it had been unmounted
  bool log_in_use = false;   ///< not clean, and recovery is the log's: a journal, a roll-forward
  bool unrepaired = false;   ///< a repair that left something
  std::size_t replayed = 0;  ///< transactions of the log: replayed by a repair, to be replayed
  std::string log;           ///< what these are, in words; empty: transactions of a journal
  std::uint32_t files = 0, directories = 0;
  Counters space;  ///< as MountedSystem::space_counts() when nothing is owed

  bool nothing_found() const { return findings.empty() && more_findings == 0; }
};

struct CheckOptions {
  std::size_t findings_max = 1000;  ///< kept; the rest is counted
  std::uint32_t time = 0;           ///< seconds since the epoch, for what a repair writes
  /// A repair that looks only at what the image says was busy. It ends as the full one does, or is
  /// `unrepaired`: then the full one has to follow. For types whose images say so.
  bool fast = false;
  /// Of a file system with its log on a device of its own: that is gone for good, and what only it
  /// held is given up, which is a finding. A repair makes it a file system without such a log.
  bool without_log = false;
  /// For who shows one state of a store after the other: a digest of each sector as it is now.
  /// Equal numbers of one sector mean equal bytes, as long as the checker lives; 0 means zeroes. A
  /// repair writes through the store, which brings the numbers up to date. Empty: nothing is known,
  /// everything is read. What is found must not depend on it: the lab compares both ways.
  std::span<const std::uint64_t> digests = {};
  /// What makes them: of the sector that begins with that LBA. For who looks at what would be
  /// written. Null: not known.
  std::uint64_t (*digest_of)(std::uint64_t lba, std::span<const std::byte> sector) = nullptr;
};

/// May be used for any number of images of its type and may keep its memory between them.
class ImageChecker {
 public:
  virtual ~ImageChecker() = default;
  /// Writes nothing. Sees the image as it will be when its log has been recovered: what a mount
  /// after the cut would show. Errors: no file system of this type; the store fails.
  virtual Result<CheckReport> check(const model::SectorStore& store,
                                    const CheckOptions& options) = 0;
  /// Recovers the log, if there is one, and repairs what it finds. Afterwards check() finds
  /// nothing, unless `unrepaired` says otherwise, as it does of every finding of a type without
  /// repairs_damage(). May be cut anywhere and begun again. Errors: as check().
  virtual Result<CheckReport> repair(model::SectorStore& store, const CheckOptions& options) = 0;
};

// ---- what an image holds

struct ImageInode {
  std::uint64_t number = 0;
  bool allocated = false;
  FileType type = FileType::other;
  std::uint32_t mode = 0;  ///< permission bits
  std::uint32_t links = 0, user = 0, group = 0;
  std::uint64_t size_bytes = 0, allocated_bytes = 0;
  std::int64_t modified_seconds = 0;
};

struct ImageName {
  std::string name;
  std::uint64_t inode = 0;
};

/// Where a piece of a file's content lies. A hole has kHole for `lba`.
struct ContentExtent {
  static constexpr std::uint64_t kHole = UINT64_MAX;
  std::uint64_t lba = 0;
  std::uint64_t sectors = 0;
};

/// Reads an image that a check found in order, or that a repair has put in order, and believes
/// nothing of it all the same: addresses are checked before they are followed, and what is invalid
/// is an Error that names the inode. A log that was not recovered is seen as after its recovery
/// where the type can do that.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  virtual std::uint64_t root() const = 0;  ///< its inode
  /// A number that differs when the image was made in another way: what was learnt of one image by
  /// inode numbers then says nothing about the other.
  virtual std::uint64_t layout() const = 0;
  /// Of an inode: a number that differs when the inode is found somewhere else, in formats that
  /// look it up in a map which is read when the image is opened. Formats with inodes at fixed
  /// places leave it 0. Who keeps what was read of an inode keeps it while this and the sectors
  /// read are the same.
  virtual std::uint64_t place_of(std::uint64_t inode) const { return (void)inode, 0; }

  virtual Result<ImageInode> inode(std::uint64_t number) const = 0;
  /// Without "." and "..", in the order in which they lie there.
  virtual Result<std::vector<ImageName>> list(std::uint64_t directory) const = 0;
  virtual Result<std::string> readlink(std::uint64_t number) const = 0;
  /// All of a regular file's content up to its size, in order; the last extent may reach beyond it.
  virtual Result<std::vector<ContentExtent>> content(std::uint64_t number) const = 0;
  /// Fewer bytes only at the end of the file; holes are zeroes.
  virtual Result<std::size_t> read(std::uint64_t number, std::uint64_t offset,
                                   std::span<std::byte> into) const = 0;

  /// Components separated by '/'; "" is the root. Symbolic links are not followed.
  Result<std::uint64_t> lookup(std::string_view path) const;
  /// Everything below the root, a directory before what is in it. An inode with several names comes
  /// as often. Errors: the image cannot be read; a name of an inode that is not allocated; a
  /// directory that is met again.
  Result<void> walk(
      const std::function<void(const std::string& path, const ImageInode&)>& visit) const;
};

// ---- making and mounting

/// Options by name, as a user writes them: {"block-size", "4096"}.
using Settings = std::map<std::string, std::string, std::less<>>;

/// One that mkfs knows. Two names mean the same for every type that has them: `uuid`, which
/// `{uuid}` of an adapter is given to, and `time`, in seconds since the epoch, which
/// mkfs.headcrash-TYPE sets to now.
struct MkfsOption {
  std::string_view name;     ///< "block-size"
  char letter = 0;           ///< of mkfs.headcrash-TYPE; 0: none
  std::string_view value;    ///< "BYTES"
  std::string_view meaning;  ///< a line, with the default in parentheses
};

/// The first 16 hexadecimal digits of a UUID, whatever is between them. Errors: it has fewer.
Result<std::uint64_t> id_of_uuid(const std::string& uuid);

/// What mkfs has made, for people and for --json.
struct MadeImage {
  std::string text;                                          ///< "2 groups, 64 inodes, ..."
  std::vector<std::pair<std::string, std::uint64_t>> facts;  ///< {"groups", 2}
};

struct MountSettings {
  bool force = false;   ///< although it was not unmounted and needs a check first
  bool flushes = true;  ///< off: a system that flushes itself does not; completion is believed
  std::string snapshot = {};  ///< not empty: that one, read-only (FileSystemType::has_snapshots)
};

/// All calls are made within a fiber of the system it is mounted on, but for the destructor.
class MountedSystem {
 public:
  virtual ~MountedSystem() = default;
  virtual Vfs& vfs() = 0;
  /// Writes everything and says so on the disk; open files are closed. Afterwards only
  /// space_counts() and the destructor may be called. An error: something could not be written; it
  /// is unmounted all the same, and the image does not say that it is clean.
  virtual VfsResult<void> unmount() = 0;
  /// The power is gone: forgets what it holds without a write. Afterwards only the destructor may
  /// be called, possibly when the executor has been halted.
  virtual void abandon() = 0;
  /// False while there is work of its own that a sync() does not wait for and after which a check
  /// would find something else: then no cut is expected to be free of residue.
  virtual bool has_no_pending_changes() const { return true; }
  /// Null: it has none.
  virtual Snapshots* snapshots() { return nullptr; }
  virtual Transactions* transactions() { return nullptr; }
  /// What is free, as it counts itself. When it owes nothing, a check of the image counts the same.
  virtual Counters space_counts() const = 0;
};

/// Another recovery of the same images, which has to come out as ImageChecker::repair() does.
class RecoveryTrial {
 public:
  virtual ~RecoveryTrial() = default;
  /// What it leaves that repair() would not, in words; empty: nothing. It is cut in between and
  /// begun again, too. The image is not changed; what is tried depends on its bytes alone.
  virtual std::string difference(const model::SectorStore& image) = 0;
  virtual Counters counts() const = 0;  ///< of what was tried so far
};

/// A disk of the in-process lab (harness/explorer/in_process/lab_disks.h).
struct LabDisk {
  std::uint64_t bytes = 0;
  Settings mkfs = {};
  /// Of a second device, behind the first one on the lab's disk; 0: there is none.
  std::uint64_t log_bytes = 0;
  /// The system that has mounted, used and unmounted it before; empty: it is new.
  std::string used_by = {};
  /// Its power went instead of the unmount, after some more, which that system gives up when it is
  /// mounted again.
  bool cut = false;
};

class FileSystemType;

/// What a system says about itself.
struct SystemDescription {
  std::string name;  ///< within its type: "soft-updates-init"
  std::string title;
  bool control = false;          ///< keeps no promise on purpose and has to be caught
  bool shows_unmounted = false;  ///< of a control: what it breaks can be seen after an unmount, too
  /// Of a control that few workloads show, one that does, as campaigns name it: "reuse/3@tiny~2".
  std::string shown_by = {};
  Promises promises = {};
  os::DiskQueueOptions queue = {};  ///< the order in the driver that it relies on
  bool block_copy = false;          ///< os::BufferCacheOptions
  std::optional<os::SyncerOptions> syncer =
      {};  ///< how it has to be written behind; nothing: as its machine likes
  /// It flushes a volatile cache itself, where it has to; else the driver does, after every write
  /// that something waits for (os::DiskQueueOptions::flush_for_order).
  bool flushes = false;
  /// Devices that it is mounted on: its own, and for 2 one for its log (os::System). Who makes,
  /// checks or reads an image of it gives a store that has them at a driver's addresses
  /// (os/device_stores.h).
  std::size_t devices = 1;
  /// What mkfs must be told of its file systems; a user's settings come on top.
  Settings mkfs = {};
  /// The lab makes and drops snapshots while it runs, and looks whether those that are kept stay
  /// what they are.
  bool keeps_snapshots = false;
};

class SystemUnderTest {
 public:
  SystemUnderTest(const FileSystemType& type, SystemDescription description)
      : type_(&type), description_(std::move(description)) {}
  virtual ~SystemUnderTest() = default;
  SystemUnderTest(const SystemUnderTest&) = delete;
  SystemUnderTest& operator=(const SystemUnderTest&) = delete;

  const FileSystemType& type() const { return *type_; }
  const SystemDescription& description() const { return description_; }
  const std::string& name() const { return description_.name; }
  bool control() const { return description_.control; }
  std::string full_name() const;  ///< "ufs-soft-updates-init"

  /// Within a fiber of the system; what is on the disk was made by its type's mkfs. Recovers the
  /// log first. Errors: as for people; no file system, or one that needs a check first.
  virtual Result<std::unique_ptr<MountedSystem>> mount(os::System& system,
                                                       const MountSettings& settings) const = 0;
  /// True when a power cut may leave this, although the promises are kept.
  virtual bool may_leave(const FindingKind& kind) const = 0;
  /// Null: there is one recovery only.
  virtual std::unique_ptr<RecoveryTrial> recovery_trial() const { return nullptr; }
  /// By name: "plain", "tiny", "deep", "used" (lab_disks.h says what they are for). Nothing: the
  /// type has no such disk, and what would run on it is left out. "plain" there must be.
  virtual std::optional<LabDisk> lab_disk(std::string_view name) const = 0;

 private:
  const FileSystemType* type_;
  SystemDescription description_;
};

// ---- trials of the checker itself

struct DamageCounts {
  std::uint64_t damaged = 0;  ///< images
  std::uint64_t cut = 0;      ///< repairs that were cut and made again
  std::uint64_t left = 0;     ///< damaged images in which there was no room for all that was lost
};

/// One sound image, damaged in ways that follow from a seed, repaired, and the repair judged.
class RepairTrials {
 public:
  virtual ~RepairTrials() = default;
  /// Errors: what is wrong with a repair, and the damage in words.
  virtual Result<void> run(std::uint64_t seed, DamageCounts& counts) = 0;
};

/// A second opinion about a repaired image, by code that shares nothing with the checker.
class ImageAudit {
 public:
  virtual ~ImageAudit() = default;
  /// The first contradiction on an image in whole sectors that calls itself clean, in words; empty:
  /// none.
  virtual std::string contradiction_in(std::span<const std::byte> image) = 0;
};

// ---- a type

class FileSystemType {
 public:
  virtual ~FileSystemType() = default;

  virtual std::string_view name() const = 0;   ///< "ufs": of images, programs, campaigns
  virtual std::string_view title() const = 0;  ///< a line for people
  /// What CheckFinding::block counts.
  virtual std::string_view address_unit() const { return "block"; }

  virtual std::span<const MkfsOption> mkfs_options() const = 0;
  /// Creates an empty file system that fills the store, with room for nothing but what the format
  /// needs; a mount, a check and a reader then find it clean. Errors: an unknown or impossible
  /// option, by name.
  virtual Result<MadeImage> mkfs(model::SectorStore& store, const Settings& settings) const = 0;
  virtual std::unique_ptr<ImageChecker> checker() const = 0;
  /// The store must outlive the reader. Errors: no file system of this type.
  virtual Result<std::unique_ptr<ImageReader>> open_image(
      const model::SectorStore& store) const = 0;
  /// True for types whose mounts may have MountedSystem::snapshots().
  virtual bool has_snapshots() const { return false; }
  /// Those that an image keeps. Errors: no file system of this type; a type without.
  virtual Result<std::vector<SnapshotInfo>> snapshots(const model::SectorStore& store) const;
  /// As open_image(), of one of them. Errors name those that there are.
  virtual Result<std::unique_ptr<ImageReader>> open_snapshot(const model::SectorStore& store,
                                                             std::string_view snapshot) const;
  /// Where on such an image I/O errors tell most: superblock, maps, inodes, log, data.
  virtual Result<std::vector<os::SectorRange>> fault_areas(
      const model::SectorStore& store) const = 0;

  /// Names for what its mounts write, by os::BlockRequest::kind: superblocks, inodes, data, a log.
  /// 16 at most; the first one is what they do not tell.
  virtual std::span<const std::string_view> block_kinds() const;

  /// In the order of tables; every name once.
  virtual std::span<const std::unique_ptr<const SystemUnderTest>> systems() const = 0;
  /// The one that is mounted when nobody says which.
  virtual std::string_view usual_system() const = 0;
  /// For who does not know which system ran: true when no finding is more than some system that is
  /// not a control may leave after a power cut.
  virtual bool left_by_a_cut(const CheckReport& report) const;

  /// False: repair() recovers the log, tells of damage, and leaves it. For types in which a power
  /// cut leaves none.
  virtual bool repairs_damage() const { return true; }
  /// Null: the type has none.
  virtual std::unique_ptr<ImageAudit> audit() const { return nullptr; }
  /// True for types with repair_trials().
  virtual bool has_repair_trials() const { return false; }
  /// `sound`: an image that was unmounted, in whole sectors; it must outlive the trials. From
  /// sector `log_at` on it is that of a log on a device of its own; 0: there is none. Errors: the
  /// image is not sound; the type has no trials.
  virtual Result<std::unique_ptr<RepairTrials>> repair_trials(std::span<const std::byte> sound,
                                                              std::uint64_t log_at) const;

  /// True: some of its systems keep their log on a second device (SystemDescription::devices).
  bool may_have_log_device() const;
  /// Errors name all there are.
  Result<const SystemUnderTest*> find_system(std::string_view system) const;
};

}  // namespace headcrash::adapters
