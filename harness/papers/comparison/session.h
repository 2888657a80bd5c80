#pragma once
// Data shared by the parts of a run. Each cell is measured only once, and the summary uses all
// cells.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/papers/comparison/columns.h"
#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

/// The cells for one device, or for one fill level of an aged disk.
struct TimedTable {
  std::string name;  ///< for example "one drive" or "aged, 75 % full"
  std::vector<std::size_t> row_numbers;
  std::vector<Column> columns;
  /// The outcomes, indexed first by row and then by column.
  std::vector<std::vector<Outcome>> outcomes;
  std::vector<std::string> notes = {};  ///< one note per row, shown as an additional table column
};

/// The losses of a row after cuts at random instants, with one value per seed.
struct RowLoss {
  std::size_t row = 0;
  Sample worst_s, median_s, kb, changes;
  std::uint64_t instants = 0,
                /// Number of examined instants, and number of instants with forbidden fsck
      /// findings.
      damaged = 0;
  std::uint64_t promised = 0,
                /// Number of changes covered by fsync, and number of these that were lost.
      broken = 0;
  std::string error, first_damage;
};

/// A case in which recovery times are measured. It consists of the size of the file system and the
/// duration of the work before the power cut.
struct RecoveryCase {
  std::string name;  ///< for example "10 GB, 10 s of work"
  double gb = 1;
  std::uint64_t files_mb = 250;
  int dirty_s = 10;

  double share() const { return static_cast<double>(files_mb) / (gb * 1000); }  ///< in use
};
/// Returns the cases of part `recovery`; a single small one if `scaled` is true.
std::vector<RecoveryCase> recovery_cases(bool scaled);
/// The recovery times of one row. Each sample has one value per seed. `mount_s` and `mount_cpu_s`
/// are the elapsed time and the CPU time until the mount. `consistent_s` is the elapsed time of a
/// full check and a mount.
struct RowRecovery {
  std::size_t row = 0;
  Sample mount_s, mount_cpu_s, consistent_s;
  std::string error;
};
struct RecoveryTable {
  RecoveryCase what;
  std::vector<RowRecovery> rows;
};

/// An aged disk or array, and the fraction of its space that is in use.
struct AgedOn {
  Device device = Device::drive;
  int percent_full = 50;
  bool operator<(const AgedOn& other) const {
    return std::pair(device, percent_full) < std::pair(other.device, other.percent_full);
  }
  /// For example "RAID-5, aged, 75 % full"; on one drive, "aged, 75 % full".
  std::string name() const;
  std::string id() const;  ///< "aged75-raid5"
};
/// The aged disks and arrays of the comparison, with three fill levels each.
inline constexpr AgedOn kAgedOn[] = {
    {Device::drive, 50},       {Device::drive, 75},       {Device::drive, 90},
    {Device::raid5, 50},       {Device::raid5, 75},       {Device::raid5, 90},
    {Device::raid5_nvram, 50}, {Device::raid5_nvram, 75}, {Device::raid5_nvram, 90}};

class Session {
 public:
  static Session& of(Context& context);

  /// The following functions return a table, and measure it on first use. They return null if the
  /// run is interrupted.
  const TimedTable* on(Context& context, Device device);
  const TimedTable* aged(Context& context, const AgedOn& on);
  const std::vector<RowLoss>* losses(Context& context);            ///< null if interrupted
  const std::vector<RecoveryTable>* recoveries(Context& context);  ///< null if interrupted

 private:
  std::map<Device, TimedTable> tables_;
  std::map<AgedOn, TimedTable> aged_;
  std::optional<std::vector<RowLoss>> losses_;
  std::optional<std::vector<RecoveryTable>> recoveries_;
};

/// Returns a claim with the numbers and the table that belong to one column.
ClaimAnswer answer_of(const TimedTable& table, std::size_t column, const std::string& part,
                      const std::string& id);

}  // namespace headcrash::experiment::compare
