#include "harness/cli/command.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace headcrash::cli {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  if (g_interrupted.exchange(true)) ::_exit(kInterrupted);
}

}  // namespace

int report_error(const Error& error, bool as_json) {
  if (as_json) {
    print({{"error", {{"subject", error.subject}, {"problem", error.problem}, {"remedy", error.remedy}}}});
  } else {
    fmt::print(stderr, "headcrash: {}\n", error.message());
  }
  return kUsage;
}

void print(const nlohmann::json& value) {
  std::cout << value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

const std::atomic<bool>& interrupted() {
  return g_interrupted;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

}  // namespace headcrash::cli
