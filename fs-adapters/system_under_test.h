#pragma once
// The description of one of headcrash's own file systems. Everything that creates, mounts, crashes,
// checks or lists these file systems uses it: the in-process lab, campaigns, experiments, the FUSE
// programs, `headcrash image` and `headcrash list systems`. These users do not depend on a
// particular file system; registry.h has the table of all types.
//
//   FileSystemType    a format ("ufs", "lfs"): mkfs, checker, reader of images, and its systems
//   SystemUnderTest   one configuration ("ufs soft-updates-init"): promises, driver order, mount
//   MountedSystem     one mount: a Vfs, unmount, abandon
//   ImageChecker      fsck: checks and repairs images
//   ImageReader       names, inodes and contents of an image, by code independent of the mount
//   RepairTrials      trials of the checker on damaged images; optional
//   RecoveryTrial     an alternative recovery, compared with the checker's; optional
//
// A new file system derives from FileSystemType and SystemUnderTest in its own directory and adds
// one line to registry.cc. Types and systems are constant, and live as long as the process. Any
// thread may use them. Checkers, readers, trials and mounts belong to one thread each.

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
#include "plugin/model/core/sector_digests.h"
#include "plugin/model/core/store.h"

namespace headcrash::adapters {

// ---- check results

/// Severity of a finding. `stale`: left behind by every power cut. `residue`: may be left behind by
/// a power cut even if updates were ordered correctly; fsck removes it. `damage`: caused only by a
/// fault.
enum class Severity : std::uint8_t { stale, residue, damage };

/// A kind of finding that a type's checker can report. Kinds are constants of the type, so `name`
/// lives as long as the process. Two kinds are equal if their `order` is equal.
struct FindingKind {
  std::string_view name;  ///< "leaked-blocks"
  Severity severity = Severity::damage;
  std::uint16_t order = 0;  ///< position among the type's kinds, for reports

  bool operator==(const FindingKind& other) const { return order == other.order; }
  bool operator<(const FindingKind& other) const { return order < other.order; }
};

struct CheckFinding {
  FindingKind kind;
  std::uint64_t inode = 0;  ///< 0: none
  /// Address of the finding, in units of FileSystemType::address_unit(); 0 if it has none.
  std::uint64_t block = 0;
  std::uint32_t count = 0;  ///< the meaning depends on the kind
  bool repaired = false;
  std::string text;  ///< one line for users
};

/// A named counter of a file system, such as {"free inodes", 17}.
struct Counter {
  std::string_view name;  ///< lives as long as the process
  std::uint64_t value = 0;
  bool operator==(const Counter&) const = default;
};
using Counters = std::vector<Counter>;

struct CheckReport {
  std::vector<CheckFinding> findings;
  std::uint64_t more_findings = 0;  ///< number of findings beyond CheckOptions::findings_max
  bool was_clean = false;           ///< the image was already marked as unmounted
  /// The image is not clean, but its log (journal, roll-forward) can recover it.
  bool log_in_use = false;
  bool unrepaired = false;  ///< a repair was made, but findings remain
  /// Number of log transactions that the repair replayed. After a check, the number that a repair
  /// would replay.
  std::size_t replayed = 0;
  std::string log;  ///< text such as "3 records of the intent log"; empty for journal transactions
  std::uint32_t files = 0, directories = 0;
  /// Free space as MountedSystem::space_counts() would report it with no changes pending.
  Counters space;

