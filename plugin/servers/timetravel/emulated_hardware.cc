#include "plugin/servers/timetravel/emulated_hardware.h"

#include "plugin/servers/emulation/mark_disk.h"

namespace headcrash::timetravel {

GuestDisk::Connect EmulatedHardware::disk(std::size_t index) {
  const model::Characteristics& device = emulation_.characteristics(index);
  const std::string name = emulation_.device_name(index);
  const GuestDisk::Served served{
      .shape = {.name = name,
                .sectors = device.sectors,
                .physical_sector_sectors = device.physical_sector_sectors,
                .trim = device.trim},
      .serve = [this, index](const model::Request& request,
                             model::Initiator& initiator) -> std::optional<int> {
        emulation_.submit(index, request, initiator);
        return std::nullopt;
      },
      .account =
          [this, index, name](const model::Request& request, const model::Completion& completion) {
            return failures_.note(name, request, emulation_.account(index, request, completion),
                                  log_);
          }};
  return [served] { return served; };
}

GuestDisk::Connect EmulatedHardware::marks() {
  const GuestDisk::Served served{
      .shape = {.name = emulation::kMarkDiskName,
                .sectors = emulation::kMarkDiskBytes / model::kSectorBytes},
      .serve = [this](const model::Request& request, model::Initiator&) -> std::optional<int> {
        return failures_.note(emulation::kMarkDiskName, request, emulation_.serve_marks(request),
                              log_);
      },
      .account = {}};
  return [served] { return served; };
}

}  // namespace headcrash::timetravel
