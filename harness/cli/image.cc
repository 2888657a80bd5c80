// headcrash image: creates, checks and reads images of headcrash's own file systems without
// mounting them. It has one subcommand for each type in fs-adapters/registry.h. `headcrash ufs` is
// the old name of `image ufs`.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "fs-adapters/registry.h"
#include "fs-adapters/substrate/os/device_stores.h"
#include "fs-adapters/substrate/os/memory_machine.h"
#include "harness/cli/command.h"
#include "plugin/base/printable.h"
#include "plugin/base/size.h"
#include "plugin/media/sparse_file_store.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;
struct ImageArguments {
  const adapters::FileSystemType* type = nullptr;
  std::string image, size, path, snapshot;
  std::string log, log_size;  ///< image and size of a separate log device; empty if absent
  adapters::Settings mkfs;
  bool repair = false, without_log = false, as_json = false;
};

/// An image and, if there is one, the image of its log. Together, the two images form a store that
/// is read and written at the driver's addresses.
class Image {
 public:
  using File = std::unique_ptr<media::SparseFileStore>;
  Image(File device, File log)
      : device_(std::move(device)),
        log_(std::move(log)),
        both_({{.store = device_.get(), .first = 0, .sectors = device_->sectors()},
               {.store = log_.get(), .first = 0, .sectors = log_ ? log_->sectors() : 0}}) {}
  model::SectorStore& store() { return log_ ? static_cast<model::SectorStore&>(both_) : *device_; }

 private:
  File device_, log_;
  os::DeviceStores both_;
};
using Store = std::unique_ptr<Image>;

using Access = media::SparseFileStore::Access;

/// Opens an existing image for `access`. If `size` is not empty, creates the image instead.
Result<Image::File> open_file(const std::string& path, const std::string& size,
                              const char* size_option, const adapters::FileSystemType& type,
                              Access access) {
  if (!size.empty()) {
    TRY(const auto bytes, base::parse_size(size, size_option));
    return media::SparseFileStore::open(path, bytes / model::kSectorBytes);
  }
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error)
    return fail(path, error.message(),
                fmt::format("name an image; `headcrash image {} mkfs` creates one", type.name()));
  if (bytes < model::kSectorBytes)
    return fail(path, fmt::format("is not an image: it has only {} bytes", bytes),
                fmt::format("name an image; `headcrash image {} mkfs` creates one", type.name()));
  return media::SparseFileStore::open_existing(path, access);
}

/// Opens the images. The sizes are used only if mkfs creates the images.
Result<Store> open_image(const ImageArguments& arguments, Access access) {
  if (!arguments.log.empty() && arguments.without_log)
    return fail("--without-log", "cannot be combined with --log", "use only one of them");
  if (arguments.log.empty() && !arguments.log_size.empty())
    return fail("--log-size", "requires a log", "add --log FILE");
  TRY(auto device, open_file(arguments.image, arguments.size, "--size", *arguments.type, access));
  if (arguments.log.empty()) return std::make_unique<Image>(std::move(device), nullptr);
  std::error_code error;
  if (std::filesystem::equivalent(arguments.image, arguments.log, error))
    return fail("--log " + arguments.log, "is the image of the file system", "choose another file");
  TRY(auto log,
      open_file(arguments.log, arguments.log_size, "--log-size", *arguments.type, access));
  return std::make_unique<Image>(std::move(device), std::move(log));
}

int run_mkfs(const ImageArguments& arguments) {
  const bool new_image = !std::filesystem::exists(arguments.image);
  const bool new_log = !arguments.log.empty() && !std::filesystem::exists(arguments.log);
  const auto store = open_image(arguments, Access::read_write);
  if (!store) return report_error(store.error(), arguments.as_json);
  const auto made = arguments.type->mkfs((*store)->store(), arguments.mkfs);
  if (!made) {
    std::error_code ignored;
    if (new_image) std::filesystem::remove(arguments.image, ignored);
    if (new_log) std::filesystem::remove(arguments.log, ignored);
    return report_error(made.error(), arguments.as_json);
  }
  if (arguments.as_json) {
    json facts = json::object();
    for (const auto& [name, value] : made->facts) facts[name] = value;
    print(facts);
  } else {
    fmt::print("{}: {}\n", arguments.image, made->text);
  }
  return kFine;
}

