// Describes a failure as text (failure_text.h). The sections are in the order in which a reader
// would ask for them.
#include "harness/explorer/explain/failure_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/explorer/explain/lost_writes.h"
#include "harness/explorer/guests/array_cut.h"

namespace headcrash::explorer {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kWritesShown = 40;
constexpr std::size_t kOperationsShown = 200;
constexpr std::size_t kFindingsShown = 20;
constexpr std::size_t kLogLinesShown = 40,
                      // A limit is needed because e2fsck prints all bits of a bitmap on one line.
    kLogLineMost = 400;
constexpr std::size_t kMemberWritesShown = 12;

std::string ms(model::TimeNs time) {
  return fmt::format("{:.3f} ms", static_cast<double>(time) / 1e6);
}

/// Wraps the text at blanks. The first line begins with `head`; further lines are indented by the
/// length of `head`.
std::string wrapped(const std::string& head, const std::string& text) {
  const std::string margin(head.size(), ' ');
  std::string out, line = head;
  bool first_word = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!first_word && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = margin + word;
    } else {
      line += (first_word ? "" : " ") + word;
    }
    first_word = false;
    at = end + 1;
  }
  return out + line + "\n";
}

class FailureText {
 public:
  FailureText(const DescribedFailure& of, LostWrites lost) : of_(of), lost_(std::move(lost)) {}
  FailureText(const DescribedFailure& of, ArrayCut cut) : of_(of), array_(std::move(cut)) {}

  std::string text() {
    title();
    operations();
    if (array_) {
      members();
    } else {
      lost_writes();
    }
    findings();
    recovery();
    replay();
    return std::move(text_);
  }

 private:
  void section(const std::string& heading) {
    text_ += "\n" + heading + "\n" + std::string(heading.size(), '-') + "\n";
  }
  void title() {
    const std::string line = fmt::format("{}: {}", of_.filesystem->name, format(of_.kind));
    text_ = line + "\n" + std::string(line.size(), '=') + "\n";
    text_ += wrapped("", of_.outcome->judgement.summary);
    text_ += fmt::format("\nfile system  {}\n", of_.filesystem->title);
    if (!of_.filesystem->mount_options.empty())
      text_ += fmt::format("mounted with {}\n", of_.filesystem->mount_options);
    text_ += fmt::format("made by      {}\n", fmt::join(of_.filesystem->mkfs.argv, " "));
    if (array_)
      text_ += fmt::format("on array     {}\n", of_.run->header().devices.front().profile);
    text_ += wrapped("crash state  ", fmt::format("{} of {}", states::format(of_.state),
                                                  of_.workload->recording.filename().string()));
    for (const std::string& note : of_.notes) text_ += wrapped("- ", note);
  }

  /// Lists the operations and the power cut. The first persistence point that was not reported is
  /// the last operation that may have begun, so the cut is shown after this operation.
  void operations() {
    if (of_.workload->application) return application(*of_.workload->application);
    section("Operations");
    text_ +=
        "  P: promises persistence    *: the last operation that is known to have succeeded "
        "before the cut\n\n";
    const auto& list = of_.workload->operations;
    const auto& persisted = of_.outcome->persisted_operation;
    std::size_t reached = list.empty() ? 0 : list.size() - 1;
    for (std::size_t i = persisted ? *persisted + 1 : 0; i < list.size(); ++i) {
      if (!workload::is_persistence_point(list[i])) continue;
      reached = i;
      break;
    }
    // In a long list, show only the operations shortly before the cut.
    const std::size_t first = reached > kOperationsShown ? reached - kOperationsShown : 0;
    if (first > 0) text_ += fmt::format("        ({} operations before)\n", first);
    for (std::size_t i = first; i < list.size() && i <= reached; ++i) {
      const bool point = workload::is_persistence_point(list[i]);
      text_ += fmt::format("  {:>4} {}{} {}{}\n", i, point ? 'P' : ' ', persisted == i ? '*' : ' ',
                           workload::format(list[i]), failed(i));
      if (persisted == i && i < reached)
        text_ += "          -- the power may have been cut at any later point\n";
    }
    text_ += "          == power cut\n";
    if (reached + 1 < list.size())
      text_ += fmt::format("        ({} operations that cannot have begun)\n",
                           list.size() - reached - 1);
  }
  void application(const workload::Application& program) {
    section("Application");
    text_ += wrapped("  ", fmt::format("{}: {}", program.name, program.title));
    for (const workload::Command& command : program.run)
      text_ += wrapped("  run       ", fmt::format("{}", fmt::join(command.words, " ")));
    const auto& reported = of_.outcome->persisted_texts;
    text_ +=
        wrapped("  ", reported.empty()
                          ? "reported persistent before the cut: nothing"
                          : fmt::format("reported persistent before the cut: {}, the last \"{}\"",
                                        reported.size(), reported.back()));
  }
  std::string failed(std::size_t operation) const {
    for (const workload::FailedOperation& each : of_.workload->failed_operations) {
      if (each.operation != operation) continue;
      return each.outcome == workload::Outcome::skipped ? "    (not supported: skipped)"
                                                        : "    (no space: partly executed)";
    }
    return "";
  }

