// Packs with tar and sqfstar (program_image.h).
#include "harness/check/program_image.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "plugin/base/command_text.h"
#include "plugin/base/process.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/text_file.h"

namespace headcrash::check {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPackLimit{5};
constexpr std::size_t kLinksMost = 40;  // maximum number of links in one path lookup, as in Linux
/// Runs a shell command. If the command fails, the error contains the end of its output.
Result<void> run_shell(const std::string& line) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::tmpfile(), std::fclose);
  if (!output)
    return fail("temporary file", "cannot be created", "set TMPDIR to a folder with free space");
  TRY(auto process, base::Process::start({.argv = {"bash", "-o", "pipefail", "-c", line},
                                          .output = ::fileno(output.get()),
                                          .errors = ::fileno(output.get())}));
  const auto status = process.wait(kPackLimit);
  if (status == 0) return {};
  std::string said;
  std::array<char, 4096> bytes{};
  std::rewind(output.get());
  for (std::size_t got; (got = std::fread(bytes.data(), 1, bytes.size(), output.get())) > 0;)
    said.append(bytes.data(), got);
  return fail(
      "the program's files",
      status ? "cannot be packed: " + base::last_line(said) : std::string("packing timed out"),
      "install squashfs-tools and tar, and set TMPDIR to a folder with free space");
}

std::string sqfstar(const fs::path& image) {
  return fmt::format(
      "sqfstar -quiet -no-progress -comp lz4 -all-root -root-time 0 -root-mode 755 "
      "-mkfs-time 0 -force {}",
      base::shell_quoted(image.string()));
}

}  // namespace

std::set<fs::path> with_lookups(const std::set<fs::path>& paths) {
  std::set<fs::path> all;
  for (const fs::path& path : paths) {
    const fs::path relative = path.relative_path();
    std::deque<fs::path> left(relative.begin(), relative.end());
    fs::path at = "/";
    std::size_t links = 0;
    while (!left.empty()) {
      const fs::path name = left.front();
      left.pop_front();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        at = at.parent_path();
        continue;
      }
      std::error_code error;
      const fs::path here = at / name;
      const auto status = fs::symlink_status(here, error);
      if (!fs::exists(status)) break;
      all.insert(here);
      if (!fs::is_symlink(status)) {
        at = here;
        continue;
      }
      const fs::path target = fs::read_symlink(here, error);
      if (error || ++links > kLinksMost) break;
      if (target.is_absolute()) at = "/";
      const fs::path rest = target.relative_path();
      left.insert(left.begin(), rest.begin(), rest.end());
    }
  }
  return all;
}

Result<void> pack_paths(const std::set<fs::path>& paths, const fs::path& image) {
  TRY(const auto scratch, base::ScratchFolder::make());
  std::string list;
  for (const fs::path& path : with_lookups(paths)) {
    std::error_code error;
    const auto status = fs::symlink_status(path, error);
    // Skips sockets, pipes and devices of the host. The program does not need them.
    if (!fs::is_regular_file(status) && !fs::is_directory(status) && !fs::is_symlink(status))
      continue;
    list += path.relative_path().string();
    list += '\0';
  }
  const fs::path names = scratch.path() / "names";
  TRY(base::write_text_file(names.string(), list));
  return run_shell(fmt::format(
      "tar -c -C / --no-recursion --null --verbatim-files-from --files-from {} --mtime=@0 "
      "--owner=0 --group=0 --numeric-owner | {}",
      base::shell_quoted(names.string()), sqfstar(image)));
}

Result<void> pack_rootfs(const fs::path& rootfs, const fs::path& image) {
  std::error_code error;
  const auto status = fs::status(rootfs, error);
  if (fs::is_directory(status))
    return run_shell(fmt::format("tar -c -C {} --numeric-owner . | {}",
                                 base::shell_quoted(rootfs.string()), sqfstar(image)));
  if (!fs::is_regular_file(status))
    return fail(rootfs.string(), "is neither a folder nor a tar archive",
                "set --rootfs to a folder or tar archive that contains a root file system");
  // Detects the compression by the first bytes of the file, because its name may have any
  // extension.
  return run_shell(
      fmt::format("case $(head -c 6 {0} | od -An -tx1 | tr -d ' ') in "
                  "1f8b*) gzip -dc {0} ;; fd377a585a00) xz -dc {0} ;; "
                  "28b52ffd*) zstd -dc {0} ;; *) cat {0} ;; esac | {1}",
                  base::shell_quoted(rootfs.string()), sqfstar(image)));
}

}  // namespace headcrash::check
