// Generates and traverses directory trees (file_tree.h).
#include "harness/workload/timed/file_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/workload/timed/random_source.h"

namespace headcrash::timed {
namespace {

constexpr std::uint64_t kShapeSeed = 0x74726565;
constexpr std::size_t kBranches = 3;
constexpr double kSigma = 1.5;

std::vector<std::uint64_t> log_normal_sizes(std::size_t files, std::uint64_t bytes,
                                            RandomSource& random) {
  std::vector<double> drawn(files);
  constexpr std::uint64_t kSteps = 1U << 20;
  for (double& size : drawn) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.below(kSteps);
    size = std::exp(kSigma * (static_cast<double>(sum) / kSteps - 6));
  }
  const double total = std::accumulate(drawn.begin(), drawn.end(), 0.0);
  std::vector<std::uint64_t> sizes(files);
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < files; ++i) {
    sizes[i] = std::min(static_cast<std::uint64_t>(drawn[i] / total * static_cast<double>(bytes)),
                        bytes - given);
    given += sizes[i];
  }
  if (!sizes.empty()) *std::max_element(sizes.begin(), sizes.end()) += bytes - given;
  return sizes;
}

std::size_t parent_of(std::size_t folder) {
  return (folder - 1) / kBranches;
}

}  // namespace

FileTree::FileTree(std::size_t files, std::uint64_t bytes, std::size_t folders)
    : content_(folders) {
  RandomSource random(kShapeSeed);
  sizes_ = log_normal_sizes(files, bytes, random);
  for (std::size_t i = 0; i < files; ++i) {
    folder_of_.push_back(random.below(folders));
    content_[folder_of_.back()].push_back(i);
  }
}

std::string FileTree::folder(const std::string& root, std::size_t number) const {
  if (number == 0) return root;
  return fmt::format("{}/d{}", folder(root, parent_of(number)), number);
}

std::size_t FileTree::entries_in(std::size_t folder) const {
  std::size_t entries = content_[folder].size();
  for (std::size_t child = 1; child < folders(); ++child)
    entries += parent_of(child) == folder ? 1 : 0;
  return entries;
}

TimedFile FileTree::file(const std::string& root, std::size_t number, std::size_t owner) const {
  return {.path = fmt::format("{}/f{}", folder(root, folder_of_[number]), number),
          .number = static_cast<std::uint32_t>(owner * sizes_.size() + number),
          .bytes = sizes_[number]};
}

PhaseResult FileTree::make_folders(FileWork& work, const std::string& root,
                                   const Programs& programs) const {
  for (std::size_t i = 0; i < folders(); ++i) {
    if (programs.each_folder) work.start_program();
    TRY(work.make_folder(folder(root, i)));
  }
  return {};
}

PhaseResult FileTree::create(FileWork& work, const std::string& root, std::size_t owner) const {
  TRY(make_folders(work, root));
  for (std::size_t i = 0; i < files(); ++i) {
    TRY(work.create(file(root, i, owner)));
  }
  return {};
}

PhaseResult FileTree::extract(FileWork& work, const std::string& root) const {
  for (std::size_t in = 0; in < folders(); ++in) {
    TRY(work.make_folder(folder(root, in)));
    for (const std::size_t i : files_in(in)) {
      const auto done = work.operation([&] { return work.create(file(root, i, 0)); });
      if (!done) return done;
    }
  }
  return {};
}

PhaseResult FileTree::copy_files(FileWork& work, const std::string& from, const std::string& to,
                                 std::size_t owner, const Programs& programs) const {
  for (std::size_t in = 0; in < folders(); ++in) {
    if (programs.each_folder) work.start_program();
    TRY(work.expect_entries(folder(from, in), entries_in(in)));
    for (const std::size_t i : files_in(in)) {
      if (programs.each_file) work.start_program();
      const TimedFile source = file(from, i, owner);
      const auto copied = work.operation([&]() -> PhaseResult {
        TRY(work.stat(source.path));
        return work.copy(source, file(to, i, owner).path);
      });
      if (!copied) return copied;
    }
  }
  return {};
}

PhaseResult FileTree::copy(FileWork& work, const std::string& from, const std::string& to,
                           std::size_t owner) const {
  TRY(make_folders(work, to));
  return copy_files(work, from, to, owner);
}

PhaseResult FileTree::read(FileWork& work, const std::string& root, std::size_t owner,
                           const Programs& programs) const {
  for (std::size_t in = 0; in < folders(); ++in) {
    if (programs.each_folder) work.start_program();
    TRY(work.expect_entries(folder(root, in), entries_in(in)));
    for (const std::size_t i : files_in(in)) {
      if (programs.each_file) work.start_program();
      const auto read = work.operation([&] { return work.read(file(root, i, owner)); });
      if (!read) return read;
    }
  }
  return {};
}

PhaseResult FileTree::remove(FileWork& work, const std::string& root, std::size_t owner) const {
  for (std::size_t in = folders(); in-- > 0;) {
    TRY(work.list(folder(root, in)));
    for (const std::size_t i : files_in(in)) {
      const auto removed = work.operation([&] { return work.remove(file(root, i, owner).path); });
      if (!removed) return removed;
    }
    TRY(work.remove_folder(folder(root, in)));
  }
  return {};
}

}  // namespace headcrash::timed
