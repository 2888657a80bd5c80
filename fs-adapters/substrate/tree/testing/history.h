#pragma once
// Random operations for testing any file system. A single user works in a separate directory, whose
// contents are compared with a reference. If several users share a directory, their operations
// conflict and the contents cannot be predicted. Only the structure of the file system is checked
// then.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "fs-adapters/substrate/os/fiber_schedule.h"
#include "fs-adapters/vfs.h"

namespace headcrash::tree::bench {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

enum class Fsync : std::uint8_t { no, yes };

inline void put_file(Vfs& vfs, std::string_view path, std::string_view text,
                     Fsync fsync = Fsync::no) {
  const auto file = vfs.open(path, {.create = true});
  ASSERT_TRUE(file) << path << ": " << file.error().value;
  EXPECT_TRUE(vfs.pwrite(*file, 0, bytes_of(text))) << path;
  if (fsync == Fsync::yes) {
    EXPECT_TRUE(vfs.fsync(*file)) << path;
  }
  EXPECT_TRUE(vfs.close(*file));
}

inline std::string get_file(Vfs& vfs, std::string_view path) {
  const auto file = vfs.open(path, {});
  if (!file) return "(error " + std::to_string(file.error().value) + ")";
  std::string text(1 << 20, '?');
  const auto got = vfs.pread(*file, 0, std::as_writable_bytes(std::span(text.data(), text.size())));
  EXPECT_TRUE(got) << path;
  EXPECT_TRUE(vfs.close(*file));
  text.resize(got.value_or(0));
  return text;
}

/// Returns the schedule for a test with several users. If the seed is even, a random schedule
/// changes the order of fibers many times. If the seed is odd, fibers run in FIFO order.
inline os::FiberScheduleOptions schedule_of(std::uint32_t seed) {
  constexpr std::uint32_t kChanges = 200;
  if (seed % 2 != 0) return {};
  return {.seed = seed, .changes = kChanges, .hold_ns_max = model::kSecondNs / 10};
}

/// Reference file system: a map from names to nodes.
struct Node {
  FileType type = FileType::regular;
  std::string text;  ///< contents, or the target of a symbolic link
  std::map<std::string, std::shared_ptr<Node>> names;
};

class Reference {
 public:
  using Place = std::pair<std::shared_ptr<Node>, std::string>;

  std::shared_ptr<Node> root() const { return root_; }
  std::shared_ptr<Node> find(const std::string& path) const {
    const Place place = parent(path);
    if (!place.first || place.first->type != FileType::directory) return nullptr;
    const auto at = place.first->names.find(place.second);
    return at == place.first->names.end() ? nullptr : at->second;
  }
  Place parent(const std::string& path) const {
    std::shared_ptr<Node> at = root_;
    std::size_t from = 0;
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', from)) {
      const auto next = at->names.find(path.substr(from, slash - from));
      if (next == at->names.end() || next->second->type != FileType::directory) return {};
      at = next->second;
      from = slash + 1;
    }
    return {at, path.substr(from)};
  }
  static bool contains(const Node& above, const Node* below) {
    if (&above == below) return true;
    for (const auto& [name, node] : above.names)
      if (contains(*node, below)) return true;
    return false;
  }

 private:
  std::shared_ptr<Node> root_ = std::make_shared<Node>(Node{.type = FileType::directory});
};

class User {
 public:
  User(Vfs& fs, std::string folder, std::uint32_t seed)
      : fs_(&fs), folder_(std::move(folder)), random_(seed) {}

  void live(int steps) {
    ASSERT_TRUE(fs_->mkdir(folder_, 0755));
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    if (!testing::Test::HasFailure()) compare();
  }

  void compare() { compare_folder(*reference_.root(), folder_); }
  void moves_to(Vfs& fs) { fs_ = &fs; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  std::string some_path() {
    std::string path = "n" + std::to_string(below(9));
    if (below(3) == 0) path = "n" + std::to_string(below(4)) + "/" + path;
    if (below(9) == 0) path = "n" + std::to_string(below(4)) + "/" + path;
    return path;
  }
  std::string real(const std::string& path) const { return folder_ + "/" + path; }

  template <typename T>
  void expect(const VfsResult<T>& got, int error, const std::string& what) {
    EXPECT_EQ(got ? 0 : got.error().value, error) << what;
  }

  void step() {
    const std::string path = some_path();
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return write(path);
      case 3:
        return make_folder(path);
      case 4:
      case 5:
        return remove(path);
      case 6:
        return move(path, some_path());
      case 7:
        return cut(path);
      case 8:
        return link(path, some_path());
      case 9:
        return make_symlink(path);
      case 10:
        return sync(path);
      default:
        return read(path);
    }
  }

