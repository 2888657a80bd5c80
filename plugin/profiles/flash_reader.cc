// Reads flash devices from TOML (the keys mirror model::FlashProfile) and validates them.
#include "plugin/profiles/profile_reader.h"

namespace headcrash::profiles {
namespace {

using model::FlashProfile;

constexpr std::uint64_t kFlashSectorsMax = std::uint64_t{1} << 40;

}  // namespace

Result<FlashDrive> read_flash(const base::StrictTable& root) {
  ReadErrors errors;
  errors.place = root.subject("");
  FlashDrive drive;
  FlashProfile& p = drive.profile;
  ProfileTable top(root, errors);
  top.text("kind");
  p.name = top.text("name");
  p.title = top.text("title");
  const auto open = [&](const char* name) {
    ProfileTable table = top.open(name);
    if (auto origin = table.origin()) drive.origins.push_back(*std::move(origin));
    return table;
  };
  ProfileTable geometry = open("geometry");
  p.capacity_sectors = geometry.integer("capacity-sectors", 1, kFlashSectorsMax);
  p.physical_sector_sectors = geometry.integer32("physical-sector-sectors", 1, 128);
  p.channels = geometry.integer32("channels", 1, 256);
  p.luns_per_channel = geometry.integer32("luns-per-channel", 1, 256);
  p.page_sectors = geometry.integer32("page-sectors", 1, 1024);
  p.pages_per_block = geometry.integer32("pages-per-block", 0, 1U << 20);
  geometry.finish();

  ProfileTable nand = open("nand");
  p.read_ns = nand.microseconds("read-us");
  p.program_ns = nand.microseconds("program-us");
  p.erase_ns = nand.microseconds("erase-us");
  p.channel_sector_ns = nand.microseconds("channel-sector-us");
  nand.finish();

  ProfileTable controller = open("controller");
  p.queue_depth = controller.integer32("queue-depth", 1, 65'536);
  p.command_ns = controller.microseconds("command-us");
  p.host_sector_ns = controller.microseconds("host-sector-us");
  p.flush_ns = controller.microseconds("flush-us");
  p.trim_ns = controller.microseconds("trim-us");
  controller.finish();

  ProfileTable buffer = open("buffer");
  p.buffer_sectors = buffer.integer32("buffer-sectors", 0, 1U << 30);
  p.buffer_write_ns = buffer.microseconds("buffer-write-us");
  p.buffer_sector_ns = buffer.microseconds("buffer-sector-us");
  p.buffer_idle_ns = buffer.microseconds("buffer-idle-us");
  p.power_loss_protection = buffer.boolean("power-loss-protection");
  buffer.finish();

  ProfileTable features = open("features");
  p.trim = features.boolean("trim");
  if (features.has("tear")) p.tear = features.tear("tear");
  features.finish();
  top.finish();
  if (!errors.first) {
    if (const auto valid = model::validate(p); !valid) {
      errors.add(valid.error().subject, valid.error().problem, valid.error().hint);
    }
  }
  if (errors.first) return tl::unexpected<Error>(*errors.first);
  return drive;
}

}  // namespace headcrash::profiles
