#pragma once
// The hardware between a guest and the media of a crash state. Without hardware, the guest uses the
// medium directly. An array first recovers as it would at power-on.
//
//   hd0.0 hd0.1 ...  as the cut left them --> power on (faults) --> hd0: seen by the guest
//
// A recording made on it has MEDIA events of every member, and its states are `physical` and
// `member`.

#include <string>
#include <vector>

namespace headcrash::explorer {

struct StageMachine {
  std::string profile;  ///< stack (plugin/profiles/stack.h); empty to use the medium directly
  /// Faults injected when the workload starts (plugin/model/faults/faults.h).
  std::vector<std::string> faults;
  std::vector<std::string> faults_after_cut;  ///< additional faults injected when the power returns
  bool operator==(const StageMachine&) const = default;

  bool is_array() const { return !profile.empty(); }
  /// Returns "stage", or the profile's name. For a profile given by path, returns the file's stem.
  std::string name() const;
  std::vector<std::string> faults_in_recovery() const;
  /// Returns the options for `explore` and `replay`. Each option follows a blank.
  std::string as_options() const;
};

}  // namespace headcrash::explorer
