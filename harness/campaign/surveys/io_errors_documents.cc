// Lists the documented behaviour, with one rule per document (io_errors_documents.h).
#include "harness/campaign/surveys/io_errors_documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace headcrash::campaign {

std::string documents_of(const IoErrorCell& cell, std::string_view type, const IoErrorOutcome& o) {
  std::vector<std::string> places;
  const bool data =
      cell.failed == FailedRequest::data_overwrite || cell.failed == FailedRequest::data_append;
  const bool metadata = cell.failed == FailedRequest::metadata;
  const bool success_after_error =
      o.first_fsync > 0 &&
      (o.second_fsync == 0 || o.reopened_fsync == 0 || o.fsync_after_sync == 0);
  if (success_after_error) {
    places.emplace_back(
        "Linux, Documentation/filesystems/vfs.rst, \"Handling errors during writeback\": an error is "
        "reported "
        "once to each open file, and later calls succeed unless more errors come; PostgreSQL, "
        "data_sync_retry: "
        "a second attempt may report success although the data are lost");
  }
  const bool stays_writable = o.state == MountState::read_write;
  if (type == "ext4" && data && stays_writable && cell.mount_option().empty())
    places.emplace_back("ext4(5), data_err=ignore (default): an error of file data ends nothing");
  if (type == "ext4" && data && !stays_writable && cell.mount_option() == "data_err=abort")
    places.emplace_back(
        "ext4(5), data_err=abort: an error of file data in ordered mode aborts the journal");
  if (type == "xfs" && metadata && cell.lasting)
    places.emplace_back(
        "Linux, Documentation/admin-guide/xfs.rst, \"Error handling\": metadata writes are tried again as "
        "often as "
        "error/metadata/EIO/max_retries says, and given up at unmount (fail_at_unmount)");
  return fmt::format("{}", fmt::join(places, "; "));
}

}  // namespace headcrash::campaign
