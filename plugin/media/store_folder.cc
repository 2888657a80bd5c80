// Opens and locks a directory of images, and checks its store.json (sparse_file_store.h).
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "plugin/media/host_reason.h"
#include "plugin/media/sparse_file_store.h"

namespace headcrash::media {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "headcrash-store";
constexpr int kVersion = 1;
constexpr std::uintmax_t kDescriptionBytesMax = 1 << 20;

/// Checks a device name. A dot separates an array's name from the member's number: "hd0.3".
bool good_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.size() <= 64 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

json describe(const std::vector<StoredDevice>& devices) {
  json list = json::array();
  for (const StoredDevice& device : devices)
    list.push_back(
        {{"name", device.name}, {"profile", device.profile}, {"sectors", device.sectors}});
  return {{"format", kFormat}, {"version", kVersion}, {"devices", list}};
}

/// Compares store.json with the requested devices.
Result<void> check_description(const fs::path& path, const json& found,
                               const std::vector<StoredDevice>& devices) {
  constexpr const char* kOther =
      "choose another folder, or delete this one if you do not need its contents";
  const json format = found.is_object() ? found.value("format", json()) : json();
  if (format != kFormat) return fail(path, "is not the description of a headcrash store", kOther);
  if (found.value("version", json()) != kVersion)
    return fail(path.string() + ": version",
                fmt::format("is {}, but this program supports only version {}",
                            found.value("version", json()).dump(), kVersion),
                "use the program that created this store, or choose a different store");
  const json list = found.value("devices", json());
  if (!list.is_array() || list.size() != devices.size())
    return fail(path.string() + ": devices",
                fmt::format("the store does not match the {} requested devices", devices.size()),
                kOther);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const json expected = describe(devices)["devices"][i];
    for (const auto& [key, value] : expected.items()) {
      const json stored = list[i].is_object() ? list[i].value(key, json()) : json();
      if (stored != value)
        return fail(
            fmt::format("{}: devices[{}].{}", path.string(), i, key),
            fmt::format("is {} in the store, but {} is requested", stored.dump(), value.dump()),
            kOther);
    }
  }
  return {};
}

Result<json> read_description(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  std::ifstream in(path);
  if (error || !in) return fail(path, "cannot be read", "check its permissions");
  if (bytes > kDescriptionBytesMax)
    return fail(path, "is not the description of a headcrash store", "choose another folder");
  json found = json::parse(in, nullptr, false);
  if (found.is_discarded()) return fail(path, "is not JSON", "choose another folder");
  return found;
}

Result<void> write_description(const fs::path& path, const json& description) {
  const fs::path fresh = path.string() + ".new";
  {
    std::ofstream out(fresh, std::ios::trunc);
    out << description.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    out.close();
    if (!out) return fail(fresh, "cannot be written", "check permissions and free space");
  }
  std::error_code error;
  fs::rename(fresh, path, error);
  if (error)
    return fail(path, "cannot be written: " + error.message(), "check permissions and free space");
  return {};
}

/// Checks a directory that has no store.json. It may contain only images left over from an
/// interrupted first start.
Result<void> check_unfinished(const fs::path& folder, const std::vector<StoredDevice>& devices) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool ours = name == "store.json.new" ||
                      std::any_of(devices.begin(), devices.end(),
                                  [&](const auto& d) { return name == d.name + ".img"; });
    if (!ours)
      return fail(folder, fmt::format("is not a store: it has \"{}\" but no store.json", name),
                  "use an empty or new folder");
  }
  if (error) return fail(folder, "cannot be listed: " + error.message(), "check its permissions");
  return {};
}

Result<int> lock_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return fail(folder, "cannot be created: " + host_reason(errno),
                "create its parent folder, or choose another");
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail(folder, "cannot be opened: " + host_reason(errno), "use a folder");
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(fd);
    if (error == EWOULDBLOCK)
      return fail(folder, "is in use by another server",
                  "stop that server, or choose another folder");
    return fail(folder, "cannot be locked: " + host_reason(error),
                "choose a folder on a local file system");
  }
  return fd;
}

}  // namespace

Result<std::unique_ptr<StoreFolder>> StoreFolder::open(const fs::path& folder,
                                                       const std::vector<StoredDevice>& devices) {
  for (const StoredDevice& device : devices)
    if (!good_name(device.name))
      return fail(folder, fmt::format("\"{}\" is not a valid image name", device.name),
                  "use letters, digits, '-', '_', and '.' except at the ends");
  TRY(auto lock, lock_folder(folder));
  std::unique_ptr<StoreFolder> store(new StoreFolder(lock));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(folder, "cannot be written: " + host_reason(errno), "check its permissions");

  const fs::path description = folder / "store.json";
  std::error_code error;
  const bool complete = fs::exists(description, error);
  if (complete) {
    TRY(auto found, read_description(description));
    TRY(check_description(description, found, devices));
  } else
    TRY(check_unfinished(folder, devices));
  for (const StoredDevice& device : devices) {
    const fs::path image = folder / (device.name + ".img");
    if (complete && !fs::exists(image, error))
      return fail(image, "is missing from the store", "restore it, or choose another folder");
    TRY(auto opened, SparseFileStore::open(image, device.sectors));
    store->stores_.push_back(std::move(opened));
  }
  if (!complete) TRY(write_description(description, describe(devices)));
  return store;
}

StoreFolder::~StoreFolder() {
  close(lock_fd_);
}

}  // namespace headcrash::media
