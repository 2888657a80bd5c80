#pragma once
// The hardware above the media of crash states: none (a stage is the medium itself), or an array,
// which first recovers as at power-on.
//
//   hd0.0 hd0.1 ...  as the cut left them --> power on (faults) --> hd0: seen by the guest
//
// A recording made on it has MEDIA events of every member, and its states are `physical` and
// `member`.

#include <string>
#include <vector>

namespace headcrash::explorer {

struct StageMachine {
  std::string profile;              ///< stack (plugin/profiles/stack.h); empty for the bare medium
  std::vector<std::string> faults;  ///< from the workload on (plugin/model/faults/faults.h)
  std::vector<std::string> faults_after_cut;  ///< additional faults when the power returns
  bool operator==(const StageMachine&) const = default;

  bool is_array() const { return !profile.empty(); }
  std::string name() const;  ///< Returns "stage", or the profile's name; the stem if it is a path.
  std::vector<std::string> faults_in_recovery() const;
  /// Returns the options for `explore` and `replay`, each preceded by a blank.
  std::string as_options() const;
};

}  // namespace headcrash::explorer