std::string_view name(adapters::Severity severity) {
  switch (severity) {
    case adapters::Severity::stale:
      return "stale";
    case adapters::Severity::residue:
      return "residue";
    case adapters::Severity::damage:
      break;
  }
  return "damage";
}

void print_report(const ImageArguments& arguments, const adapters::CheckReport& report) {
  if (arguments.as_json) {
    json findings = json::array();
    for (const adapters::CheckFinding& f : report.findings)
      findings.push_back({{"kind", f.kind.name},
                          {"severity", name(f.kind.severity)},
                          {"inode", f.inode},
                          {"block", f.block},
                          {"count", f.count},
                          {"repaired", f.repaired},
                          {"text", f.text}});
    print({{"findings", findings},
           {"more_findings", report.more_findings},
           {"was_clean", report.was_clean},
           {"unrepaired", report.unrepaired},
           {"replayed", report.replayed},
           {"files", report.files},
           {"directories", report.directories}});
    return;
  }
  for (const adapters::CheckFinding& f : report.findings)
    fmt::print("{}: {}{}\n", f.kind.name, base::printable(f.text), f.repaired ? " (repaired)" : "");
  if (report.replayed > 0)
    fmt::print("log: {}, {}\n",
               report.log.empty() ? fmt::format("{} transactions", report.replayed) : report.log,
               arguments.repair ? "replayed" : "to be replayed");
  if (report.more_findings > 0) fmt::print("and {} more findings\n", report.more_findings);
  fmt::print("{} files, {} directories, {}\n", report.files, report.directories,
             report.nothing_found() ? "clean"
             : report.unrepaired    ? "some damage was not repaired"
             : arguments.repair     ? "repaired"
                                    : "not clean");
}

int run_check(const ImageArguments& arguments) {
  const auto store =
      open_image(arguments, arguments.repair ? Access::read_write : Access::read_only);
  if (!store) return report_error(store.error(), arguments.as_json);
  const auto checker = arguments.type->checker();
  const adapters::CheckOptions how{.without_log = arguments.without_log};
  const auto report = arguments.repair ? checker->repair((*store)->store(), how)
                                       : checker->check((*store)->store(), how);
  if (!report) return report_error(report.error(), arguments.as_json);
  print_report(arguments, *report);
  const bool fine = report->nothing_found() || (arguments.repair && !report->unrepaired);
  return fine ? kFine : kFound;
}

char letter_of(FileType type) {
  switch (type) {
    case FileType::directory:
      return 'd';
    case FileType::symlink:
      return 'l';
    case FileType::regular:
      return '-';
    case FileType::whiteout:
    case FileType::fifo:
    case FileType::other:
      break;
  }
  return '?';
}

Result<void> list_path(const adapters::ImageReader& reader, const std::string& path) {
  TRY(const auto number, reader.lookup(path));
  TRY(const auto names, reader.list(number));
  for (const adapters::ImageName& entry : names) {
    TRY(const auto inode, reader.inode(entry.inode));
    std::string target;
    if (inode.type == FileType::symlink) {
      const auto link = reader.readlink(entry.inode);
      target = link ? " -> " + *link : " -> ?";
    }
    fmt::print("{}{:03o} {:>3} {:>10} {:>6} {}{}\n", letter_of(inode.type), inode.mode & 0777U,
               inode.links, inode.size_bytes, entry.inode, base::printable(entry.name),
               base::printable(target));
  }
  return {};
}

Result<void> print_file(const adapters::ImageReader& reader, const std::string& path) {
  TRY(const auto number, reader.lookup(path));
  std::vector<std::byte> buffer(65536);
  for (std::uint64_t at = 0;;) {
    TRY(const auto count, reader.read(number, at, buffer));
    if (count == 0) return {};
    // If fwrite() fails, main() reports the error when it flushes standard output.
    if (std::fwrite(buffer.data(), 1, count, stdout) != count) return {};
    at += count;
  }
}

