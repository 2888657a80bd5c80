// Tests the oracle with a file system that keeps its promises and nothing more (reference_model.h).
// The oracle must accept every tree that a cut produces. After the tree has been damaged, the
// oracle must reject it, for every class of damage. The judge for many trees (repeated_judge.h)
// must return the same findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <vector>

#include "harness/oracle/oracle.h"
#include "harness/oracle/repeated_judge.h"
#include "harness/oracle/testing/reference_model.h"
#include "harness/workload/random_operations.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::oracle {
namespace {

using workload::Operation;
using Tree = std::vector<ObservedObject>;

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings)
    text += std::string(name(f.kind)) + " " + f.path + ": expected " + f.expected + ", found " +
            f.found + "\n";
  return text;
}

/// Returns a list that does not change the files of one directory after their creation, but makes
/// many changes elsewhere.
std::vector<Operation> quiet_and_busy(std::uint64_t seed) {
  using Kind = Operation::Kind;
  constexpr std::uint32_t kFirstFile = 900;
  std::vector<Operation> operations{{.kind = Kind::mkdir, .path = "quiet"}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::string path = "quiet/f" + std::to_string(i);
    operations.push_back({.kind = Kind::create, .path = path});
    operations.push_back({.kind = Kind::write,
                          .path = path,
                          .length = 700 + 512 * i,
                          .file = kFirstFile + i,
                          .version = 1});
  }
  operations.push_back({.kind = Kind::symlink, .path = "quiet/link", .target = "f0"});
  operations.push_back({.kind = Kind::sync});
  workload::RandomOptions busy{
      .seed = seed, .rounds = 46, .directories = 2, .names = 3, .largest_blocks = 6};
  for (const Kind kind :
       {Kind::rename_whiteout, Kind::chmod, Kind::chown, Kind::touch, Kind::access})
    busy.weights.at(static_cast<std::size_t>(kind)) = 2;
  for (const Kind kind : {Kind::store, Kind::msync, Kind::sync_range})
    busy.weights.at(static_cast<std::size_t>(kind)) = 3;
  for (const Kind kind : {Kind::remount, Kind::remount_read_only, Kind::freeze, Kind::evict,
                          Kind::mknod, Kind::flags, Kind::write_direct_dsync, Kind::write_uring})
    busy.weights.at(static_cast<std::size_t>(kind)) = 1;
  busy.any_byte = seed % 3 == 0;
  // Half of the lists move and share ranges, and therefore need larger files.
  if (seed % 2 == 0) {
    busy.largest_blocks = 24;
    for (const Kind kind : {Kind::collapse, Kind::insert, Kind::clone, Kind::dedupe})
      busy.weights.at(static_cast<std::size_t>(kind)) = 5;
  }
  for (Operation& operation : workload::random_operations(busy))
    operations.push_back(std::move(operation));
  return operations;
}

struct Laboratory {
  Laboratory(std::uint64_t seed, const adapters::Promises& of)
      : promises(of),
        operations(quiet_and_busy(seed)),
        files(operations, promises),
        oracle(Oracle::follow(operations, {.promises = promises}).value()),
        repeated(oracle),
        random(seed * 7919) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (workload::is_persistence_point(operations[i])) points.push_back(i);
    }
  }

  ReferenceModel::Cut draw_cut() {
    const std::size_t next = random() % points.size();
    ReferenceModel::Cut cut{.persisted = std::nullopt, .reached = points[next]};
    if (next > 0) cut.persisted = points[next - 1];
    return cut;
  }

  std::vector<Finding> judge(const ReferenceModel::Cut& cut, const Tree& tree) {
    std::vector<SeenObject> seen;
    for (const ObservedObject& object : tree)
      seen.push_back({&object, digest_of(object), repeated.lone_name(object.path)});
    std::vector<Finding> findings = oracle.judge(cut.persisted, tree);
    EXPECT_EQ(text_of(findings), text_of(repeated.judge(cut.persisted, seen)));
    return findings;
  }

  adapters::Promises promises;
  std::vector<Operation> operations;
  ReferenceModel files;
  Oracle oracle;
  RepeatedJudge repeated;
  std::mt19937_64 random;
  std::vector<std::size_t> points;
};