  bool nothing_found() const { return findings.empty() && more_findings == 0; }
};

struct CheckOptions {
  /// Maximum number of findings to keep; further findings are only counted.
  std::size_t findings_max = 1000;
  std::uint32_t time = 0;  ///< seconds since the epoch; used in structures that a repair writes
  /// Repairs only the areas that the image marks as busy. If this suffices, the result equals that
  /// of a full repair. Otherwise, the report is `unrepaired`, and a full repair must follow. Only
  /// for types whose images have such marks.
  bool fast = false;
  /// If true, the file system's external log is lost for good, together with the changes that only
  /// the log contained. A check reports this loss as a finding. A repair converts the image to one
  /// without an external log. Has no effect on file systems without an external log.
  bool without_log = false;
  /// Digests of the store's current sectors, for callers that check many states of one store. A
  /// sector of zeroes has the digest 0. Sectors with equal digests have equal bytes, even if the
  /// sectors belong to different states. A repair writes through the store, which updates the
  /// digests. If empty, the digests are unknown, so the checker reads everything. Findings must not
  /// depend on whether digests are available; the lab verifies this.
  model::SectorDigests digests = {};
  /// Computes the digest of a sector that is not in the store, because a recovery of the log would
  /// write it. The digest must be of the same kind as those in `digests`. `lba` is the address of
  /// the sector. If null, digests are not used.
  std::uint64_t (*digest_of)(std::uint64_t lba, std::span<const std::byte> sector) = nullptr;
};

/// Checks any number of images of its type. May reuse memory from one image to the next.
class ImageChecker {
 public:
  virtual ~ImageChecker() = default;
  /// Checks without writing. Checks the state that a mount would show, that is, the image after its
  /// log has been recovered. Fails if there is no file system of this type, or if the store fails.
  virtual Result<CheckReport> check(const model::SectorStore& store,
                                    const CheckOptions& options) = 0;
  /// Recovers the log, if any, and repairs the findings. Afterwards check() finds nothing, unless
  /// the report is `unrepaired`. Checkers of types without repairs_damage() only recover the log
  /// and leave every finding. A repair may be interrupted at any point and repeated. Fails in the
  /// same cases as check().
  virtual Result<CheckReport> repair(model::SectorStore& store, const CheckOptions& options) = 0;
  /// Makes the first step of repair(): recovers the log, without repairing anything. The report has
  /// `log_in_use`, `replayed`, `log` and the findings about the log. With these and the findings of
  /// a check of the recovered image, the result equals that of check() before the recovery. Returns
  /// nullopt and changes nothing if the image is clean or damaged, or if the type has no such step.
  virtual Result<std::optional<CheckReport>> recover_log(model::SectorStore& /*store*/,
                                                         const CheckOptions& /*options*/) {
    return std::nullopt;
  }
};

// ---- content of an image

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

/// The location of a part of a file's contents. For a hole, `lba` is kHole.
struct ContentExtent {
  static constexpr std::uint64_t kHole = UINT64_MAX;
  std::uint64_t lba = 0;
  std::uint64_t sectors = 0;
};

/// Reads an image that a check found clean or that was repaired. The image is nevertheless
/// untrusted: addresses are validated before they are followed, and an invalid structure is
/// reported as an Error that names the inode. If the log has not been recovered and the type
/// supports it, the reader applies the log in memory.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  virtual std::uint64_t root() const = 0;  ///< the inode of the root
  /// Returns a number that depends on the parameters with which mkfs created the file system. If
  /// the numbers of two images differ, data that was cached by inode number for one image must not
  /// be used for the other.
  virtual std::uint64_t layout() const = 0;
  /// Returns a number that changes when the inode moves to another place on the disk. Formats with
  /// fixed inode positions return 0. An inode's cached data stays valid while this number and the
  /// sectors from which the data was read are unchanged.
  virtual std::uint64_t place_of(std::uint64_t inode) const { return (void)inode, 0; }

  virtual Result<ImageInode> inode(std::uint64_t number) const = 0;
  /// Returns all names except "." and "..", in on-disk order.
  virtual Result<std::vector<ImageName>> list(std::uint64_t directory) const = 0;
  virtual Result<std::string> readlink(std::uint64_t number) const = 0;
  /// Returns a regular file's contents up to its size, in order. The last extent may extend past
  /// the end of the file.
  virtual Result<std::vector<ContentExtent>> content(std::uint64_t number) const = 0;
  /// Reads at `offset`. Returns fewer bytes than requested only at the end of the file. Holes read
  /// as zeroes.
  virtual Result<std::size_t> read(std::uint64_t number, std::uint64_t offset,
                                   std::span<std::byte> into) const = 0;

