// fio --parse-only (fio_job.h).
#include "harness/bench/fio_job.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>

#include "plugin/base/descriptor.h"
#include "plugin/base/process.h"

namespace headcrash::bench {
namespace {

constexpr std::chrono::seconds kLimit{10};

std::string first_line(std::FILE* file) {
  std::array<char, 4096> buffer{};
  std::rewind(file);
  const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file);
  std::stringstream lines(std::string(buffer.data(), got));
  std::string line;
  std::getline(lines, line);
  constexpr std::string_view kFrom = "fio: ";
  return line.starts_with(kFrom) ? line.substr(kFrom.size()) : line;
}

}  // namespace

Result<void> check_fio_job(const std::string& job, const std::string& subject) {
  const base::Descriptor text(::memfd_create("fio-job", MFD_CLOEXEC));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(std::tmpfile(), std::fclose);
  if (!text.is_open() || !errors) return {};
  if (::write(text.get(), job.data(), job.size()) != static_cast<ssize_t>(job.size())) return {};
  const auto fio = base::Process::start(
      {.argv = {"fio", "--parse-only", fmt::format("/proc/self/fd/{}", base::kFirstInherited)},
       .errors = ::fileno(errors.get()),
       .inherit = {text.get()}});
  if (!fio) return {};
  const auto status = fio->wait(kLimit);
  if (!status || *status == 0) return {};
  return fail(subject, "fio rejects it: " + first_line(errors.get()), "`man fio` has the keys of a job");
}

}  // namespace headcrash::bench
