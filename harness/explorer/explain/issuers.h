#pragma once
// The functions and threads in the guest that issued the requests of a recording, and those that
// dirtied the written blocks.
//
// `explore --stacks` and `check --stacks` store them in NAME.issuers.txt next to the recording:
//
//   #issuers 1
//   stack 0
//     submit_bio+0x7e/0x90
//     jbd2_journal_commit_transaction+0x1174/0x1f90 [jbd2]
//   issued 0 17 0 jbd2/vda-8        device, request, stack, task
//   dirtied 0 17 1 headcrash-agent
//
// A request can have several issuers, because the kernel merges adjacent writes. Device
// numbers are those of the recording.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/device.h"

namespace headcrash::explorer {

/// A thread of the guest, and its stack at the time when it issued a request or dirtied a block.
struct Issuer {
  std::string task;  ///< name of the thread
  /// The functions on the stack, innermost first, with offsets and, if known, source lines:
  /// "sync_bdevs+0x10/0x90 (bdev.c:412)".
  std::vector<std::string> stack;
  bool operator==(const Issuer&) const = default;
};

struct IssuersOfRequest {
  std::vector<Issuer> issued;   ///< without duplicates, in order
  std::vector<Issuer> dirtied;  ///< the last known issuer of each dirtied block
};

class Issuers {
 public:
  /// Returns the issuers of a request; null if they are unknown.
  const IssuersOfRequest* find(model::DeviceId device, model::RequestId request) const;
  void add_issued(model::DeviceId device, model::RequestId request, const Issuer& issuer);
  void add_dirtied(model::DeviceId device, model::RequestId request, const Issuer& issuer);
  /// Returns all frames of all stacks.
  std::set<std::string> frames() const;
  /// Appends the source lines of functions to the frames. `lines` maps a frame to its line.
  void add_source_lines(const std::map<std::string, std::string>& lines);
  /// Number of requests that have an issuer.
  std::size_t size() const { return of_.size(); }

  std::string text() const;
  /// Parses the text that text() has returned. Errors name `file` and the line.
  static Result<Issuers> parse(std::string_view text, const std::string& file);
  /// Reads the file that has the issuers of a recording. Returns no issuers if the file does not
  /// exist.
  static Result<Issuers> read(const std::filesystem::path& recording);

 private:
  std::map<std::pair<model::DeviceId, model::RequestId>, IssuersOfRequest> of_;
};

std::filesystem::path issuers_file(const std::filesystem::path& recording);

/// Returns the function that explains a request, without its offset: the innermost function that
/// does not belong to the block layer, the page cache or the tracer. Returns an empty string if
/// there is no stack.
std::string telling_function(const Issuer& issuer);

/// Returns "FUNCTION from TASK" for at most three issuers, without duplicates.
std::string issuers_text(std::span<const Issuer> issuers);

/// Returns the functions of a stack, without offsets but with source lines, joined by " < ". The
/// first one is telling_function(); the last one is the system call or the thread's function.
std::string stack_text(const Issuer& issuer);

}  // namespace headcrash::explorer
