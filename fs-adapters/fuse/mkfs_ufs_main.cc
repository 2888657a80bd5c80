// mkfs.headcrash-ufs: makes an empty UFS on a device (fs-adapters/ufs/mkfs.h).
#include <fmt/core.h>
#include <getopt.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "fs-adapters/fuse/device_store.h"
#include "fs-adapters/ufs/mkfs.h"
#include "plugin/base/size.h"

namespace headcrash::fuse {
namespace {

constexpr int kMade = 0, kNotMade = 1, kWrongCall = 2;
constexpr const char* kUsage =
    "Usage: mkfs.headcrash-ufs [-q] [-b BLOCK] [-f FRAGMENT] [-i BYTES-PER-INODE] [-g GROUP] [-m RESERVE]\n"
    "                          [-J JOURNAL] [-U UUID] DEVICE\n"
    "  -b  bytes of a block, 4096 or 8192 (8192)        -f  bytes of a fragment (1024)\n"
    "  -g  bytes of a cylinder group (few groups)       -m  percent kept free (10)\n"
    "  -J  bytes of a journal; 0: as many as fit the device (none; the first mount with scheme=journal makes "
    "one)\n"
    "  -U  its first eight bytes are the file system's id\n"
    "Example: mkfs.headcrash-ufs /dev/vda\n";

int tell(const Error& error, int code) {
  fmt::print(stderr, "{}\n", error.message());
  return code;
}

/// The first 16 hexadecimal digits, whatever is between them.
Result<std::array<std::uint32_t, 2>> id_of(const std::string& uuid) {
  std::array<std::uint32_t, 2> id = {};
  std::size_t digits = 0;
  for (const char c : uuid) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const std::size_t value = kDigits.find(static_cast<char>(c | 0x20));
    if (c == '-' || digits == 16) continue;
    if (value == std::string_view::npos) break;
    id.at(digits / 8) = id.at(digits / 8) * 16 + static_cast<std::uint32_t>(value);
    ++digits;
  }
  if (digits < 16) return fail("-U " + uuid, "is no UUID", "give one as uuidgen prints it");
  return id;
}

Result<void> take_number(const char* option, const char* text, std::uint32_t& number) {
  const auto value = base::parse_size(text, option);
  if (!value) return pass_on(value);
  if (*value > 1U << 31U) return fail(option, "is too large", "give less than 2G");
  number = static_cast<std::uint32_t>(*value);
  return {};
}

Result<void> take(int option, const char* value, ufs::MkfsOptions& options) {
  switch (option) {
    case 'b':
      return take_number("-b", value, options.block_bytes);
    case 'f':
      return take_number("-f", value, options.fragment_bytes);
    case 'i':
      return take_number("-i", value, options.bytes_per_inode);
    case 'm':
      return take_number("-m", value, options.reserve_percent);
    case 'g':
    case 'J': {
      const auto bytes = base::parse_size(value, std::string("-") + static_cast<char>(option));
      if (!bytes) return pass_on(bytes);
      (option == 'J' ? options.journal_bytes.emplace() : options.group_bytes) = *bytes;
      return {};
    }
    default: {
      const auto id = id_of(value);
      if (!id) return pass_on(id);
      options.id = *id;
      return {};
    }
  }
}

int run(int argc, char** argv) {
  ufs::MkfsOptions options{.time = static_cast<std::uint32_t>(std::time(nullptr))};
  bool quiet = false;
  for (int option = 0; (option = ::getopt(argc, argv, "qhb:f:i:g:m:J:U:")) != -1;) {
    if (option == 'h') {
      fmt::print("{}", kUsage);
      return kMade;
    }
    if (option == '?') return kWrongCall;  // getopt has said why
    if (option == 'q') {
      quiet = true;
    } else if (const auto taken = take(option, ::optarg, options); !taken) {
      return tell(taken.error(), kWrongCall);
    }
  }
  if (argc - ::optind != 1)
    return tell({"mkfs.headcrash-ufs", "wants one device", "mkfs.headcrash-ufs -h tells more"}, kWrongCall);
  const std::string device = argv[::optind];
  const auto store = DeviceStore::open(device, DeviceStore::Access::alone);
  if (!store) return tell(store.error(), kNotMade);
  const auto made = ufs::mkfs(**store, options);
  if (!made) return tell(made.error(), kNotMade);
  if (const auto synced = (*store)->sync(); !synced) return tell(synced.error(), kNotMade);
  if (!quiet)
    fmt::print("{}: {} groups, {} inodes, blocks of {} bytes, fragments of {}\n", device, made->groups,
               made->groups * made->inodes_per_group, made->block_bytes, made->fragment_bytes);
  return kMade;
}

}  // namespace
}  // namespace headcrash::fuse

int main(int argc, char** argv) {
  return headcrash::fuse::run(argc, argv);
}