std::string shown(const Laboratory& lab, const ReferenceModel::Cut& cut, const Tree& tree) {
  std::string text;
  for (std::size_t i = 0; i <= cut.reached; ++i)
    text += std::to_string(i) + (i == cut.persisted ? " P " : "   ") +
            workload::format(lab.operations[i]) + "\n";
  for (const ObservedObject& object : tree) {
    text += object.path + " inode " + std::to_string(object.inode) + " links " +
            std::to_string(object.links) + " size " + std::to_string(object.size_bytes) + "\n";
  }
  return text;
}

const std::vector<adapters::Promises> kKindsOfFileSystem{
    {},
    {.fsync_keeps_name = true, .keeps_allocation = true},
    {.fsync_keeps_name = true, .fsync_keeps_links = true, .keeps_allocation = true},
    {.fsync_keeps_name = true, .fsync_keeps_moved_path = true},
    {.fsync_keeps_name = true,
     .names = adapters::NameOrder::ordered,
     .passing_names = {".exchanged-"}},
    {.fsync_keeps_name = true,
     .fsync_keeps_moved_path = true,
     .names = adapters::NameOrder::ordered,
     .passing_names = {".exchanged-"}}};
/// Promises that permit most kinds of damage.
const std::vector<adapters::Promises> kKindsWithoutOrder{
    {.names = adapters::NameOrder::unordered, .exposes_stale_data = true},
    {.fsync_persists = false, .fsync_keeps_name = true, .fsync_keeps_links = true},
    {.fsync_keeps_new_name = true, .names = adapters::NameOrder::unordered},
    {.fsync_keeps_name = true,
     .names = adapters::NameOrder::ordered,
     .exposes_stale_data = true,
     .passing_names = {".exchanged-"}}};

std::uint64_t cut_seeds() {
  return number_from_environment("HEADCRASH_CUT_SEEDS", 15);
}

TEST(SimulatedCuts, AcceptsAFileSystemThatKeepsItsPromises) {
  for (std::uint64_t seed = 1; seed <= cut_seeds(); ++seed) {
    std::vector<adapters::Promises> kinds = kKindsOfFileSystem;
    kinds.insert(kinds.end(), kKindsWithoutOrder.begin(), kKindsWithoutOrder.end());
    for (const adapters::Promises& promises : kinds) {
      Laboratory lab(seed, promises);
      for (int i = 0; i < 20; ++i) {
        const ReferenceModel::Cut cut = lab.draw_cut();
        const Tree tree = lab.files.tree_after(cut, lab.random);
        const std::vector<Finding> findings = lab.judge(cut, tree);
        ASSERT_TRUE(findings.empty())
            << "seed " << seed << " name " << promises.fsync_keeps_name << " cut " << i << "\n"
            << text_of(findings) << shown(lab, cut, tree);
      }
    }
  }
}

/// Damages the tree. Returns false if damage of this kind is impossible after this cut.
using Damage = std::function<bool(Laboratory&, const ReferenceModel::Cut&, Tree&)>;

ObservedObject* find(Tree& tree, const std::string& path) {
  const auto at = std::find_if(tree.begin(), tree.end(),
                               [&](const ObservedObject& o) { return o.path == path; });
  return at == tree.end() ? nullptr : &*at;
}

void remove_below(Tree& tree, const std::string& path) {
  std::erase_if(tree, [&](const ObservedObject& o) {
    return o.path == path || o.path.starts_with(path + "/");
  });
}

