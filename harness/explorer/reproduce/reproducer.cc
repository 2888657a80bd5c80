// Writes the image and both scripts (reproducer.h). A script begins with variables that describe
// the failure; the rest of it is constant.
#include "harness/explorer/reproduce/reproducer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "harness/explorer/guests/sparse_file.h"
#include "harness/explorer/reproduce/plain_checks.h"
#include "harness/explorer/reproduce/script_parts.h"
#include "harness/explorer/reproduce/workload_script.h"
#include "plugin/base/descriptor.h"
#include "plugin/base/process.h"
#include "plugin/base/text_file.h"

namespace headcrash::explorer {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kConvertLimit{10};

Result<void> convert_to_qcow2(const fs::path& raw, const fs::path& qcow2) {
  TRY(auto process, base::Process::start({.argv = {"qemu-img", "convert", "-f", "raw", "-O",
                                                   "qcow2", raw.string(), qcow2.string()},
                                          .errors = STDERR_FILENO}));
  const auto status = process.wait(kConvertLimit);
  if (!status || *status != 0)
    return fail(qcow2.string(), "qemu-img cannot create it", "choose the raw format");
  std::error_code error;
  fs::remove(raw, error);
  return {};
}

/// Creates a directory for the unfinished result. The directory is named TARGET.partial, followed
/// by a number if this name is taken.
Result<fs::path> make_folder_beside(const fs::path& target) {
  std::error_code error;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  for (int number = 1; !error; ++number) {
    fs::path partial = target;
    partial += number == 1 ? ".partial" : fmt::format(".partial-{}", number);
    if (fs::create_directory(partial, error)) return partial;
  }
  return fail(target.string(), error.message(), "choose another folder with -o");
}

Result<Reproducer> write_into(const ReproducerOf& of, const states::StateImage& image,
                              const fs::path& folder, ImageFormat format) {
  Reproducer made{.image = folder / (format == ImageFormat::raw ? "crash.raw" : "crash.qcow2"),
                  .script = folder / "reproduce.sh",
                  .account = folder / "account.txt",
                  .workload = {},
                  .no_workload = {}};
  TRY(const auto script, reproducer_script(of, made.image.filename().string()));
  TRY(write_raw_image(image, folder / "crash.raw"));
  if (format == ImageFormat::qcow2) {
    TRY(convert_to_qcow2(folder / "crash.raw", made.image));
  }
  TRY(base::write_script(made.script.string(), script));
  if (const auto workload = workload_script(of)) {
    made.workload = folder / "workload.sh";
    TRY(base::write_script(made.workload.string(), *workload));
  } else {
    made.no_workload = workload.error().message();
  }
  TRY(base::write_text_file(made.account.string(), of.account));
  struct stat status{};
  if (::stat(made.image.c_str(), &status) == 0)
    made.image_bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
  return made;
}

}  // namespace

Result<void> can_be_reproduced(const adapters::LinuxAdapter& filesystem) {
  if (filesystem.log_size_bytes != 0)
    return fail(filesystem.name, "keeps its log on a second disk",
                "a stand-alone script supports one disk only; use `headcrash replay` instead");
  if (filesystem.stack)
    return fail(filesystem.name, "is on a stack of disks",
                "a stand-alone script supports one disk only; use `headcrash replay` instead");
  for (const auto* command : {&filesystem.replay, &filesystem.check, &filesystem.repair}) {
    for (const std::string& word : command->argv) {
      std::string left = word;
      for (std::size_t at = 0; (at = left.find(kDevicePlace)) != std::string::npos;)
        left.erase(at, kDevicePlace.size());
      if (left.find('{') != std::string::npos && left.find('}') != std::string::npos)
        return fail(filesystem.name,
                    fmt::format("its command contains the placeholder \"{}\"", word),
                    "a stand-alone script supports one disk only; use `headcrash replay` instead");
    }
  }
  if (!filesystem.mount.argv.empty())
    return fail(filesystem.name,
                "is mounted by a command, which a stand-alone script does not support",
                "use `headcrash replay` instead");
  if (filesystem.mount_options.find('{') != std::string::npos)
    return fail(filesystem.name, "uses more than one disk",
                "a stand-alone script supports one disk only; use `headcrash replay` instead");
  return {};
}

Result<std::string> reproducer_script(const ReproducerOf& of, const std::string& image_name) {
  TRY(can_be_reproduced(*of.filesystem));
  return "#!/bin/sh\n" + as_comment(of.account) + "\n" + script_head(of) +
         script_setting("image", image_name) +
         checks_function(plain_checks(of.findings, of.operations, Content::stamps)) +
         embedded_script("look.sh") + embedded_script("reproduce.sh");
}

Result<void> write_raw_image(const states::StateImage& image, const fs::path& path) {
  const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.is_open() ||
      ::ftruncate(file.get(), static_cast<off_t>(image.sectors() * model::kSectorBytes)) != 0)
    return fail(path.string(), std::strerror(errno), "free some space, or choose another folder");
  // Write the whole disk. If the disk held old data before the recording, the recipient also needs
  // the old contents of sectors that the recording does not contain.
  constexpr std::uint64_t kSectorsAtATime = 2048;
  std::vector<std::byte> piece;
  for (std::uint64_t lba = 0; lba < image.sectors(); lba += kSectorsAtATime) {
    piece.resize(std::min(kSectorsAtATime, image.sectors() - lba) * model::kSectorBytes);
    TRY(image.read(lba, piece));
    if (!write_sparse(file, lba * model::kSectorBytes, piece))
      return fail(path.string(), std::strerror(errno), "free some space, or choose another folder");
  }
  return {};
}

Result<Reproducer> write_reproducer(const ReproducerOf& of, const states::StateImage& image,
                                    const fs::path& folder, ImageFormat format) {
  std::error_code error;
  if (fs::exists(folder, error))
    return fail(folder.string(), "already exists", "remove it, or choose another folder with -o");
  const fs::path target = folder.has_filename() ? folder : folder.parent_path();
  TRY(const auto made_beside, make_folder_beside(target));
  const fs::path& partial = made_beside;
  Result<Reproducer> made = write_into(of, image, partial, format);
  if (made) fs::rename(partial, target, error);
  if (!made || error) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    if (!made) return forward_error(made);
    return fail(target.string(), error.message());
  }
  for (fs::path* path : {&made->image, &made->script, &made->account})
    *path = target / path->filename();
  if (!made->workload.empty()) made->workload = target / made->workload.filename();
  return made;
}

}  // namespace headcrash::explorer