using Show = Result<void> (*)(const adapters::ImageReader&, const std::string&);
int run_show(const ImageArguments& arguments, Show show) {
  const auto store = open_image(arguments, Access::read_only);
  if (!store) return report_error(store.error(), false);
  const auto reader = arguments.snapshot.empty()
                          ? arguments.type->open_image((*store)->store())
                          : arguments.type->open_snapshot((*store)->store(), arguments.snapshot);
  if (!reader) return report_error(reader.error(), false);
  const auto shown = show(**reader, arguments.path);
  return shown ? kFine : report_error(shown.error(), false);
}

int run_snapshots(const ImageArguments& arguments) {
  const auto store = open_image(arguments, Access::read_only);
  if (!store) return report_error(store.error(), arguments.as_json);
  const auto snapshots = arguments.type->snapshots((*store)->store());
  if (!snapshots) return report_error(snapshots.error(), arguments.as_json);
  json list = json::array();
  for (const SnapshotInfo& one : *snapshots) {
    list.push_back(
        {{"name", one.name}, {"generation", one.generation}, {"made", one.made_seconds}});
    if (!arguments.as_json)
      fmt::print("{:<31} generation {}, {:%F %T} UTC\n", one.name, one.generation,
                 fmt::gmtime(static_cast<std::time_t>(one.made_seconds)));
  }
  if (arguments.as_json) print(list);
  return kFine;
}

std::string why_not(int error) {
  switch (error) {
    case EINVAL:
      return "is not a valid name; use at most 31 characters, and no blanks, '/' or ','";
    case EEXIST:
      return "already exists";
    case ENOENT:
      return "does not exist; `snapshots` lists the existing snapshots";
    case ENOSPC:
      return "needs more space than is free; remove files, or drop another snapshot";
    default:
      return std::strerror(error);
  }
}

using ChangeSnapshots = VfsResult<void> (*)(Snapshots& snapshots, const std::string& name);
/// Mounts the image read-write and applies `change` to its snapshots.
int run_change_of_snapshots(const ImageArguments& arguments, ChangeSnapshots change) {
  const auto store = open_image(arguments, Access::read_write);
  if (!store) return report_error(store.error(), false);
  const auto system = arguments.type->find_system(arguments.type->usual_system());
  if (!system) return report_error(system.error(), false);
  const adapters::SystemDescription& description = (*system)->description();
  os::MemoryMachine machine(
      (*store)->store(),
      {.latency_ns = 0,
       .system = {.queue = description.queue, .cache = {.block_copy = description.block_copy}}});
  machine.system.syncer.start();
  os::Account account{.name = "image"};
  std::optional<Error> error;
  machine.system.run_as(account, [&] {
    const auto mounted = (*system)->mount(machine.system, {});
    if (!mounted) {
      error = mounted.error();
      return;
    }
    const auto changed = change(*(*mounted)->snapshots(), arguments.snapshot);
    if (!changed)
      error = Error{"snapshot " + arguments.snapshot, why_not(changed.error().value), ""};
    if (const auto unmounted = (*mounted)->unmount(); !unmounted && !error)
      error = Error{arguments.image, std::strerror(unmounted.error().value), ""};
  });
  machine.system.executor.halt();
  return error ? report_error(*error, false) : kFine;
}

/// Adds the snapshot commands, if the type supports snapshots.
template <typename Add>
void add_snapshot_verbs(const Add& add, const std::shared_ptr<ImageArguments>& arguments,
                        int& exit_code) {
  auto* const list = add("snapshots", "Lists the snapshots");
  list->add_flag("--json", arguments->as_json, "Print the result as JSON");
  list->callback([arguments, &exit_code] { exit_code = run_snapshots(*arguments); });
  const auto add_change = [&](const char* verb, const char* what, ChangeSnapshots change) {
    auto* const added = add(verb, what);
    added->add_option("NAME", arguments->snapshot, "Name of the snapshot")->required();
    added->callback([arguments, change, &exit_code] {
      exit_code = run_change_of_snapshots(*arguments, change);
    });
  };
  add_change("snapshot", "Creates a snapshot, which is kept until it is dropped",
             [](Snapshots& snapshots, const std::string& name) { return snapshots.make(name); });
  add_change("drop-snapshot", "Drops a snapshot",
             [](Snapshots& snapshots, const std::string& name) { return snapshots.drop(name); });
}

