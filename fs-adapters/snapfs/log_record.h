#pragma once
// The intent log: what generations that were synced have changed, until the next one is committed.
// FORMAT.md has the tables.
//
// A record tells one generation: its inodes, and the blocks and numbers that it took and gave back.
// Its blocks of directories, addresses and data are on the disk before it is, where they stay; so
// that a superblock and the records that continue it are the file system as of the last of them.
// Records follow one another from the log's beginning, each in sectors of its own; the next
// superblock ends them all.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/snapfs/format.h"

namespace headcrash::snapfs {

struct LogRecord {
  std::uint64_t base = 0;  ///< generation of the superblock that it continues
  std::uint32_t sequence =
      0;  ///< its number among those, from 0 on; its generation is base + 1 + sequence
  // As a superblock of its generation would say.
  std::uint32_t free_blocks = 0, free_inodes = 0, unlinked = 0, next_generation = 1;
  tree::Timestamp time;
  /// Of the record before it, which it continues; 0: it is the first.
  std::uint32_t previous_checksum = 0;
  std::uint32_t checksum = 0;  ///< as decoded; encode() makes it

  std::vector<Inode> inodes;
  std::vector<InodeNumber> removed;  ///< inodes whose record becomes none
  std::vector<BlockAddress> born, freed;
  std::vector<InodeNumber> numbers_born, numbers_freed;

  std::uint64_t generation() const { return base + 1 + sequence; }
  /// Whole sectors.
  std::size_t bytes() const;
};

/// Its checksum is set.
std::vector<std::byte> encode(LogRecord& record, const Superblock& superblock);
/// The record at the beginning of `bytes`. An Error: none, a torn one, one of another file system,
/// or one that makes no sense.
Result<LogRecord> decode_log_record(std::span<const std::byte> bytes, const Superblock& superblock);
/// For who edits records: the checksums of what they say now, those of their inodes included.
void seal_log(std::span<std::byte> log);
/// Those that continue the superblock, in their order. `log`: all of it. The first that is none
/// ends it.
std::vector<LogRecord> records_of(std::span<const std::byte> log, const Superblock& superblock);

}  // namespace headcrash::snapfs