  /// Finds an inode by path: components separated by '/'; "" is the root. Symbolic links are not
  /// followed.
  Result<std::uint64_t> lookup(std::string_view path) const;
  /// Visits everything below the root, each directory before its contents. An inode with several
  /// names is visited once per name. Fails if the image cannot be read, if a name refers to a free
  /// inode, or if a directory is reached twice.
  Result<void> walk(
      const std::function<void(const std::string& path, const ImageInode&)>& visit) const;
};

// ---- mkfs and mount

/// Options by name. Names and values are those that the user wrote, for example {"block-size",
/// "4096"}.
using Settings = std::map<std::string, std::string, std::less<>>;

/// An mkfs option. Every type supports `uuid`, set to an adapter's `{uuid}`, and `time`, in seconds
/// since the epoch. mkfs.headcrash-TYPE sets `time` to the current time.
struct MkfsOption {
  std::string_view name;     ///< "block-size"
  char letter = 0;           ///< short option of mkfs.headcrash-TYPE; 0 if it has none
  std::string_view value;    ///< "BYTES"
  std::string_view meaning;  ///< one line, with the default in parentheses
};

/// Returns the first 16 hexadecimal digits of a UUID. Fails if it has fewer.
Result<std::uint64_t> id_of_uuid(const std::string& uuid);

/// A description of a new file system, as text and for --json.
struct MadeImage {
  std::string text;                                          ///< "2 groups, 64 inodes, ..."
  std::vector<std::pair<std::string, std::uint64_t>> facts;  ///< {"groups", 2}
};

struct MountSettings {
  bool force = false;  ///< mounts an image that was not unmounted and needs a check
  /// If false, a system that normally flushes the device's cache by itself does not do so, and
  /// treats completed writes as durable.
  bool flushes = true;
  /// If not empty, mounts this snapshot read-only (FileSystemType::has_snapshots).
  std::string snapshot = {};
};

/// A mounted file system. All functions except the destructor must be called from a fiber on its
/// machine.
class MountedSystem {
 public:
  virtual ~MountedSystem() = default;
  virtual Vfs& vfs() = 0;
  /// Closes open files, writes everything and marks the image clean. Afterwards, only
  /// space_counts() and the destructor may be called. If something cannot be written, returns an
  /// error; the file system is then unmounted all the same, but not marked clean.
  virtual VfsResult<void> unmount() = 0;
  /// Simulates a power cut: discards everything without writing. May be called even after the
  /// executor has been halted. Afterwards, only the destructor may be called.
  virtual void abandon() = 0;
  /// Returns false while there is background work for which sync() does not wait and that would
  /// change the result of a check. A power cut during this work may leave residue.
  virtual bool has_no_pending_changes() const { return true; }
  /// Drops in-core inodes that are unused and unchanged, so that the next user reads them again.
  /// Does not wait.
  virtual void drop_unused_inodes() {}
  /// Returns null if snapshots are not supported.
  virtual Snapshots* snapshots() { return nullptr; }
  virtual Transactions* transactions() { return nullptr; }
  /// Returns the free space according to the mounted file system. When there are no pending
  /// changes, a check must report the same counts.
  virtual Counters space_counts() const = 0;
};

/// An alternative recovery. Its result must equal that of ImageChecker::repair().
class RecoveryTrial {
 public:
  virtual ~RecoveryTrial() = default;
  /// Runs the alternative recovery, with interruptions and repetitions, and compares each result
  /// with that of repair(). Returns a description of the first difference, or an empty string. Does
  /// not change the image. The outcome depends only on the image's bytes.
  virtual std::string difference(const model::SectorStore& image) = 0;
  virtual Counters counts() const = 0;  ///< totals of all trials so far
};

