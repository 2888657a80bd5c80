// headcrash ufs: makes, checks and looks into images of headcrash's own UFS, without mounting them.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "fs-adapters/ufs/fsck.h"
#include "fs-adapters/ufs/image_reader.h"
#include "fs-adapters/ufs/mkfs.h"
#include "harness/cli/command.h"
#include "plugin/base/size.h"
#include "plugin/media/sparse_file_store.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;
using Store = std::unique_ptr<media::SparseFileStore>;

struct UfsArguments {
  std::string image, size, path, journal_size;
  ufs::MkfsOptions mkfs;
  bool repair = false, as_json = false;
};

Result<Store> open_image(const UfsArguments& arguments) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(arguments.image, error);
  if (error) return fail(arguments.image, error.message(), "give an image; `headcrash ufs mkfs` makes one");
  return media::SparseFileStore::open(arguments.image, bytes / model::kSectorBytes);
}

Result<Store> make_image(const UfsArguments& arguments) {
  if (arguments.size.empty()) return open_image(arguments);
  const auto bytes = base::parse_size(arguments.size, "--size");
  if (!bytes) return pass_on(bytes);
  return media::SparseFileStore::open(arguments.image, *bytes / model::kSectorBytes);
}

int run_mkfs(const UfsArguments& arguments) {
  const bool new_image = !std::filesystem::exists(arguments.image);
  const auto store = make_image(arguments);
  if (!store) return tell(store.error(), arguments.as_json);
  ufs::MkfsOptions options = arguments.mkfs;
  if (!arguments.journal_size.empty()) {
    const auto bytes = base::parse_size(arguments.journal_size, "--journal-size");
    if (!bytes) return tell(bytes.error(), arguments.as_json);
    options.journal_bytes = *bytes;
  }
  const auto made = ufs::mkfs(**store, options);
  if (!made) {
    std::error_code ignored;
    if (new_image) std::filesystem::remove(arguments.image, ignored);
    return tell(made.error(), arguments.as_json);
  }
  if (arguments.as_json) {
    print({{"groups", made->groups},
           {"inodes", made->groups * made->inodes_per_group},
           {"block_bytes", made->block_bytes},
           {"fragment_bytes", made->fragment_bytes},
           {"data_bytes", std::uint64_t{made->data_fragments} * made->fragment_bytes}});
  } else {
    fmt::print("{}: {} groups, {} inodes, blocks of {} bytes, fragments of {}\n", arguments.image,
               made->groups, made->groups * made->inodes_per_group, made->block_bytes, made->fragment_bytes);
  }
  return kFine;
}

