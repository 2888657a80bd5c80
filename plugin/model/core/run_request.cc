#include "plugin/model/core/run_request.h"

#include <memory>

namespace headcrash::model {
namespace {

/// An initiator on the heap. If the device has not answered when the function returns, the
/// initiator is abandoned and deletes itself when the answer arrives.
class Answer final : public Initiator {
 public:
  void completed(const Completion& completion) override {
    status = completion.status;
    if (abandoned) delete this;
  }
  std::optional<Status> status;
  bool abandoned = false;
};

}  // namespace

std::optional<Status> run_request(Machine& machine, std::size_t device_index,
                                  const Request& request) {
  auto answer = std::make_unique<Answer>();
  machine.submit(device_index, request, *answer);
  while (!answer->status && machine.simulation().run_next()) {
  }
  if (answer->status) return answer->status;
  answer.release()->abandoned = true;
  return std::nullopt;
}

}  // namespace headcrash::model