/// A disk for the in-process lab (harness/explorer/in_process/lab_disks.h).
struct LabDisk {
  std::uint64_t bytes = 0;
  Settings mkfs = {};
  /// Size of a second device, which follows the first one on the lab's disk; 0 if absent.
  std::uint64_t log_bytes = 0;
  /// The system that mounted, used and unmounted the disk before the trial; empty for a new disk.
  std::string used_by = {};
  /// True if the run of the system `used_by` ended with a power cut and not with an unmount. The
  /// disk then also contains changes that the tested system discards when it mounts the disk.
  bool cut = false;
};

class FileSystemType;

struct SystemDescription {
  std::string name;  ///< unique within its type, for example "soft-updates-init"
  std::string title;
  /// True for a negative control: the system breaks promises on purpose, and the lab must detect
  /// the violations.
  bool control = false;
  bool shows_unmounted = false;  ///< for a control: the defect is also visible after an unmount
  /// A workload that reveals the defect, in campaign notation, such as "reuse/3@tiny~2". Set only
  /// for controls with a defect that few workloads reveal.
  std::string shown_by = {};
  Promises promises = {};
  os::DiskQueueOptions queue = {};  ///< the driver's ordering rules that the system requires
  bool block_copy = false;          ///< os::BufferCacheOptions
  /// The syncer policy that the system requires; nullopt if any policy will do.
  std::optional<os::SyncerOptions> syncer = {};
  /// If true, the system flushes volatile caches itself where needed. Otherwise, the driver flushes
  /// after every write that another write waits for (os::DiskQueueOptions::flush_for_order).
  bool flushes = false;
  /// Number of devices: 1, or 2 with an external log (os::System). To create, check or read an
  /// image, callers pass a store in which each device is at its driver addresses
  /// (os/device_stores.h).
  std::size_t devices = 1;
  /// Required mkfs options; the user's settings override them.
  Settings mkfs = {};
  /// If true, the lab creates and drops snapshots while the system runs, and checks that existing
  /// snapshots do not change.
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

  /// Must be called from a fiber on `system`. Mounts the file system, after recovering its log. The
  /// disk must have been formatted by this type's mkfs. Fails if there is no file system, or if it
  /// must be checked before it is mounted.
  virtual Result<std::unique_ptr<MountedSystem>> mount(os::System& system,
                                                       const MountSettings& settings) const = 0;
  /// Returns true if a power cut may leave findings of this kind although the system keeps its
  /// promises.
  virtual bool may_leave(const FindingKind& kind) const = 0;
  /// Returns null if the system has no recovery other than ImageChecker::repair().
  virtual std::unique_ptr<RecoveryTrial> recovery_trial() const { return nullptr; }
  /// Returns a disk by name: "plain", "tiny", "deep" or "used" (see lab_disks.h). Returns nullopt
  /// if the type has no such disk; the trials on that disk are then skipped. "plain" is required.
  virtual std::optional<LabDisk> lab_disk(std::string_view name) const = 0;

 private:
  const FileSystemType* type_;
  SystemDescription description_;
};

// ---- trials of the checker

struct DamageCounts {
  std::uint64_t damaged = 0;  ///< images
  std::uint64_t cut = 0;      ///< repairs that were interrupted and repeated
  std::uint64_t left = 0;     ///< damaged images whose repair lacked the space to recover all files
};

/// Damages a sound image in a way that a seed determines, repairs it, and judges the repair.
class RepairTrials {
 public:
  virtual ~RepairTrials() = default;
  /// Fails if the repair is wrong. The error names the damage that was applied to the image.
  virtual Result<void> run(std::uint64_t seed, DamageCounts& counts) = 0;
};

