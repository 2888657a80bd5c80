#pragma once
// Helpers for tests of a mounted file system with a journal: the journal's counters, and the state
// after a power cut.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/schemes/journal.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs::bench {

inline const JournalCounters& counters(Mounted& m) {
  return dynamic_cast<Journal&>(*m.file_system->volume().scheme).counters();
}

inline void copy(const model::SectorStore& from, model::SectorStore& to) {
  std::vector<std::byte> all(from.sectors() * kSectorBytes);
  EXPECT_TRUE(from.read(0, all) && to.write(0, all));
}

inline std::unique_ptr<media::MemoryStore> copy_of(const model::SectorStore& store) {
  auto copied = *media::MemoryStore::create(store.sectors());
  copy(store, *copied);
  return copied;
}

/// Simulates a power cut and a replay. Fails the test if the image needs a repair afterwards.
/// Returns a reader of the resulting image.
inline ImageReader replayed(std::unique_ptr<media::MemoryStore>& image) {
  Fsck fsck;
  const auto seen = fsck.check(*image);
  EXPECT_TRUE(seen && seen->nothing_found())
      << (seen ? findings_of(*seen) : seen.error().message());
  EXPECT_TRUE(fsck.run(*image, {.repair = true}));
  auto reader = ImageReader::open(*image);
  EXPECT_TRUE(reader);
  return *reader;
}

}  // namespace headcrash::ufs::bench
