// Starts server and guests (lab.h).
#include "harness/explorer/guests/lab.h"

#include <fmt/format.h>

namespace headcrash::explorer {

Result<std::unique_ptr<Lab>> Lab::start(std::size_t guests, const StageGuestOptions& options) {
  TRY(auto made, base::ScratchFolder::make());
  std::unique_ptr<Lab> lab(new Lab(std::move(made)));
  TRY(auto server, device::StateServer::start(guests, lab->scratch(),
                                              options.accelerator == vm::Accelerator::user_mode));
  lab->server_ = std::move(server);
  for (std::size_t i = 0; i < guests; ++i) {
    const std::filesystem::path scratch = lab->scratch() / fmt::format("guest-{}", i);
    std::error_code error;
    std::filesystem::create_directories(scratch, error);
    if (error) return fail(scratch.string(), error.message(), "make the temporary folder writable");
    TRY(auto guest, StageGuest::start(*lab->server_, i, options, scratch));
    lab->guests_.push_back(std::move(guest));
  }
  return lab;
}

Lab::~Lab() {
  guests_.clear();
}

std::vector<StageGuest*> Lab::guests() const {
  std::vector<StageGuest*> list;
  list.reserve(guests_.size());
  for (const auto& guest : guests_) list.push_back(guest.get());
  return list;
}

}  // namespace headcrash::explorer
