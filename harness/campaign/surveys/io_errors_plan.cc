// Lists the cells and parses the names of campaigns (io_errors_plan.h).
#include "harness/campaign/surveys/io_errors_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugin/base/names.h"

namespace headcrash::campaign {
namespace {

constexpr std::string_view kAllFilesystems = "all";

constexpr std::array kFailedRequests{FailedRequest::none,          FailedRequest::data_overwrite,
                                     FailedRequest::data_append,   FailedRequest::metadata,
                                     FailedRequest::metadata_copy, FailedRequest::journal,
                                     FailedRequest::flush};

struct TestedFileSystem {
  std::string_view filesystem;
  bool journals = true;  ///< has a journal, a log or checkpoints
  bool copies_metadata = false;
  /// True if only writes of data may fail, because the adapter's mount option affects only errors
  /// of such writes.
  bool only_data = false;
};
constexpr std::array kSubjects{
    TestedFileSystem{"ext4"},
    TestedFileSystem{.filesystem = "ext4+data_err=abort", .only_data = true},
    TestedFileSystem{"ext4-journal"},
    TestedFileSystem{"xfs"},
    TestedFileSystem{.filesystem = "btrfs", .copies_metadata = true},
    TestedFileSystem{"f2fs"},
    TestedFileSystem{.filesystem = "ufs-soft-updates", .journals = false},
    TestedFileSystem{"ufs-journal"},
};

bool has(const TestedFileSystem& subject, FailedRequest failed) {
  const bool data = failed == FailedRequest::data_overwrite || failed == FailedRequest::data_append;
  if (subject.only_data) return data;
  if (failed == FailedRequest::journal) return subject.journals;
  return failed != FailedRequest::metadata_copy || subject.copies_metadata;
}

}  // namespace

std::string_view name(FailedRequest failed) {
  static constexpr auto kNames = base::names<FailedRequest>(
      {"none", "data-overwrite", "data-append", "metadata", "metadata-copy", "journal", "flush"});
  return kNames[failed];
}

std::string_view name(SessionEnd end) {
  return end == SessionEnd::cut ? "cut" : "unmount";
}

std::string IoErrorCell::key() const {
  const std::string_view times = failed == FailedRequest::none ? "never"
                                 : lasting                     ? "lasting"
                                                               : "once";
  return fmt::format("{}/{}/{}/{}", filesystem, name(failed), times, name(end));
}

std::string IoErrorCell::adapter() const {
  return filesystem.substr(0, filesystem.find('+'));
}

std::string IoErrorCell::mount_option() const {
  const std::size_t plus = filesystem.find('+');
  return plus == std::string::npos ? std::string() : filesystem.substr(plus + 1);
}

std::optional<IoErrorsCampaign> parse_io_errors_campaign(std::string_view name) {
  if (!name.starts_with(kIoErrorsName)) return {};
  name.remove_prefix(kIoErrorsName.size());
  if (!name.empty() && name.front() != '/') return {};
  IoErrorsCampaign campaign;
  if (name.empty()) return campaign;
  name.remove_prefix(1);
  const std::size_t slash = std::min(name.find('/'), name.size());
  if (name.substr(0, slash) != kAllFilesystems) campaign.filesystem = name.substr(0, slash);
  if (slash < name.size()) campaign.failed = name.substr(slash + 1);
  return campaign;
}

CampaignSummary io_errors_campaign_summary() {
  const auto cells = io_error_cells({});
  return {.name = std::string(kIoErrorsName),
          .title =
              "A survey of the errors that file systems report, and the data that they keep, "
              "when writes and flushes fail",
          .takes = "half an hour",
          .trials = cells ? cells->size() : 0};
}

Result<std::vector<IoErrorCell>> io_error_cells(const IoErrorsCampaign& campaign,
                                                const run::Shard& shard) {
  std::vector<IoErrorCell> cells;
  std::size_t number = 0;
  for (const TestedFileSystem& subject : kSubjects) {
    if (!campaign.filesystem.empty() && campaign.filesystem != subject.filesystem) continue;
    for (const FailedRequest failed : kFailedRequests) {
      if (!has(subject, failed) || (!campaign.failed.empty() && campaign.failed != name(failed)))
        continue;
      for (const bool lasting : {false, true}) {
        if (lasting && failed == FailedRequest::none) continue;
        for (const SessionEnd end : {SessionEnd::cut, SessionEnd::unmount})
          if (number++ % shard.count == shard.index)
            cells.push_back({std::string(subject.filesystem), failed, lasting, end});
      }
    }
  }
  if (number > 0) return cells;
  std::string subjects, failures;
  for (const TestedFileSystem& subject : kSubjects)
    subjects += fmt::format("{}{}", subjects.empty() ? "" : ", ", subject.filesystem);
  for (const FailedRequest failed : kFailedRequests)
    failures += fmt::format("{}{}", failures.empty() ? "" : ", ", name(failed));
  return fail(
      fmt::format("{}/{}/{}", kIoErrorsName,
                  campaign.filesystem.empty() ? kAllFilesystems : campaign.filesystem,
                  campaign.failed),
      "there is no such cell",
      fmt::format("known file systems: {}; known failing requests: {}", subjects, failures));
}

}  // namespace headcrash::campaign
