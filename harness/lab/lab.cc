// Starts server and guests (lab.h).
#include "harness/lab/lab.h"

#include <fmt/format.h>

namespace headcrash::lab {

Result<std::unique_ptr<Lab>> Lab::start(const LabOptions& options) {
  std::unique_ptr<Lab> lab(new Lab);
  auto server = device::StateServer::start(options.guests, options.scratch);
  if (!server) return pass_on(server);
  lab->server_ = std::move(*server);
  for (std::size_t i = 0; i < options.guests; ++i) {
    const std::filesystem::path scratch = options.scratch / fmt::format("guest-{}", i);
    std::error_code error;
    std::filesystem::create_directories(scratch, error);
    if (error) return fail(scratch.string(), error.message(), "make the temporary folder writable");
    auto guest = StageGuest::start(*lab->server_, i,
                                   {.image = options.image,
                                    .accelerator = options.accelerator,
                                    .memory_mib = options.memory_mib,
                                    .disk_bytes = options.disk_bytes,
                                    .cache = options.cache,
                                    .scratch = scratch,
                                    .step_timeout = options.step_timeout});
    if (!guest) return pass_on(guest);
    lab->guests_.push_back(std::move(*guest));
  }
  return lab;
}

Lab::~Lab() {
  guests_.clear();
}

std::vector<StageGuest*> Lab::guests() const {
  std::vector<StageGuest*> list;
  for (const auto& guest : guests_) list.push_back(guest.get());
  return list;
}

}  // namespace headcrash::lab
