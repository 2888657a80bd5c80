// The script's head says what is special about this failure, reproduce.sh does the rest (reproducer.h).
#include "harness/explorer/reproducer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include "harness/explorer/plain_checks.h"
#include "harness/explorer/sparse_file.h"
#include "headcrash_explorer_embedded.h"
#include "plugin/base/descriptor.h"
#include "plugin/base/process.h"

namespace headcrash::explorer {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kConvertLimit{10};
constexpr std::string_view kDevicePlace = "{device}";

/// A word of a command inside the script; {device} becomes the function's first argument.
std::string script_word(const std::string& word) {
  std::string text = quoted(word);
  for (std::size_t at = 0; (at = text.find(kDevicePlace, at)) != std::string::npos;)
    text.replace(at, kDevicePlace.size(), "'\"$1\"'");
  return text;
}

std::string script_command(const std::string& name, const adapters::GuestCommand& command) {
  std::string body = command.argv.empty() ? "true" : "";
  for (const std::string& word : command.argv) body += (body.empty() ? "" : " ") + script_word(word);
  const std::vector<int> good = command.argv.empty() ? std::vector<int>{0} : command.good_exits;
  return fmt::format("{0}() {{ {1}; }}\n{0}_good={2}\n", name, body,
                     quoted(fmt::format("{}", fmt::join(good, " "))));
}

std::string in_words(const adapters::GuestCommand& command) {
  return command.argv.empty() ? "(nothing)" : fmt::format("{}", fmt::join(command.argv, " "));
}

std::string as_comment(const std::string& text) {
  std::string comment;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    comment += line.empty() ? "#\n" : "# " + line + "\n";
    at = end + 1;
  }
  return comment;
}

Result<void> write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(path.string(), "cannot be written", "make room or choose another folder");
  return {};
}

Result<void> convert_to_qcow2(const fs::path& raw, const fs::path& qcow2) {
  auto process = base::Process::start(
      {.argv = {"qemu-img", "convert", "-f", "raw", "-O", "qcow2", raw.string(), qcow2.string()},
       .errors = STDERR_FILENO});
  if (!process) return pass_on(process);
  const auto status = process->wait(kConvertLimit);
  if (!status || *status != 0)
    return fail(qcow2.string(), "qemu-img could not make it", "choose the format raw");
  std::error_code error;
  fs::remove(raw, error);
  return {};
}

Result<Reproducer> write_into(const ReproducerOf& of, const states::StateImage& image, const fs::path& folder,
                              ImageFormat format) {
  Reproducer made{.image = folder / (format == ImageFormat::raw ? "crash.raw" : "crash.qcow2"),
                  .script = folder / "reproduce.sh",
                  .account = folder / "account.txt"};
  const auto script = reproducer_script(of, made.image.filename().string());
  if (!script) return pass_on(script);
  if (const auto written = write_raw_image(image, folder / "crash.raw"); !written) return pass_on(written);
  if (format == ImageFormat::qcow2) {
    if (const auto converted = convert_to_qcow2(folder / "crash.raw", made.image); !converted)
      return pass_on(converted);
  }
  if (const auto written = write_text(made.script, *script); !written) return pass_on(written);
  if (const auto written = write_text(made.account, of.account); !written) return pass_on(written);
  std::error_code error;
  fs::permissions(made.script, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, error);
  struct stat status {};
  if (::stat(made.image.c_str(), &status) == 0)
    made.image_bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
  return made;
}

}  // namespace

Result<void> can_be_reproduced(const adapters::LinuxAdapter& filesystem) {
  if (filesystem.log_size_bytes != 0)
    return fail(filesystem.name, "keeps its log on a second disk",
                "a stand-alone script supports one disk only; use `headcrash replay` instead");
  for (const auto* command : {&filesystem.replay, &filesystem.check, &filesystem.repair}) {
    for (const std::string& word : command->argv) {
      std::string left = word;
      for (std::size_t at = 0; (at = left.find(kDevicePlace)) != std::string::npos;)
        left.erase(at, kDevicePlace.size());
      if (left.find('{') != std::string::npos && left.find('}') != std::string::npos)
        return fail(filesystem.name, fmt::format("its command has the word \"{}\"", word),
                    "a stand-alone script supports one disk only; use `headcrash replay` instead");
    }
  }
  if (!filesystem.mount.argv.empty())
    return fail(filesystem.name, "is mounted by a command of its own", "use `headcrash replay` instead");
  if (filesystem.mount_options.find('{') != std::string::npos)
    return fail(filesystem.name, "lies on more than one disk",
                "a stand-alone script supports one disk only; use `headcrash replay` instead");
  return {};
}

