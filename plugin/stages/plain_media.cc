#include "plugin/stages/plain_media.h"

#include <cerrno>

namespace headcrash::stages {

using model::Op;

states::StateImage blank_image(std::uint64_t sectors) {
  return states::StateImage(record::MediumState(nullptr, record::ExtentIndex(sectors)));
}

PlainMedia::PlainMedia(std::vector<Medium> media, std::uint64_t overlay_bytes_max,
                       StageRecording* recording, bool used_disk)
    : recording_(recording), used_disk_(used_disk) {
  for (Medium& medium : media) {
    disk_infos_.push_back({std::move(medium.name), medium.image.sectors()});
    disks_.push_back(std::make_unique<Disk>(std::move(medium), overlay_bytes_max));
  }
}

media::WrittenMap& PlainMedia::Disk::written() {
  if (!written_map) written_map = std::make_unique<media::WrittenMap>(store.sectors());
  return *written_map;
}

int PlainMedia::read(const Disk& disk, const model::Request& request) {
  if (disk.store.first_unreadable(request.lba, request.sectors)) return EIO;
  if (request.into.empty()) return 0;  // prefetch only
  return disk.store.read(request.lba, request.into) ? 0 : EIO;
}

int PlainMedia::write(Disk& disk, const model::Request& request) const {
  if (request.op == Op::trim && used_disk_) return 0;
  const auto done = request.op == Op::write ? disk.store.write(request.lba, request.data)
                                            : disk.store.write_zeroes(request.lba, request.sectors);
  if (!done) return ENOSPC;
  if (request.op == Op::write) disk.written().mark(request.lba, request.sectors);
  return 0;
}

int PlainMedia::serve(std::size_t disk_index, model::Request& request) {
  Disk& disk = *disks_[disk_index];
  const std::uint64_t sectors = disk_infos_[disk_index].sectors;
  if (request.lba > sectors || request.sectors > sectors - request.lba) return EINVAL;
  if (request.op == Op::read) return read(disk, request);
  if (recorded()) {
    request.id = recording_->next_request();
    recording_->submitted(disk.device, recording_->now(), request);
    if (recording_->error()) return EIO;
  }
  return request.op == Op::flush ? 0 : write(disk, request);
}

int PlainMedia::acknowledge(std::size_t disk_index, const model::Request& request, int error) {
  if (request.op == Op::read || request.id == 0 || !recorded()) return error;
  model::Completion completion;
  completion.id = request.id;
  completion.status = error == 0 ? model::Status::ok : model::Status::store_error;
  completion.completed_at = recording_->now();
  recording_->acknowledged(disks_[disk_index]->device, completion);
  return recording_->error() ? EIO : error;
}

void PlainMedia::mark(std::string_view text) {
  if (recorded()) recording_->marked(recording_->now(), text);
}

media::WrittenMap::Run PlainMedia::written(std::size_t disk_index, std::uint64_t lba,
                                           std::uint64_t limit) {
  Disk& disk = *disks_[disk_index];
  if (!disk.image_in_map)
    disk.image.visit_written(
        [&](std::uint64_t from, std::uint64_t count) { disk.written().mark(from, count); });
  disk.image_in_map = true;
  media::WrittenMap::Run run = disk.written().run(lba, limit);
  run.or_zeroes = !used_disk_;
  return run;
}

std::uint64_t PlainMedia::overlay_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& disk : disks_) bytes += disk->store.overlay_bytes();
  return bytes;
}

Result<std::uint64_t> PlainMedia::digest() {
  std::uint64_t joined = 0;
  for (const auto& disk : disks_) {
    const auto digest = disk->store.digest();
    if (!digest) return digest;
    joined = joined_digest(joined, *digest, disk == disks_.front());
  }
  return joined;
}

}  // namespace headcrash::stages