/// Verifies a repaired image with code that is independent of the checker.
class ImageAudit {
 public:
  virtual ~ImageAudit() = default;
  /// Describes the first contradiction in an image that is marked as clean, or returns "".
  /// The image must consist of whole sectors.
  virtual std::string contradiction_in(std::span<const std::byte> image) = 0;
};

// ---- type

class FileSystemType {
 public:
  virtual ~FileSystemType() = default;

  /// A short name such as "ufs", which is also part of the names of images, programs and campaigns.
  virtual std::string_view name() const = 0;
  virtual std::string_view title() const = 0;  ///< one line for users
  /// Returns the unit of CheckFinding::block.
  virtual std::string_view address_unit() const { return "block"; }

  virtual std::span<const MkfsOption> mkfs_options() const = 0;
  /// Creates an empty file system that fills the store. The new file system is clean for mounts,
  /// checks and readers. Fails if an option is unknown or invalid. The error names the option.
  virtual Result<MadeImage> mkfs(model::SectorStore& store, const Settings& settings) const = 0;
  virtual std::unique_ptr<ImageChecker> checker() const = 0;
  /// The store must outlive the reader. Fails if there is no file system of this type.
  virtual Result<std::unique_ptr<ImageReader>> open_image(
      const model::SectorStore& store) const = 0;
  /// Returns true if mounts of this type can support MountedSystem::snapshots(); whether a mount
  /// supports them depends on its system.
  virtual bool has_snapshots() const { return false; }
  /// Returns the snapshots of an image. Fails if there is no file system of this type, or if the
  /// type has no snapshots.
  virtual Result<std::vector<SnapshotInfo>> snapshots(const model::SectorStore& store) const;
  /// Like open_image(), but opens a snapshot. If the snapshot does not exist, the error lists the
  /// existing snapshots.
  virtual Result<std::unique_ptr<ImageReader>> open_snapshot(const model::SectorStore& store,
                                                             std::string_view snapshot) const;
  /// Returns the areas of an image where injected I/O errors are most likely to reveal defects:
  /// superblock, maps, inodes, log, data.
  virtual Result<std::vector<os::SectorRange>> fault_areas(
      const model::SectorStore& store) const = 0;

  /// Returns the names for the values of os::BlockRequest::kind, such as superblocks, inodes, data
  /// or log. There are at most 16 names; the first one is for writes of any other kind.
  virtual std::span<const std::string_view> block_kinds() const;

  /// Returns the systems in table order. Names are unique.
  virtual std::span<const std::unique_ptr<const SystemUnderTest>> systems() const = 0;
  /// Returns the name of the default system.
  virtual std::string_view usual_system() const = 0;
  /// Returns true if the type has a system, other than a control, in which a power cut may leave
  /// all of these findings. Used by callers that do not know which system ran.
  virtual bool left_by_a_cut(const CheckReport& report) const;

  /// Returns false if repair() only recovers the log, and reports damage without repairing it. In
  /// such types, a power cut leaves no damage.
  virtual bool repairs_damage() const { return true; }
  /// Returns null if the type has no audit.
  virtual std::unique_ptr<ImageAudit> audit() const { return nullptr; }
  virtual bool has_repair_trials() const { return false; }
  /// Creates trials that damage copies of `sound`, the image of an unmounted file system. The image
  /// consists of whole sectors and must outlive the trials. Sectors from `log_at` on are an
  /// external log; 0 if there is no log. Fails if the image is not sound, or if the type has no
  /// trials.
  virtual Result<std::unique_ptr<RepairTrials>> repair_trials(std::span<const std::byte> sound,
                                                              std::uint64_t log_at) const;

  /// Returns true if some of the type's systems have an external log (SystemDescription::devices).
  bool may_have_log_device() const;
  /// Fails if there is no such system. The error lists all names.
  Result<const SystemUnderTest*> find_system(std::string_view system) const;
};

}  // namespace headcrash::adapters
