// Guests for a command (lab_command.h).
#include "harness/cli/lab_command.h"

#include "harness/campaign/campaign.h"

namespace headcrash::cli {

Result<std::unique_ptr<lab::Lab>> start_lab(const adapters::LinuxAdapter& filesystem,
                                            std::uint64_t disk_bytes, std::size_t guests) {
  const std::filesystem::path cache = campaign::default_cache();
  const auto image = vm::guest_image(cache, filesystem.guest);
  if (!image) return pass_on(image);
  return lab::Lab::start(guests, {.image = *image,
                                  .accelerator = vm::probe_accelerator(cache).accelerator,
                                  .disk_bytes = disk_bytes,
                                  .cache = cache});
}

nlohmann::json findings_as_json(const std::vector<crash::Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const crash::Finding& finding : findings) {
    list.push_back({{"kind", crash::name(finding.kind)},
                    {"tier", crash::name(finding.tier)},
                    {"path", finding.path},
                    {"expected", finding.expected},
                    {"found", finding.found}});
  }
  return list;
}

}  // namespace headcrash::cli
