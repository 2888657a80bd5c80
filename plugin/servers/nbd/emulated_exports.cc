// Implements the exports of emulated hardware: each device of the machine, and `mark`.
#include <algorithm>
#include <bit>

#include "plugin/servers/emulation/emulation.h"
#include "plugin/servers/nbd/export.h"

namespace headcrash::nbd {
namespace {

using model::kSectorBytes;

constexpr const char* kMarkName = "mark";
constexpr std::string_view kDiskPrefix = "disk/";

/// Returns the device's preferred request size, as a power of two from 4 KiB to 32 MiB, as NBD
/// requires.
std::uint32_t preferred_bytes(const model::Characteristics& device) {
  const std::uint64_t optimal = std::uint64_t{device.optimal_sectors} * kSectorBytes;
  if (optimal >= kPreferredBytesMin && optimal <= kMaximumRequestBytes &&
      std::has_single_bit(optimal))
    return static_cast<std::uint32_t>(optimal);
  return std::clamp<std::uint32_t>(device.physical_sector_sectors * kSectorBytes,
                                   kPreferredBytesMin, 65536);
}

class EmulatedDisk final : public Export {
 public:
  EmulatedDisk(emulation::Emulation& emulation, std::size_t device)
      : emulation_(emulation), device_(device) {
    const model::Characteristics& c = emulation.characteristics(device);
    traits_ = {.bytes = c.sectors * kSectorBytes,
               .preferred_bytes = preferred_bytes(c),
               .rotational = c.rotational,
               .trim = c.trim,
               .fast_zero = c.fast_zero,
               .extents = emulation.written(device) != nullptr};
  }

  static std::string description(const emulation::Emulation& emulation, std::size_t index) {
    const model::Characteristics& device = emulation.characteristics(index);
    const std::string& title = emulation.title(index);
    return "emulated " + device.profile + (title.empty() ? "" : " (" + title + ")") + ", " +
           std::to_string(device.sectors) + " sectors";
  }

  const ExportTraits& traits() const override { return traits_; }
  std::string description() const override { return description(emulation_, device_); }
  std::string name() const override { return emulation_.device_name(device_); }
  emulation::Answer serve(const model::Request& request) override {
    return emulation_.serve(device_, request);
  }
  media::WrittenMap::Run written(std::uint64_t lba, std::uint64_t limit) override {
    return emulation_.written(device_)->run(lba, limit);
  }

 private:
  emulation::Emulation& emulation_;
  std::size_t device_;
  ExportTraits traits_;
};

class EmulatedMark final : public MarkExport {
 public:
  static constexpr const char* kDescription =
      "writes add marks to the recording; reads return the server's instance identifier";
  explicit EmulatedMark(emulation::Emulation& emulation) : emulation_(emulation) {}
  std::string description() const override { return kDescription; }
  emulation::Answer serve(const model::Request& request) override {
    return emulation_.serve_marks(request);
  }

 private:
  emulation::Emulation& emulation_;
};

class EmulatedExports final : public ExportTable {
 public:
  explicit EmulatedExports(emulation::Emulation& emulation) : emulation_(emulation) {}

  std::vector<ListedExport> list() const override {
    std::vector<ListedExport> all = {{"", EmulatedDisk::description(emulation_, 0)}};
    for (std::size_t i = 0; i < emulation_.device_count(); ++i)
      all.push_back({std::string(kDiskPrefix) + emulation_.device_name(i),
                     EmulatedDisk::description(emulation_, i)});
    all.push_back({kMarkName, EmulatedMark::kDescription});
    return all;
  }

  std::string default_name() const override { return ""; }

  Result<std::unique_ptr<Export>> open(std::string_view name) override {
    if (name.empty()) return std::make_unique<EmulatedDisk>(emulation_, 0);
    if (name == kMarkName) return std::make_unique<EmulatedMark>(emulation_);
    if (name.starts_with(kDiskPrefix))
      for (std::size_t i = 0; i < emulation_.device_count(); ++i)
        if (emulation_.device_name(i) == name.substr(kDiskPrefix.size()))
          return std::make_unique<EmulatedDisk>(emulation_, i);
    return fail("export \"" + std::string(name.substr(0, 64)) + "\"", "no such export",
                "use \"\", \"disk/" + emulation_.device_name(0) + "\" or \"" + kMarkName + "\"");
  }

 private:
  emulation::Emulation& emulation_;
};

}  // namespace

std::unique_ptr<ExportTable> exports_of(emulation::Emulation& emulation) {
  return std::make_unique<EmulatedExports>(emulation);
}

}  // namespace headcrash::nbd