void print_report(const UfsArguments& arguments, const ufs::FsckReport& report) {
  if (arguments.as_json) {
    json findings = json::array();
    for (const ufs::Finding& f : report.findings)
      findings.push_back({{"kind", ufs::name_of(f.kind)},
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
  for (const ufs::Finding& f : report.findings)
    fmt::print("{}: {}{}\n", ufs::name_of(f.kind), f.text, f.repaired ? " (repaired)" : "");
  if (report.replayed > 0)
    fmt::print("journal: {} transactions {}\n", report.replayed,
               arguments.repair ? "replayed" : "to be replayed");
  if (report.more_findings > 0) fmt::print("and {} more\n", report.more_findings);
  fmt::print("{} files, {} directories, {}\n", report.files, report.directories,
             report.nothing_found() ? "clean"
             : report.unrepaired    ? "not all repaired"
             : arguments.repair     ? "repaired"
                                    : "not clean");
}

int run_fsck(const UfsArguments& arguments) {
  const auto store = open_image(arguments);
  if (!store) return tell(store.error(), arguments.as_json);
  ufs::Fsck fsck;
  const auto report = arguments.repair ? fsck.run(**store, {.repair = true}) : fsck.check(**store);
  if (!report) return tell(report.error(), arguments.as_json);
  print_report(arguments, *report);
  const bool fine = report->nothing_found() || (arguments.repair && !report->unrepaired);
  return fine ? kFine : kFound;
}

char letter_of(const ufs::Inode& inode) {
  return inode.is_directory() ? 'd' : inode.is_symlink() ? 'l' : inode.is_regular() ? '-' : '?';
}

Result<void> list_path(const ufs::ImageReader& reader, const std::string& path) {
  const auto number = reader.lookup(path);
  if (!number) return pass_on(number);
  const auto names = reader.list(*number);
  if (!names) return pass_on(names);
  for (const ufs::NamedInode& entry : *names) {
    const auto inode = reader.inode(entry.inode);
    if (!inode) return pass_on(inode);
    std::string target;
    if (inode->is_symlink()) {
      const auto link = reader.readlink(entry.inode);
      target = link ? " -> " + *link : " -> ?";
    }
    fmt::print("{}{:03o} {:>3} {:>10} {:>6} {}{}\n", letter_of(*inode), inode->mode & 0777U, inode->links,
               inode->size_bytes, entry.inode, entry.name, target);
  }
  return {};
}

Result<void> print_file(const ufs::ImageReader& reader, const std::string& path) {
  const auto number = reader.lookup(path);
  if (!number) return pass_on(number);
  std::vector<std::byte> buffer(65536);
  for (std::uint64_t at = 0;;) {
    const auto count = reader.read(*number, at, buffer);
    if (!count) return pass_on(count);
    if (*count == 0) return {};
    if (std::fwrite(buffer.data(), 1, *count, stdout) != *count)
      return fail("standard output", "cannot be written", "look for a full disk");
    at += *count;
  }
}

using Show = Result<void> (*)(const ufs::ImageReader&, const std::string&);
int run_show(const UfsArguments& arguments, Show show) {
  const auto store = open_image(arguments);
  if (!store) return tell(store.error(), false);
  const auto reader = ufs::ImageReader::open(**store);
  if (!reader) return tell(reader.error(), false);
  const auto shown = show(*reader, arguments.path);
  return shown ? kFine : tell(shown.error(), false);
}

}  // namespace

void add_ufs(CLI::App& app, int& exit_code) {
  auto* const ufs = app.add_subcommand("ufs", "Makes, checks and looks into UFS images");
  ufs->require_subcommand(1);
  ufs->footer(
      "Examples:\n  headcrash ufs mkfs disk.img --size 64M\n  headcrash ufs fsck disk.img            # looks "
      "only\n"
      "  headcrash ufs fsck disk.img --repair\n  headcrash ufs ls disk.img lost+found");
  const auto arguments = std::make_shared<UfsArguments>();
  const auto add = [&](const char* name, const char* what) {
    auto* const command = ufs->add_subcommand(name, what);
    command->add_option("IMAGE", arguments->image, "the image")->required();
    return command;
  };
  auto* const mkfs = add("mkfs", "Makes an empty file system");
  mkfs->add_option("--size", arguments->size, "makes the image, so long (64M)");
  mkfs->add_option("--block-size", arguments->mkfs.block_bytes, "4096 or 8192")->capture_default_str();
  mkfs->add_option("--fragment-size", arguments->mkfs.fragment_bytes, "an eighth of it to all of it")
      ->capture_default_str();
  mkfs->add_option("--bytes-per-inode", arguments->mkfs.bytes_per_inode, "density")->capture_default_str();
  mkfs->add_option("--group-size", arguments->mkfs.group_bytes, "bytes; 0: as few groups as can be")
      ->capture_default_str();
  mkfs->add_option("--reserve", arguments->mkfs.reserve_percent, "percent kept free")->capture_default_str();
  mkfs->add_option("--journal-size", arguments->journal_size, "makes a journal, so long (1M); 0: as fits");
  mkfs->add_flag("--json", arguments->as_json, "for programs");
  mkfs->callback([arguments, &exit_code] { exit_code = run_mkfs(*arguments); });
  auto* const fsck = add("fsck", "Checks a file system; 0: clean or repaired, 1: not");
  fsck->add_flag("--repair", arguments->repair, "repairs what it finds");
  fsck->add_flag("--json", arguments->as_json, "for programs");
  fsck->callback([arguments, &exit_code] { exit_code = run_fsck(*arguments); });
  auto* const list = add("ls", "Lists a directory");
  list->add_option("PATH", arguments->path, "from the root; default: the root");
  list->callback([arguments, &exit_code] { exit_code = run_show(*arguments, list_path); });
  auto* const cat = add("cat", "Prints a file");
  cat->add_option("PATH", arguments->path, "from the root")->required();
  cat->callback([arguments, &exit_code] { exit_code = run_show(*arguments, print_file); });
}

}  // namespace headcrash::cli
