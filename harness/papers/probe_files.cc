// Creates files for probes (probe_files.h).
#include "harness/papers/probe_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace headcrash::experiment {
namespace {

std::string folder(std::uint64_t number) {
  return fmt::format("d{}", number);
}

}  // namespace

VfsResult<void> make_file(Vfs& vfs, const std::string& path, std::uint64_t number,
                          std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = 64 << 10;
  const std::vector<std::byte> data(std::min(bytes, kUnit), static_cast<std::byte>(number));
  TRY(const auto file, vfs.open(path, {.create = true, .exclusive = true}));
  VfsResult<void> written;
  for (std::uint64_t at = 0; written && at < bytes; at += kUnit)
    written = vfs.pwrite(file, at, std::span(data).first(std::min(kUnit, bytes - at)));
  const auto closed = vfs.close(file);
  return written ? closed : written;
}

VfsResult<void> FileSet::make_folders(Vfs& vfs) const {
  VfsResult<void> made;
  for (std::uint64_t i = 0; made && i < folders(); ++i) made = vfs.mkdir(folder(i), 0755);
  return made;
}

VfsResult<void> FileSet::make_files(Vfs& vfs) const {
  VfsResult<void> made;
  for (std::uint64_t i = 0; made && i < files; ++i)
    made = make_file(vfs, fmt::format("{}/f{}", folder(i / files_per_folder), i), i, file_bytes);
  return made;
}

VfsResult<bool> FileSet::complete(Vfs& vfs) const {
  for (std::uint64_t i = 0; i < files; ++i) {
    const auto status = vfs.stat(fmt::format("{}/f{}", folder(i / files_per_folder), i));
    if (!status || status->size_bytes != file_bytes) return false;
  }
  return true;
}

}  // namespace headcrash::experiment