Result<std::string> reproducer_script(const ReproducerOf& of, const std::string& image_name) {
  const adapters::LinuxAdapter& filesystem = *of.filesystem;
  if (const auto can = can_be_reproduced(filesystem); !can) return pass_on(can);
  std::string script = "#!/bin/sh\n" + as_comment(of.account) + "\n";
  const auto set = [&](const char* name, const std::string& value) {
    script += fmt::format("{}={}\n", name, quoted(value));
  };
  set("title", fmt::format("{}, crash state {}: {}", filesystem.title, of.state, of.judgement.summary));
  set("image", image_name);
  set("fstype", filesystem.type);
  set("mount_options", filesystem.mount_options);
  set("replay_by_mount", filesystem.replay_by_mount ? "yes" : "");
  set("kernel_recovers",
      !filesystem.replay_by_mount && filesystem.promises.names_are_atomic() && !filesystem.replay.argv.empty()
          ? "yes"
          : "");
  set("fsck_may_repair", filesystem.promises.names_are_atomic() ? "" : "yes");
  set("replay_words", filesystem.replay_by_mount ? "mount and unmount" : in_words(filesystem.replay));
  set("check_words", in_words(filesystem.check));
  script += script_command("replay", filesystem.replay) + script_command("check", filesystem.check) +
            script_command("repair", filesystem.repair);
  script += "checks() {\n  :\n";
  for (const std::string& line : plain_checks(of.findings, of.operations)) script += "  " + line + "\n";
  script += "}\n\n";
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == "reproduce.sh") script += file.text;
  }
  return script;
}

Result<void> write_raw_image(const states::StateImage& image, const fs::path& path) {
  const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.is_open() ||
      ::ftruncate(file.get(), static_cast<off_t>(image.sectors() * model::kSectorBytes)) != 0)
    return fail(path.string(), std::strerror(errno), "make room or choose another folder");
  // All of it: what a used disk held before is part of what somebody else is to see.
  constexpr std::uint64_t kSectorsAtATime = 2048;
  std::vector<std::byte> piece;
  for (std::uint64_t lba = 0; lba < image.sectors(); lba += kSectorsAtATime) {
    piece.resize(std::min(kSectorsAtATime, image.sectors() - lba) * model::kSectorBytes);
    if (const auto read = image.read(lba, piece); !read) return read;
    if (!put_sparse(file, lba * model::kSectorBytes, piece))
      return fail(path.string(), std::strerror(errno), "make room or choose another folder");
  }
  return {};
}

Result<Reproducer> write_reproducer(const ReproducerOf& of, const states::StateImage& image,
                                    const fs::path& folder, ImageFormat format) {
  std::error_code error;
  if (fs::exists(folder, error))
    return fail(folder.string(), "exists already", "remove it or name another folder with -o");
  fs::path partial = folder;
  if (!partial.has_filename()) partial = partial.parent_path();
  const fs::path target = partial;
  partial += ".partial";
  fs::remove_all(partial, error);
  fs::create_directories(partial, error);
  if (error) return fail(partial.string(), error.message(), "choose a folder that can be made");
  Result<Reproducer> made = write_into(of, image, partial, format);
  if (made) fs::rename(partial, target, error);
  if (!made || error) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    if (!made) return pass_on(made);
    return fail(target.string(), error.message());
  }
  for (fs::path* path : {&made->image, &made->script, &made->account}) *path = target / path->filename();
  return made;
}

}  // namespace headcrash::explorer