/// Returns a random object that must be found under its name. If `with_content` is true, the
/// contents of the object must be determined, too. Returns null if there is no such object.
ObservedObject* pinned_file(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree,
                            FileType type, bool with_content) {
  std::vector<ObservedObject*> found;
  for (const auto& pinned : lab.files.pinned_names(cut)) {
    ObservedObject* object = find(tree, pinned.path);
    if (!pinned.file || object == nullptr || object->type != type) continue;
    if (with_content && (!lab.files.data_is_pinned(*pinned.file, cut) || object->runs.empty()))
      continue;
    found.push_back(object);
  }
  return found.empty() ? nullptr : found[lab.random() % found.size()];
}

ContentRun* stamped_run(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ObservedObject* file = pinned_file(lab, cut, tree, FileType::regular, true);
  if (file == nullptr) return nullptr;
  std::vector<ContentRun*> runs;
  for (ContentRun& run : file->runs) {
    if (run.kind == ContentRun::Kind::stamp) runs.push_back(&run);
  }
  return runs.empty() ? nullptr : runs[lab.random() % runs.size()];
}

bool lose_name(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  std::vector<std::string> paths;
  for (const auto& pinned : lab.files.pinned_names(cut)) {
    if (pinned.file) paths.push_back(pinned.path);
  }
  if (paths.empty()) return false;
  remove_below(tree, paths[lab.random() % paths.size()]);
  return true;
}

bool resurrect_name(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  for (const auto& pinned : lab.files.pinned_names(cut)) {
    if (pinned.file || !pinned.before) continue;
    tree.push_back({.path = pinned.path, .inode = 9999, .links = 1});
    return true;
  }
  return false;
}

/// Undoes a synced rename that replaced a file: the old file appears under the name again.
bool undo_replacement(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  for (const auto& pinned : lab.files.pinned_names(cut)) {
    if (!pinned.file || !pinned.before || *pinned.before == *pinned.file) continue;
    ObservedObject* now = find(tree, pinned.path);
    if (now == nullptr || now->type != FileType::regular || now->runs.empty()) continue;
    const auto stamped = std::any_of(now->runs.begin(), now->runs.end(), [](const ContentRun& run) {
      return run.kind == ContentRun::Kind::stamp;
    });
    if (!stamped) continue;
    for (ContentRun& run : now->runs) {
      if (run.kind == ContentRun::Kind::stamp) run.file += 1;
    }
    return true;
  }
  return false;
}

bool lose_write(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ContentRun* run = stamped_run(lab, cut, tree);
  if (run == nullptr) return false;
  *run = {.first_block = run->first_block, .blocks = 1};
  return true;
}

bool show_stale_block(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ContentRun* run = stamped_run(lab, cut, tree);
  if (run == nullptr) return false;
  run->file = 4711;
  return true;
}

bool misplace_block(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ContentRun* run = stamped_run(lab, cut, tree);
  if (run == nullptr) return false;
  run->kind = ContentRun::Kind::moved;
  run->stamped_block = run->first_block + 1;
  return true;
}

bool show_an_older_version(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ContentRun* run = stamped_run(lab, cut, tree);
  if (run == nullptr || run->version < 2) return false;
  --run->version;
  return true;
}

bool spoil_bytes(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ContentRun* run = stamped_run(lab, cut, tree);
  if (run == nullptr) return false;
  *run = {.kind = ContentRun::Kind::foreign,
          .first_block = run->first_block,
          .blocks = 1,
          .head = std::vector<std::byte>(32, std::byte{0x5a})};
  return true;
}

bool shorten(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ObservedObject* file = pinned_file(lab, cut, tree, FileType::regular, true);
  if (file == nullptr) return false;
  file->size_bytes -= 1;
  return true;
}

bool lengthen(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ObservedObject* file = pinned_file(lab, cut, tree, FileType::regular, true);
  if (file == nullptr) return false;
  file->size_bytes += 512;
  return true;
}

bool miscount_links(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ObservedObject* file = pinned_file(lab, cut, tree, FileType::regular, false);
  if (file == nullptr) return false;
  file->links += 1;
  for (ObservedObject& other : tree) {
    if (other.inode == file->inode) other.links = file->links;
  }
  return true;
}

