// Reads machine files (stack.h), which list named devices and faults.
#include <fmt/format.h>

#include <algorithm>

#include "plugin/profiles/profile_reader.h"
#include "plugin/profiles/stack.h"

namespace headcrash::profiles {
namespace {

constexpr std::size_t kMachineDevicesMax = 64;
constexpr std::size_t kFaultsMax = 10'000;
constexpr std::size_t kNameLengthMax = 32;

bool is_device_name(const std::string& name) {
  return !name.empty() && name.size() <= kNameLengthMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-' || c == '_';
         });
}

Result<MachineDevice> read_device(ProfileTable& t, ReadErrors& errors,
                                  const std::filesystem::path& folder) {
  MachineDevice device;
  device.name = t.text("name");
  const std::string profile = t.text("profile");
  if (t.has("size")) device.size_bytes = t.size("size");
  for (const DeviceOption& option : device_options()) t.has(std::string(option.name));
  if (const auto read = read_device_options(t.values(), device.options); !read)
    errors.add(read.error());
  t.finish();
  if (!errors.first && !is_device_name(device.name)) {
    errors.add(t.full("name"), fmt::format("'{}' is not a valid device name", device.name),
               "use at most 32 letters, digits, '-' and '_'");
  }
  if (errors.first) return tl::unexpected<Error>(*errors.first);
  TRY(auto stack, load_stack(profile, folder));
  device.stack = std::move(stack);
  return device;
}

}  // namespace

Result<MachineFile> load_machine_file(const std::string& path) {
  TRY(const auto root, base::StrictTable::read(path));
  ReadErrors errors;
  errors.place = root.subject("");
  ProfileTable top(root, errors);
  auto tables = top.open_list("device");
  std::vector<std::string> faults;
  if (top.has("fault")) faults = top.texts("fault");
  top.finish();
  if (tables.size() > kMachineDevicesMax)
    errors.add("device", "too many devices", "use at most 64");
  if (faults.size() > kFaultsMax) errors.add("fault", "too many faults", "use at most 10000");
  if (errors.first) return tl::unexpected<Error>(*errors.first);

  MachineFile machine;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (ProfileTable& table : tables) {
    TRY(auto device, read_device(table, errors, folder));
    machine.devices.push_back(std::move(device));
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const Result<model::FaultSpec> fault = model::parse_fault(faults[i]);
    if (!fault) {
      const Error& e = fault.error();
      return fail(fmt::format("{}: fault[{}]", path, i),
                  fmt::format("{}: {}", e.subject, e.problem), e.hint);
    }
    machine.faults.push_back(*fault);
  }
  return machine;
}

}  // namespace headcrash::profiles
