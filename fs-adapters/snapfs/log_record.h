#pragma once
// The intent log: changes of generations that were synced but have not been committed yet.
// FORMAT.md has the tables.
//
// A record describes one generation: its inodes, and the blocks and inode numbers that it allocated
// and freed. When the record is written, the generation's directory, address and data blocks are
// already on the disk, at their final addresses. A superblock and all valid records after it
// therefore describe the file system as of the last record. Records are consecutive from the
// beginning of the log, each in separate sectors. The next superblock makes all of them obsolete.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/snapfs/format.h"

namespace headcrash::snapfs {

struct LogRecord {
  std::uint64_t base = 0;  ///< generation of the superblock that the record continues
  /// Number of earlier records that continue the same superblock. The record's generation is base +
  /// 1 + sequence.
  std::uint32_t sequence = 0;
  // The following fields have the values that a superblock of this generation would have.
  std::uint32_t free_blocks = 0, free_inodes = 0, unlinked = 0, next_generation = 1;
  tree::Timestamp time;
  /// Checksum of the previous record; 0 in the first record.
  std::uint32_t previous_checksum = 0;
  std::uint32_t checksum = 0;  ///< set by encode() and when the record is decoded

  std::vector<Inode> inodes;
  std::vector<InodeNumber> removed;  ///< inodes whose records are cleared
  std::vector<BlockAddress> born, freed;
  std::vector<InodeNumber> numbers_born, numbers_freed;

  std::uint64_t generation() const { return base + 1 + sequence; }
  /// Returns the length of the encoded record, in bytes, rounded up to whole sectors.
  std::size_t bytes() const;
};

/// Encodes a record and sets its checksum.
std::vector<std::byte> encode(LogRecord& record, const Superblock& superblock);
/// Decodes the record at the beginning of `bytes`. Fails if there is no record, or if it is torn,
/// invalid, or from another file system.
Result<LogRecord> decode_log_record(std::span<const std::byte> bytes, const Superblock& superblock);
/// Updates the checksums of records that were edited, and of the inodes in them.
void seal_log(std::span<std::byte> log);
/// Returns the records written since the superblock, in order, up to the first invalid record.
/// `log` must be the whole log.
std::vector<LogRecord> records_of(std::span<const std::byte> log, const Superblock& superblock);

}  // namespace headcrash::snapfs