/// Adds the commands for one type: mkfs, check (alias `fsck`), ls, cat, and the snapshot commands.
void add_verbs(CLI::App& command, const adapters::FileSystemType& type, int& exit_code) {
  command.require_subcommand(1);
  const auto arguments = std::make_shared<ImageArguments>();
  arguments->type = &type;
  const auto add = [&](const char* verb, const char* what) {
    auto* const added = command.add_subcommand(verb, what);
    added->add_option("IMAGE", arguments->image, "File that contains the image")->required();
    return added;
  };
  auto* const mkfs = add("mkfs", "Creates an empty file system");
  mkfs->add_option("--size", arguments->size, "Create the image with this size, for example 64M");
  for (const adapters::MkfsOption& option : type.mkfs_options()) {
    const std::string name(option.name);
    mkfs->add_option_function<std::string>(
            "--" + name,
            [arguments, name](const std::string& value) { arguments->mkfs[name] = value; },
            std::string(option.meaning))
        ->type_name(std::string(option.value));
  }
  mkfs->add_flag("--json", arguments->as_json, "Print the result as JSON");
  mkfs->callback([arguments, &exit_code] { exit_code = run_mkfs(*arguments); });
  auto* const check =
      add("check", "Checks a file system; exits with 0 if clean or repaired, 1 otherwise");
  check->alias("fsck");
  check->add_flag("--repair", arguments->repair, "Repair the damage found");
  check->add_flag("--json", arguments->as_json, "Print the result as JSON");
  check->callback([arguments, &exit_code] { exit_code = run_check(*arguments); });
  auto* const list = add("ls", "Lists a directory");
  list->add_option("PATH", arguments->path, "Path from the root; default: the root");
  list->callback([arguments, &exit_code] { exit_code = run_show(*arguments, list_path); });
  auto* const cat = add("cat", "Prints a file");
  cat->add_option("PATH", arguments->path, "Path from the root")->required();
  cat->callback([arguments, &exit_code] { exit_code = run_show(*arguments, print_file); });
  if (type.may_have_log_device()) {
    for (auto* const verb : {mkfs, check, list, cat})
      verb->add_option("--log", arguments->log,
                       "Image of the log, if the log is on a separate device");
    mkfs->add_option("--log-size", arguments->log_size,
                     "Create the log's image with this size, for example 16M");
    check->add_flag("--without-log", arguments->without_log,
                    "The log's device is lost: discard the changes that only the log contained");
  }
  if (!type.has_snapshots()) return;
  for (auto* const verb : {list, cat})
    verb->add_option("--snapshot", arguments->snapshot,
                     "Read this snapshot instead of the newest state");
  add_snapshot_verbs(add, arguments, exit_code);
}

}  // namespace

void add_image(CLI::App& app, int& exit_code) {
  auto* const image =
      app.add_subcommand("image", "Makes, checks and reads images of headcrash's own file systems");
  image->require_subcommand(1);
  image->footer(
      "Examples:\n  headcrash image ufs mkfs disk.img --size 64M\n"
      "  headcrash image ufs check disk.img            # read-only\n"
      "  headcrash image ufs check disk.img --repair\n  headcrash image ufs ls disk.img lost+found\n"
      "  headcrash image ufs mkfs home.img --size 64M --external-journal 0 --log log.img --log-size 16M\n"
      "  headcrash image ufs check home.img --log log.img\n"
      "  headcrash image ufs check home.img --without-log --repair   # the log is lost");
  for (const adapters::FileSystemType* const type : adapters::file_system_types())
    add_verbs(*image->add_subcommand(std::string(type->name()), std::string(type->title())), *type,
              exit_code);
  // Old scripts still use `headcrash ufs`, because ufs was once the only type.
  if (const auto ufs = adapters::find_file_system_type("ufs"))
    add_verbs(*app.add_subcommand("ufs", "Deprecated name of `image ufs`")->group(""), **ufs,
              exit_code);
}

}  // namespace headcrash::cli