bool split_links(Laboratory&, const ReferenceModel::Cut&, Tree& tree) {
  for (ObservedObject& file : tree) {
    if (file.type != FileType::regular || file.links < 2 || file.runs.empty()) continue;
    if (file.runs[0].kind != ContentRun::Kind::stamp) continue;
    file.inode += 5000;
    file.links = 1;
    return true;
  }
  return false;
}

bool lose_attribute(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  for (const auto& pinned : lab.files.pinned_names(cut)) {
    ObservedObject* object = find(tree, pinned.path);
    if (!pinned.file || object == nullptr || object->attributes.empty()) continue;
    if (!lab.files.attributes_are_pinned(*pinned.file, cut)) continue;
    if (lab.random() % 2 == 0) {
      object->attributes.begin()->second += "x";
    } else {
      object->attributes.erase(object->attributes.begin());
    }
    return true;
  }
  return false;
}

/// Changes an inode field that is persistent and that no later operation sets.
template <typename Value>
bool change_fact(std::optional<Value> ObservedObject::* fact, Laboratory& lab,
                 const ReferenceModel::Cut& cut, Tree& tree) {
  for (const auto& pinned : lab.files.pinned_names(cut)) {
    ObservedObject* object = find(tree, pinned.path);
    if (!pinned.file || object == nullptr || !(object->*fact)) continue;
    if (!lab.files.attributes_are_pinned(*pinned.file, cut)) continue;
    ++*(object->*fact);
    return true;
  }
  return false;
}

bool change_mode(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  return change_fact(&ObservedObject::mode, lab, cut, tree);
}

bool change_owner(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  return change_fact(&ObservedObject::user, lab, cut, tree);
}

bool give_room_back(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  if (!lab.promises.keeps_allocation) return false;
  for (const auto& pinned : lab.files.pinned_names(cut)) {
    ObservedObject* object = find(tree, pinned.path);
    if (!pinned.file || object == nullptr || object->type != FileType::regular) continue;
    const std::uint64_t least = lab.files.bytes_that_stay_allocated(*pinned.file, cut);
    if (least == 0) continue;
    object->allocated_bytes = least - 512;
    return true;
  }
  return false;
}

bool retarget_symlink(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ObservedObject* link = pinned_file(lab, cut, tree, FileType::symlink, false);
  if (link == nullptr) return false;
  link->link_target = lab.random() % 2 == 0 ? "" : "elsewhere";
  return true;
}

bool change_type(Laboratory& lab, const ReferenceModel::Cut& cut, Tree& tree) {
  ObservedObject* file = pinned_file(lab, cut, tree, FileType::regular, false);
  if (file == nullptr) return false;
  file->type = FileType::directory;
  return true;
}

bool invent_name(Laboratory&, const ReferenceModel::Cut&, Tree& tree) {
  tree.push_back({.path = "never", .inode = 9999, .links = 1});
  return true;
}

struct NamedDamage {
  const char* name;
  Damage damage;
};
void PrintTo(const NamedDamage& damage, std::ostream* out) {
  *out << damage.name;
}

class SimulatedDamage : public testing::TestWithParam<NamedDamage> {};

TEST_P(SimulatedDamage, IsDetected) {
  constexpr int kEnough = 10;
  constexpr std::uint64_t kSeedsForARareDamage = 160;
  int done = 0;
  const auto wanted = [&](std::uint64_t seed) {
    return seed <= cut_seeds() || (done <= kEnough && seed <= kSeedsForARareDamage);
  };
  for (std::uint64_t seed = 1; wanted(seed); ++seed) {
    const adapters::Promises promises = kKindsOfFileSystem[seed % kKindsOfFileSystem.size()];
    Laboratory lab(seed, promises);
    for (int i = 0; i < 20; ++i) {
      const ReferenceModel::Cut cut = lab.draw_cut();
      Tree tree = lab.files.tree_after(cut, lab.random);
      const Tree whole = tree;
      if (!GetParam().damage(lab, cut, tree)) continue;
      ++done;
      lab.judge(cut, whole);
      ASSERT_FALSE(lab.judge(cut, tree).empty()) << "seed " << seed << " cut " << i << "\n"
                                                 << shown(lab, cut, tree);
    }
  }
  EXPECT_GT(done, kEnough) << "the damage was possible in too few cases";
}