  /// Describes the members of an array. A crash state of an array consists of the contents of its
  /// members.
  void members() {
    section("Power cut and members");
    text_ += wrapped("  ", cut_sentence(array_->cut_at));
    for (const states::RecordedWrite& write : array_->under_way) {
      text_ += wrapped("  ", fmt::format("Request {} ({} sectors from LBA {}) was in flight in the "
                                         "array.",
                                         write.request, write.sectors, write.lba));
    }
    if (!array_->lost.empty())
      text_ += "\n  Not executed, because the member had stopped before the others:\n";
    for (const MemberWrite& write : array_->lost) member_write(write);
    if (!array_->done.empty()) text_ += "\n  Last operations of the members:\n";
    for (const MemberWrite& write : array_->done) member_write(write);
    if (!of_.faults.empty())
      text_ +=
          wrapped("\n  ", fmt::format("When the power returned: {}", fmt::join(of_.faults, ", ")));
  }
  void member_write(const MemberWrite& write) {
    text_ += fmt::format("  {:>10} {:>12} {:>6} sectors from LBA {}\n", write.member, ms(write.at),
                         write.sectors, write.lba);
  }

  void lost_writes() {
    section("Power cut and lost writes");
    text_ += wrapped("  ", cut_sentence(lost_.cut_at));
    if (of_.state.lies_from)
      text_ += fmt::format("  lying drive: flushes ignored: {}, starting at request {}\n",
                           lost_.flushes_ignored, *of_.state.lies_from);
    text_ += fmt::format("  unflushed writes {}; lost or torn {}\n", lost_.unflushed,
                         lost_.writes.size());
    if (!lost_.last_flush.empty())
      text_ += wrapped("  ", "last flush issued by " + issuers_text(lost_.last_flush));
    if (lost_.writes.empty()) return;
    text_ += "\n   request         LBA  sectors     submitted  acknowledged\n";
    for (std::size_t i = 0; i < lost_.writes.size() && i < kWritesShown; ++i)
      lost_write(lost_.writes[i]);
    if (lost_.writes.size() > kWritesShown)
      text_ += fmt::format("    and {} more\n", lost_.writes.size() - kWritesShown);
  }
  std::string cut_sentence(model::TimeNs cut_at) const {
    std::string sentence = fmt::format("After event {} of the recording, {} after its start",
                                       of_.state.event, ms(cut_at));
    if (const auto* mark = last_mark(of_.state.event)) {
      sentence += fmt::format(", {} after the mark \"{}\"", ms(cut_at - mark->at), mark->text);
    }
    return sentence + ".";
  }
  void lost_write(const LostWrite& lost) {
    text_ += fmt::format("  {:>8} {:>11} {:>8} {:>13}  {:>12}\n", lost.write.request,
                         lost.write.lba, lost.write.sectors, ms(lost.submitted_at),
                         lost.acked_at ? ms(*lost.acked_at) : "never");
    std::string what =
        lost.disk.empty() ? lost.what : fmt::format("on {}: {}", lost.disk, lost.what);
    if (lost.torn) {
      what += fmt::format(" (torn: only sectors {} to {} are on the medium)", lost.torn->first,
                          lost.torn->first + lost.torn->count - 1);
    }
    if (lost.write.fua) what += " (FUA)";
    text_ += wrapped(std::string(11, ' '), what);
    issuers("issued by ", lost.issuers.issued);
    issuers("dirtied by ", lost.issuers.dirtied);
    if (const auto* mark = last_mark(lost.write.submitted_event))
      text_ += fmt::format("           submitted after the mark \"{}\"\n", mark->text);
    if (const std::string how = returned_early(lost.write); !how.empty())
      text_ += wrapped(std::string(11, ' '), how);
  }
  /// Describes what the last operation that promises persistence, and that returned before the cut,
  /// did not wait for. Returns an empty string if it began before the write, or if the drive ignores
  /// flushes.
  std::string returned_early(const states::RecordedWrite& write) const {
    const auto& operation = of_.outcome->persisted_operation;
    const auto* mark = last_mark(of_.state.event);
    if (of_.state.lies_from || !operation || *operation >= of_.workload->operations.size() ||
        mark == nullptr || write.submitted_event > mark->event)
      return {};
    const bool acknowledged = write.acked_event && *write.acked_event < mark->event;
    return fmt::format(
        "operation {} ({}) returned {}", *operation,
        workload::format(of_.workload->operations[*operation]),
        acknowledged ? "without a flush of this write" : "before this write was acknowledged");
  }
  /// Names the issuers. Shows each stack only once.
  void issuers(const std::string& how, const std::vector<Issuer>& issuers) {
    if (issuers.empty()) return;
    text_ += wrapped(std::string(11, ' '), how + issuers_text(issuers));
    const std::string stack = stack_text(issuers.front());
    if (!stack.empty() && stacks_shown_.insert(stack).second)
      text_ += wrapped(std::string(13, ' '), stack);
  }
  const states::RecordedMark* last_mark(std::uint64_t before_event) const {
    const states::RecordedMark* last = nullptr;
    for (const states::RecordedMark& mark : of_.run->marks()) {
      if (mark.event < before_event) last = &mark;
    }
    return last;
  }

