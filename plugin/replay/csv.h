#pragma once
// A CSV file with one line per replayed request, in arrival order:
//
//   i,arrive_ms,complete_ms,op,lbn,blocks,response_ms,hit,seek_ms,rotlat_ms,media_xfer_ms
//
// `hit` is WHOLE for a cache hit and NOMATCH otherwise, as in DiskSim; for a failed request, the
// field has the status. Times are in milliseconds with six decimals, which is their full
// resolution.

#include <cstdio>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/replay/replay.h"

namespace headcrash::replay {

class CsvWriter final : public ReplayObserver {
 public:
  /// Creates or replaces the file; "-" is standard output.
  static Result<std::unique_ptr<CsvWriter>> create(const std::string& path);
  ~CsvWriter() override;
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  void replayed(const ReplayedRequest& request) override;
  /// true if a write to the file failed; later lines are dropped
  bool failed() const { return failed_; }
  /// Closes the file. Fails if any write to the file has failed.
  Result<void> close();

 private:
  CsvWriter(std::string path, std::FILE* file);
  void write_out();
  void note_failure();

  std::string path_;
  std::FILE* file_;
  std::vector<char> buffer_;
  std::size_t held_ = 0;
  bool failed_ = false;
  int error_ = 0;  ///< errno of the first failed write
};

}  // namespace headcrash::replay
