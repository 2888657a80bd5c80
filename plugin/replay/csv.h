#pragma once
// One line for each replayed request, in order of arrival:
//
//   i,arrive_ms,complete_ms,op,lbn,blocks,response_ms,hit,seek_ms,rotlat_ms,media_xfer_ms
//
// `hit` is WHOLE when the medium was not needed and NOMATCH when it was, as DiskSim says it; a
// request that failed has its status there instead. Times are in milliseconds with six decimals,
// which is all of them.

#include <cstdio>
#include <string>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/replay/replay.h"

namespace headcrash::replay {

class CsvWriter final : public ReplayObserver {
 public:
  /// "-" is standard output. An existing file is replaced.
  static Result<std::unique_ptr<CsvWriter>> create(const std::string& path);
  ~CsvWriter() override;
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  void replayed(const ReplayedRequest& request) override;
  bool failed() const { return failed_; }  ///< nothing more is written
  /// Error: the file could not be written, now or before.
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
  int error_ = 0;  ///< errno of the first failure
};

}  // namespace headcrash::replay
