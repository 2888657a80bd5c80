#pragma once
// The hardware between a guest and the media of a crash state. Without hardware, the guest uses the
// medium directly. An array first recovers, as it would at power-on.
//
//   hd0.0 hd0.1 ...  as the cut left them --> power on (faults) --> hd0: the guest's disk
//
// A recording made with an array has MEDIA events of every member, and its states have the base
// `physical` or `member`.

#include <string>
#include <vector>

namespace headcrash::explorer {

struct StageMachine {
  /// Name or path of a stack profile (plugin/profiles/stack.h); empty to use the medium directly.
  std::string profile;
  /// Faults to inject when the workload starts (plugin/model/faults/faults.h).
  std::vector<std::string> faults;
  std::vector<std::string> faults_after_cut;  ///< further faults to inject when the power returns
  bool operator==(const StageMachine&) const = default;

  bool is_array() const { return !profile.empty(); }
  /// Returns the profile's name, or "stage" if there is no machine. For a profile given by path,
  /// returns the file name without its extension.
  std::string name() const;
  std::vector<std::string> faults_in_recovery() const;
  /// Returns the options that select this machine for `explore` and `replay`, each preceded by a
  /// blank.
  std::string as_options() const;
};

}  // namespace headcrash::explorer
