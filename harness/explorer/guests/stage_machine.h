#pragma once
// The hardware that the media of crash states are put under: nothing (a stage is the medium
// itself), or an array, which recovers first, as at power-on.
//
//   hd0.0 hd0.1 ...  as the cut left them --> power on (faults) --> hd0: what the guest sees
//
// A recording made on it has MEDIA events of every member, and its states are `physical` and
// `member`.

#include <string>
#include <vector>

namespace headcrash::explorer {

struct StageMachine {
  std::string profile;  ///< of a stack (plugin/profiles/stack.h); empty: the medium itself
  std::vector<std::string> faults;  ///< from the workload on (plugin/model/faults/faults.h)
  std::vector<std::string> faults_after_cut;  ///< besides, when the power returns
  bool operator==(const StageMachine&) const = default;

  bool is_array() const { return !profile.empty(); }
  std::string name() const;  ///< "stage", or the profile's: of a path the stem
  std::vector<std::string> faults_in_recovery() const;
  /// As `explore` and `replay` take them, each with a blank in front.
  std::string as_options() const;
};

}  // namespace headcrash::explorer
