// Formats a stage's machine as text (stage_machine.h).
#include "harness/explorer/guests/stage_machine.h"

#include <filesystem>

namespace headcrash::explorer {

std::string StageMachine::name() const {
  return is_array() ? std::filesystem::path(profile).stem().string() : "stage";
}

std::vector<std::string> StageMachine::faults_in_recovery() const {
  std::vector<std::string> all = faults;
  all.insert(all.end(), faults_after_cut.begin(), faults_after_cut.end());
  return all;
}

std::string StageMachine::as_options() const {
  std::string options = is_array() ? " --machine " + profile : "";
  for (const std::string& fault : faults) options += " --fault " + fault;
  for (const std::string& fault : faults_after_cut) options += " --fault-after-cut " + fault;
  return options;
}

}  // namespace headcrash::explorer