  void write(const std::string& path) {
    const auto [folder, name] = reference_.parent(path);
    const auto node = reference_.find(path);
    if (node && node->type == FileType::symlink) return;
    const auto file = fs_->open(real(path), {.create = true});
    const int error = !folder                                     ? not_there(path)
                      : node && node->type == FileType::directory ? EISDIR
                                                                  : 0;
    expect(file, error, "create " + path);
    if (!file || error != 0) return;
    auto& at = folder->names[name];
    if (!at) at = std::make_shared<Node>();
    const std::size_t length =
        static_cast<std::size_t>(below(4) == 0 ? below(60'000) : below(3'000));
    const std::size_t offset =
        below(2) == 0 ? at->text.size()
                      : static_cast<std::size_t>(below(below(5) == 0 ? 90'000 : 5'000));
    const std::string data(length, static_cast<char>('a' + below(26)));
    expect(fs_->pwrite(*file, offset, bytes_of(data)), 0, "write " + path);
    if (length != 0) {
      if (at->text.size() < offset + length) at->text.resize(offset + length);
      at->text.replace(offset, length, data);
    }
    if (below(6) == 0) expect(fs_->fsync(*file), 0, "fsync " + path);
    expect(fs_->close(*file), 0, "close");
  }

  /// Returns the expected error for a path whose directory does not exist.
  int not_there(const std::string& path) const {
    std::shared_ptr<Node> at = reference_.root();
    std::size_t from = 0;
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', from)) {
      const auto next = at->names.find(path.substr(from, slash - from));
      if (next == at->names.end()) return ENOENT;
      // In this test, the targets of symbolic links do not exist.
      if (next->second->type == FileType::symlink) return ENOENT;
      if (next->second->type != FileType::directory) return ENOTDIR;
      at = next->second;
      from = slash + 1;
    }
    return 0;
  }

  void make_folder(const std::string& path) {
    const auto [folder, name] = reference_.parent(path);
    const int error = !folder ? not_there(path) : folder->names.contains(name) ? EEXIST : 0;
    expect(fs_->mkdir(real(path), 0755), error, "mkdir " + path);
    if (error == 0) folder->names[name] = std::make_shared<Node>(Node{.type = FileType::directory});
  }

  void remove(const std::string& path) {
    const auto [folder, name] = reference_.parent(path);
    const auto node = reference_.find(path);
    if (!node)
      return expect(fs_->unlink(real(path)), folder ? ENOENT : not_there(path), "unlink " + path);
    if (node->type == FileType::directory)
      expect(fs_->rmdir(real(path)), node->names.empty() ? 0 : ENOTEMPTY, "rmdir " + path);
    else
      expect(fs_->unlink(real(path)), 0, "unlink " + path);
    if (node->names.empty()) folder->names.erase(name);
  }

  void move(const std::string& from, const std::string& to) {
    const auto source = reference_.find(from);
    const auto target = reference_.find(to);
    const auto [from_folder, from_name] = reference_.parent(from);
    const auto [to_folder, to_name] = reference_.parent(to);
    if (!from_folder || !to_folder || !source) {
      EXPECT_FALSE(fs_->rename(real(from), real(to), RenameMode::replace)) << from << " " << to;
      return;
    }
    const bool exchange = target != nullptr && below(2) == 0;
    const auto got =
        fs_->rename(real(from), real(to), exchange ? RenameMode::exchange : RenameMode::replace);
    const bool same = source == target;
    bool possible = same || !Reference::contains(*source, to_folder.get());
    if (target && !same) {
      const bool both =
          (source->type == FileType::directory) == (target->type == FileType::directory);
      if (exchange)
        possible = possible && !Reference::contains(*target, from_folder.get());
      else
        possible = possible && both && target->names.empty();
    }
    EXPECT_EQ(got.has_value(), possible)
        << "rename " << from << " " << to << (exchange ? " exchange" : "");
    if (!got || same) return;
    to_folder->names[to_name] = source;
    if (exchange)
      from_folder->names[from_name] = target;
    else
      from_folder->names.erase(from_name);
  }

  void cut(const std::string& path) {
    const auto node = reference_.find(path);
    if (!node || node->type != FileType::regular) return;
    const auto file = fs_->open(real(path), {});
    expect(file, 0, "open " + path);
    if (!file) return;
    const std::size_t at =
        static_cast<std::size_t>(below(static_cast<int>(node->text.size()) + 6'000));
    if (below(3) == 0) {
      const std::size_t length = static_cast<std::size_t>(1 + below(20'000));
      expect(fs_->fallocate(*file, FallocateMode::punch_hole, at, length), 0, "punch " + path);
      for (std::size_t i = at; i < std::min(at + length, node->text.size()); ++i)
        node->text[i] = '\0';
    } else {
      expect(fs_->truncate(*file, at), 0, "truncate " + path);
      node->text.resize(at);
    }
    expect(fs_->close(*file), 0, "close");
  }

  void link(const std::string& from, const std::string& to) {
    const auto node = reference_.find(from);
    const auto [folder, name] = reference_.parent(to);
    if (!node || node->type != FileType::regular || !folder) return;
    expect(fs_->link(real(from), real(to)), folder->names.contains(name) ? EEXIST : 0,
           "link " + to);
    folder->names.emplace(name, node);
  }

  void make_symlink(const std::string& path) {
    const auto [folder, name] = reference_.parent(path);
    if (!folder || folder->names.contains(name)) return;
    const std::string target(static_cast<std::size_t>(1 + below(150)), 'z');
    expect(fs_->symlink(target, real(path)), 0, "symlink " + path);
    folder->names[name] = std::make_shared<Node>(Node{.type = FileType::symlink, .text = target});
  }

  void sync(const std::string& path) {
    if (below(4) == 0) return expect(fs_->sync(), 0, "sync");
    const auto node = reference_.find(path);
    if (node && node->type == FileType::directory)
      expect(fs_->fsync_directory(real(path)), 0, "fsync " + path);
  }

  void read(const std::string& path) {
    const auto node = reference_.find(path);
    if (!node || node->type != FileType::regular) return;
    EXPECT_EQ(get_file(*fs_, real(path)) == node->text, true) << path;
  }

  void compare_folder(const Node& node, const std::string& path) {
    const auto listed = fs_->list(path);
    ASSERT_TRUE(listed) << path;
    EXPECT_EQ(listed->size(), node.names.size()) << path;
    for (const auto& [name, child] : node.names) {
      const std::string at = path + "/" + name;
      const auto status = fs_->stat(at);
      ASSERT_TRUE(status) << at;
      EXPECT_EQ(status->type, child->type) << at;
      if (child->type == FileType::directory) compare_folder(*child, at);
      if (child->type == FileType::symlink) {
        EXPECT_EQ(fs_->readlink(at).value_or("?"), child->text) << at;
      }
      if (child->type == FileType::regular) {
        EXPECT_EQ(status->size_bytes, child->text.size()) << at;
        const std::string text = get_file(*fs_, at);
        const auto differs =
            std::mismatch(text.begin(), text.end(), child->text.begin(), child->text.end());
        EXPECT_TRUE(text == child->text)
            << at << " of " << text.size() << " bytes, from " << differs.first - text.begin();
      }
    }
  }

  Vfs* fs_;
  std::string folder_;
  std::mt19937 random_;
  Reference reference_;
};

/// Runs several users whose operations conflict in one directory. The result is unpredictable, but
/// the file system must remain sound.
inline void quarrel(Vfs& fs, std::uint32_t seed, int steps) {
  std::mt19937 random(seed);
  const auto path = [&] {
    std::string name = "shared/" + std::to_string(random() % 6);
    if (random() % 2 == 0) name += "/" + std::to_string(random() % 4);
    return name;
  };
  for (int i = 0; i < steps; ++i) {
    switch (random() % 7) {
      case 0:
      case 1:
        if (const auto file = fs.open(path(), {.create = true})) {
          (void)fs.append(*file, bytes_of(std::string(random() % 5'000, 'q')));
          (void)fs.close(*file);
        }
        break;
      case 2:
        (void)fs.mkdir(path(), 0755);
        break;
      case 3:
        (void)fs.unlink(path());
        break;
      case 4:
        (void)fs.rmdir(path());
        break;
      case 5:
        (void)fs.rename(path(), path(),
                        random() % 3 == 0 ? RenameMode::exchange : RenameMode::replace);
        break;
      default:
        (void)fs.link(path(), path());
        break;
    }
  }
}

}  // namespace headcrash::tree::bench
