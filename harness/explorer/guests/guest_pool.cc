// Starts the state server and its guests (guest_pool.h).
#include "harness/explorer/guests/guest_pool.h"

#include <fmt/format.h>

namespace headcrash::explorer {

Result<std::unique_ptr<GuestPool>> GuestPool::start(std::size_t guests,
                                                    const StageGuestOptions& options) {
  TRY(auto made, base::ScratchFolder::make());
  std::unique_ptr<GuestPool> pool(new GuestPool(std::move(made)));
  TRY(auto server, device::StateServer::start(guests, pool->scratch(),
                                              options.accelerator == vm::Accelerator::user_mode));
  pool->server_ = std::move(server);
  for (std::size_t i = 0; i < guests; ++i) {
    const std::filesystem::path scratch = pool->scratch() / fmt::format("guest-{}", i);
    std::error_code error;
    std::filesystem::create_directories(scratch, error);
    if (error) return fail(scratch.string(), error.message(), "make the temporary folder writable");
    TRY(auto guest, StageGuest::start(*pool->server_, i, options, scratch));
    pool->guests_.push_back(std::move(guest));
  }
  return pool;
}

GuestPool::~GuestPool() {
  guests_.clear();
}

std::vector<StageGuest*> GuestPool::guests() const {
  std::vector<StageGuest*> list;
  list.reserve(guests_.size());
  for (const auto& guest : guests_) list.push_back(guest.get());
  return list;
}

}  // namespace headcrash::explorer
