// mkfs.headcrash-TYPE creates an empty file system on a device. The program's name contains the
// type. Its options are those of FileSystemType::mkfs_options(), given either as `--name VALUE` or
// by their letters. `--log DEVICE` sets the device for an external log, for types that support it.
#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "fs-adapters/fuse/device_store.h"
#include "fs-adapters/fuse/file_systems.h"

namespace headcrash::fuse {
namespace {

constexpr int kMade = 0, kNotMade = 1, kWrongCall = 2;

int report_error(const Error& error, int code) {
  fmt::print(stderr, "{}\n", error.message());
  return code;
}

void print_help(const adapters::FileSystemType& type) {
  fmt::print("Usage: {}{} [-q] [OPTION VALUE]... DEVICE\n  -q  prints nothing on success\n",
             kMkfsPrefix, type.name());
  for (const adapters::MkfsOption& option : type.mkfs_options()) {
    const std::string letter = option.letter == 0 ? "    " : fmt::format("-{}, ", option.letter);
    fmt::print("  {}{:<28} {}\n", letter, fmt::format("--{} {}", option.name, option.value),
               option.meaning);
  }
  if (type.may_have_log_device())
    fmt::print("  {:<32} {}\n", "    --log DEVICE", "device of the log, with --external-journal");
  fmt::print("Example: {}{} /dev/vda\n", kMkfsPrefix, type.name());
}

/// Options for getopt_long: 'h', 'q', and each of the type's options by its letter or, if it has no
/// letter, by its index.
struct Known {
  static constexpr int kBeyondLetters = 256, kLog = 255;
  explicit Known(const adapters::FileSystemType& type) {
    const std::span<const adapters::MkfsOption> options = type.mkfs_options();
    for (std::size_t i = 0; i < options.size(); ++i) {
      names.emplace_back(options[i].name);
      codes.push_back(options[i].letter != 0 ? options[i].letter
                                             : kBeyondLetters + static_cast<int>(i));
      if (options[i].letter != 0) letters += {options[i].letter, ':'};
    }
    for (std::size_t i = 0; i < options.size(); ++i)
      table.push_back({.name = names[i].c_str(),
                       .has_arg = required_argument,
                       .flag = nullptr,
                       .val = codes[i]});
    if (type.may_have_log_device())
      table.push_back({.name = "log", .has_arg = required_argument, .flag = nullptr, .val = kLog});
    table.push_back({.name = "help", .has_arg = no_argument, .flag = nullptr, .val = 'h'});
    table.push_back({});
  }
  std::vector<std::string> names;
  std::vector<int> codes;
  std::string letters = "qh";
  std::vector<::option> table;
};

int run(int argc, char** argv) {
  const auto found = type_of_program(argv[0], kMkfsPrefix);
  if (!found) return report_error(found.error(), kWrongCall);
  const adapters::FileSystemType& type = **found;
  const Known known(type);
  std::string log;
  adapters::Settings settings;
  bool quiet = false;
  for (int code = 0; (code = ::getopt_long(argc, argv, known.letters.c_str(), known.table.data(),
                                           nullptr)) != -1;) {
    if (code == 'h') {
      print_help(type);
      return kMade;
    }
    if (code == '?') return kWrongCall;  // getopt has already printed the error
    if (code == 'q') {
      quiet = true;
      continue;
    }
    if (code == Known::kLog) {
      log = ::optarg;
      continue;
    }
    const auto option =
        static_cast<std::size_t>(std::ranges::find(known.codes, code) - known.codes.begin());
    settings[known.names.at(option)] = ::optarg;
  }
  const std::string program = fmt::format("{}{}", kMkfsPrefix, type.name());
  if (argc - ::optind != 1)
    return report_error({program, "needs one device", program + " -h prints help"}, kWrongCall);
  if (std::ranges::find(known.names, "time") != known.names.end())
    settings.emplace("time", fmt::to_string(std::time(nullptr)));
  const std::string device = argv[::optind];
  const auto devices = OpenedDevices::open(device, log, DeviceStore::Access::alone);
  if (!devices) return report_error(devices.error(), kNotMade);
  const auto made = type.mkfs((*devices)->store(), settings);
  if (!made) return report_error(made.error(), kNotMade);
  if (const auto synced = (*devices)->sync(); !synced)
    return report_error(synced.error(), kNotMade);
  if (!quiet) fmt::print("{}: {}\n", device, made->text);
  return kMade;
}

}  // namespace
}  // namespace headcrash::fuse

int main(int argc, char** argv) {
  return headcrash::fuse::run(argc, argv);
}