INSTANTIATE_TEST_SUITE_P(
    All, SimulatedDamage,
    testing::Values(
        NamedDamage{"LostName", lose_name}, NamedDamage{"Resurrected", resurrect_name},
        NamedDamage{"LostReplacement", undo_replacement}, NamedDamage{"LostWrite", lose_write},
        NamedDamage{"StaleBlock", show_stale_block}, NamedDamage{"Misplaced", misplace_block},
        NamedDamage{"OlderVersion", show_an_older_version}, NamedDamage{"Spoilt", spoil_bytes},
        NamedDamage{"Shorter", shorten}, NamedDamage{"Longer", lengthen},
        NamedDamage{"LinkCount", miscount_links}, NamedDamage{"SplitLinks", split_links},
        NamedDamage{"Attribute", lose_attribute}, NamedDamage{"Symlink", retarget_symlink},
        NamedDamage{"Mode", change_mode}, NamedDamage{"Owner", change_owner},
        NamedDamage{"Allocation", give_room_back}, NamedDamage{"Type", change_type},
        NamedDamage{"Invented", invent_name}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// Objects with equal digests share their findings, so the digest must depend on every field.
TEST(RepeatedJudge, DigestsDifferIfAnyFieldDiffers) {
  ObservedObject plain{.path = "a", .type = FileType::regular, .inode = 3, .links = 1};
  plain.size_bytes = 512;
  plain.runs = {{.kind = ContentRun::Kind::foreign,
                 .first_block = 1,
                 .blocks = 1,
                 .head = std::vector<std::byte>(32)}};
  plain.attributes["user.a"] = "v";
  const std::vector<std::function<void(ObservedObject&)>> changes{
      [](ObservedObject& o) { o.path = "b"; },
      [](ObservedObject& o) { o.link_target = "t"; },
      [](ObservedObject& o) { o.type = FileType::symlink; },
      [](ObservedObject& o) { o.cut = true; },
      [](ObservedObject& o) { o.attributes_cut = true; },
      [](ObservedObject& o) { o.error = EIO; },
      [](ObservedObject& o) { o.links = 2; },
      [](ObservedObject& o) { o.inode = 4; },
      [](ObservedObject& o) { o.size_bytes = 513; },
      [](ObservedObject& o) { o.attributes["user.a"] = "w"; },
      [](ObservedObject& o) { o.mode = 0; },
      [](ObservedObject& o) { o.user = 0; },
      [](ObservedObject& o) { o.group = 0; },
      [](ObservedObject& o) { o.flags = 0; },
      [](ObservedObject& o) { o.project = 0; },
      [](ObservedObject& o) { o.allocated_bytes = 0; },
      [](ObservedObject& o) { o.modified_seconds = 0; },
      [](ObservedObject& o) { o.accessed_seconds = 0; },
      [](ObservedObject& o) { o.born_seconds = 0; },
      [](ObservedObject& o) { o.runs[0].kind = ContentRun::Kind::zero; },
      [](ObservedObject& o) { o.runs[0].first_block = 2; },
      [](ObservedObject& o) { o.runs[0].blocks = 2; },
      [](ObservedObject& o) { o.runs[0].file = 1; },
      [](ObservedObject& o) { o.runs[0].version = 1; },
      [](ObservedObject& o) { o.runs[0].stamped_block = 1; },
      [](ObservedObject& o) { o.runs[0].head[31] = std::byte{1}; },
      [](ObservedObject& o) { o.runs[0].digest = 1; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ObservedObject changed = plain;
    changes[i](changed);
    EXPECT_NE(digest_of(changed), digest_of(plain)) << "change " << i;
  }
}

}  // namespace
}  // namespace headcrash::oracle
