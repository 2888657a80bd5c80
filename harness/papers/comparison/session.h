#pragma once
// What the parts of a run share: cells are measured once, and the summary asks for all of them.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/papers/comparison/columns.h"
#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

/// Cells of one kind of machine: a device, or a disk that was in use and is so full.
struct TimedTable {
  std::string name;  ///< "one drive"; "aged, 75 % full"
  std::vector<std::size_t> row_numbers;
  std::vector<Column> columns;
  /// By row and column as listed here.
  std::vector<std::vector<Outcome>> outcomes;
  std::vector<std::string> notes = {};  ///< of each row, for a further column of its table
};

/// What cuts at random instants take from a row, a value for each seed.
struct RowLoss {
  std::size_t row = 0;
  Sample worst_s, median_s, kb, changes;
  std::uint64_t instants = 0,
                damaged = 0;  ///< looks; those whose check finds what the system may not leave
  std::uint64_t promised = 0,
                broken = 0;  ///< changes that fsync had covered; those that are missing
  std::string error, first_damage;
};

/// One file system before the cut.
struct RecoveryCase {
  std::string name;  ///< "10 GB, 10 s of work"
  double gb = 1;
  std::uint64_t files_mb = 250;
  int dirty_s = 10;
};
/// What a row takes after a cut, a value for each seed.
struct RowRecovery {
  std::size_t row = 0;
  Sample mount_s, mount_cpu_s,
      consistent_s;  ///< until it is mounted; and until a whole check is done
  std::string error;
};
struct RecoveryTable {
  RecoveryCase what;
  std::vector<RowRecovery> rows;
};

/// A disk, or an array, that was in use.
struct AgedOn {
  Device device = Device::drive;
  int percent_full = 50;
  bool operator<(const AgedOn& other) const {
    return std::pair(device, percent_full) < std::pair(other.device, other.percent_full);
  }
  std::string name() const;  ///< "RAID-5, aged, 75 % full"; of one drive "aged, 75 % full"
  std::string id() const;    ///< "aged75-raid5"
};
/// All that there are.
inline constexpr AgedOn kAgedOn[] = {
    {Device::drive, 50},       {Device::drive, 75},       {Device::drive, 90},
    {Device::raid5, 50},       {Device::raid5, 75},       {Device::raid5, 90},
    {Device::raid5_nvram, 50}, {Device::raid5_nvram, 75}, {Device::raid5_nvram, 90}};

class Session {
 public:
  static Session& of(Context& context);

  /// Null: interrupted.
  const TimedTable* on(Context& context, Device device);
  const TimedTable* aged(Context& context, const AgedOn& on);
  const std::vector<RowLoss>* losses(Context& context);            ///< null: interrupted
  const std::vector<RecoveryTable>* recoveries(Context& context);  ///< null: interrupted

 private:
  std::map<Device, TimedTable> tables_;
  std::map<AgedOn, TimedTable> aged_;
  std::optional<std::vector<RowLoss>> losses_;
  std::optional<std::vector<RecoveryTable>> recoveries_;
};

/// Numbers and tables of one claim: `column` of the table, or all of them.
ClaimAnswer answer_of(const TimedTable& table, std::size_t column, const std::string& part,
                      const std::string& id);

}  // namespace headcrash::experiment::compare