  void findings() {
    section("Expected and found");
    if (of_.outcome->findings.empty()) text_ += wrapped("  ", of_.outcome->judgement.summary);
    for (std::size_t i = 0; i < of_.outcome->findings.size() && i < kFindingsShown; ++i) {
      const oracle::Finding& finding = of_.outcome->findings[i];
      text_ += fmt::format("  {}    {}, tier {}{}\n", finding.path, oracle::name(finding.kind),
                           oracle::name(finding.tier), named_files(finding));
      text_ += wrapped("    expected  ", finding.expected);
      text_ += wrapped("    found     ", finding.found);
    }
    if (of_.outcome->findings.size() > kFindingsShown)
      text_ += fmt::format("  and {} more\n", of_.outcome->findings.size() - kFindingsShown);
  }
  /// Adds the names of the files to a finding, because stamps contain only file numbers.
  std::string named_files(const oracle::Finding& finding) const {
    for (const workload::Operation& operation : of_.workload->operations) {
      if (workload::is_write(operation.kind) && operation.path == finding.path)
        return fmt::format(" (file {})", operation.file);
    }
    return "";
  }

  static std::string shortened(const std::string& line) {
    if (line.size() <= kLogLineMost) return line;
    return fmt::format("{} ... ({} bytes more)", line.substr(0, kLogLineMost),
                       line.size() - kLogLineMost);
  }

  void recovery() {
    if (of_.outcome->log.empty()) return;
    section("Recovery");
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < of_.outcome->log.size();) {
      const std::size_t end = std::min(of_.outcome->log.find('\n', at), of_.outcome->log.size());
      lines.push_back(of_.outcome->log.substr(at, end - at));
      at = end + 1;
    }
    if (lines.size() > kLogLinesShown)
      text_ += fmt::format("  ({} lines before)\n", lines.size() - kLogLinesShown);
    for (std::size_t i = lines.size() > kLogLinesShown ? lines.size() - kLogLinesShown : 0;
         i < lines.size(); ++i)
      text_ += lines[i].empty() ? "\n" : "  " + shortened(lines[i]) + "\n";
  }

  void replay() {
    if (of_.replay.empty()) return;
    section("To reproduce");
    for (const std::string& command : of_.replay) text_ += "  " + command + "\n";
  }

  const DescribedFailure& of_;
  LostWrites lost_;
  std::optional<ArrayCut> array_;
  std::set<std::string> stacks_shown_;
  std::string text_;
};

}  // namespace

Result<std::string> failure_text(const DescribedFailure& of) {
  if (of.run->header().of_array()) {
    TRY(auto cut, array_cut(*of.run, of.state, kMemberWritesShown));
    return FailureText(of, std::move(cut)).text();
  }
  TRY(auto lost, lost_writes(*of.run, of.state, of.filesystem->type));
  return FailureText(of, std::move(lost)).text();
}

}  // namespace headcrash::explorer
