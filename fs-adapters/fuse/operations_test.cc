// Tests the FUSE operation table with raw requests, on an in-memory UFS.
#include "fs-adapters/fuse/operations.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstring>
#include <map>

#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::fuse {
namespace {

using Bytes = std::string;

template <typename Part>
Bytes bytes_of(const Part& part) {
  return {reinterpret_cast<const char*>(&part), sizeof part};
}
Bytes text_of(const std::string& text) {
  return text + '\0';
}

struct Answer {
  int error = -1;  ///< an errno value; 0 if there was no error
  Bytes bytes;
  template <typename Part>
  Part as() const {
    Part part = {};
    EXPECT_GE(bytes.size(), sizeof part);
    std::memcpy(&part, bytes.data(), std::min(bytes.size(), sizeof part));
    return part;
  }
};

/// Plays the part of the kernel: sends raw requests to the operation table and stores the last
/// reply.
class Kernel : public Service {
 public:
  explicit Kernel(ufs::bench::Mounted& machine)
      : Service{.vfs = *machine.file_system,
                .now_ns = [] { return std::int64_t{5'000'000'000}; },
                .unmount = [this] { ++unmounts; },
                .write_back_cache = false,
                .nodes = {}},
        machine_(machine) {
    machine.as_user([&] { EXPECT_TRUE(find_root(*this)); });
    char name[] = "test";
    char* argv[] = {name};
    fuse_args arguments = FUSE_ARGS_INIT(1, argv);
    const fuse_lowlevel_ops table = operation_table();
    session_ = fuse_session_new(&arguments, &table, sizeof table, static_cast<Service*>(this));
    fuse_opt_free_args(&arguments);
    const fuse_custom_io io{
        .writev = keep, .read = nothing, .splice_receive = nullptr, .splice_send = nullptr};
    EXPECT_EQ(fuse_session_custom_io(session_, &io, ::open("/dev/null", O_RDWR | O_CLOEXEC)), 0);
    EXPECT_EQ(
        ask(FUSE_INIT, 0, bytes_of(fuse_init_in{.major = 7, .minor = 31, .max_readahead = 4096}))
            .error,
        0);
  }
  ~Kernel() { fuse_session_destroy(session_); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  Answer ask(std::uint32_t opcode, std::uint64_t node, const Bytes& arguments) {
    const fuse_in_header header{
        .len = static_cast<std::uint32_t>(sizeof(fuse_in_header) + arguments.size()),
        .opcode = opcode,
        .unique = ++asked_,
        .nodeid = node};
    Bytes request = bytes_of(header) + arguments;
    const fuse_buf buffer{
        .size = request.size(), .flags = {}, .mem = request.data(), .fd = -1, .pos = 0};
    last_ = {};
    machine_.as_user([&] { fuse_session_process_buf(session_, &buffer); });
    return last_;
  }

  std::uint64_t lookup(std::uint64_t parent, const std::string& name) {
    const Answer answer = ask(FUSE_LOOKUP, parent, text_of(name));
    return answer.error == 0 ? answer.as<fuse_entry_out>().nodeid : 0;
  }
  std::uint64_t mkdir(std::uint64_t parent, const std::string& name) {
    return ask(FUSE_MKDIR, parent, bytes_of(fuse_mkdir_in{.mode = 0755}) + text_of(name))
        .as<fuse_entry_out>()
        .nodeid;
  }
  struct Created {
    std::uint64_t node = 0, handle = 0;
  };
  Created create(std::uint64_t parent, const std::string& name, int flags = O_RDWR) {
    const Answer answer =
        ask(FUSE_CREATE, parent,
            bytes_of(fuse_create_in{.flags = static_cast<std::uint32_t>(flags | O_CREAT),
                                    .mode = S_IFREG | 0644}) +
                text_of(name));
    EXPECT_EQ(answer.error, 0) << name;
    EXPECT_EQ(answer.bytes.size(), sizeof(fuse_entry_out) + sizeof(fuse_open_out));
    fuse_open_out open = {};
    if (answer.bytes.size() >= sizeof(fuse_entry_out) + sizeof open)
      std::memcpy(&open, answer.bytes.data() + sizeof(fuse_entry_out), sizeof open);
    return {answer.as<fuse_entry_out>().nodeid, open.fh};
  }
  int write(const Created& file, std::uint64_t offset, const std::string& text, int flags = 0) {
    const fuse_write_in what{.fh = file.handle,
                             .offset = offset,
                             .size = static_cast<std::uint32_t>(text.size()),
                             .flags = static_cast<std::uint32_t>(flags)};
    return ask(FUSE_WRITE, file.node, bytes_of(what) + text).error;
  }
  std::string read(const Created& file) {
    return ask(FUSE_READ, file.node, bytes_of(fuse_read_in{.fh = file.handle, .size = 65536}))
        .bytes;
  }
  fuse_attr attributes(std::uint64_t node) {
    return ask(FUSE_GETATTR, node, bytes_of(fuse_getattr_in{})).as<fuse_attr_out>().attr;
  }
  int rename(std::uint64_t from, const std::string& name, std::uint64_t to,
             const std::string& new_name, std::uint32_t flags = 0) {
    return ask(FUSE_RENAME2, from,
               bytes_of(fuse_rename2_in{.newdir = to, .flags = flags}) + text_of(name) +
                   text_of(new_name))
        .error;
  }
  int release(const Created& file) {
    return ask(FUSE_RELEASE, file.node, bytes_of(fuse_release_in{.fh = file.handle})).error;
  }
  /// Returns the names and types in a directory. With `plus`, sends READDIRPLUS, which also looks
  /// up the names.
  std::map<std::string, std::uint32_t> list(std::uint64_t node, bool plus, std::uint32_t bytes) {
    const std::uint64_t handle =
        ask(FUSE_OPENDIR, node, bytes_of(fuse_open_in{})).as<fuse_open_out>().fh;
    std::map<std::string, std::uint32_t> names;
    for (std::uint64_t offset = 0;;) {
      const Answer part =
          ask(plus ? FUSE_READDIRPLUS : FUSE_READDIR, node,
              bytes_of(fuse_read_in{.fh = handle, .offset = offset, .size = bytes}));
      if (part.error != 0 || part.bytes.empty()) break;
      for (std::size_t at = 0; at < part.bytes.size();) {
        const std::size_t head = plus ? sizeof(fuse_entry_out) : 0;
        fuse_dirent entry = {};
        std::memcpy(&entry, part.bytes.data() + at + head, sizeof entry);
        names[part.bytes.substr(at + head + sizeof entry, entry.namelen)] = entry.type;
        EXPECT_NE(entry.ino, 0U);
        offset = entry.off;
        at += FUSE_DIRENT_ALIGN(head + sizeof entry + entry.namelen);
      }
    }
    EXPECT_EQ(ask(FUSE_RELEASEDIR, node, bytes_of(fuse_release_in{.fh = handle})).error, 0);
    return names;
  }

  int unmounts = 0;

 private:
  static ssize_t keep(int, iovec* parts, int count, void* service) {
    auto& kernel = *static_cast<Kernel*>(static_cast<Service*>(service));
    Bytes all;
    for (int i = 0; i < count; ++i)
      all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    fuse_out_header header = {};
    std::memcpy(&header, all.data(), sizeof header);
    EXPECT_EQ(header.unique, kernel.asked_);
    kernel.last_ = {.error = -header.error, .bytes = all.substr(sizeof header)};
    return static_cast<ssize_t>(all.size());
  }
  static ssize_t nothing(int, void*, std::size_t, void*) { return 0; }

  ufs::bench::Mounted& machine_;
  fuse_session* session_ = nullptr;
  std::uint64_t asked_ = 0;
  Answer last_;
};

class Operations : public testing::Test {
 protected:
  Operations() : machine(ufs::bench::setup_named("soft-updates")) {
    machine.mount();
    kernel.emplace(machine);
  }
  ufs::bench::Mounted machine;
  std::optional<Kernel> kernel;
};

TEST_F(Operations, AFileIsAccessibleByEachNameAndAfterUnlink) {
  Kernel& k = *kernel;
  const std::uint64_t d = k.mkdir(kRootNode, "d");
  const auto file = k.create(d, "a");
  EXPECT_EQ(k.write(file, 0, "hello"), 0);
  EXPECT_EQ(k.lookup(d, "a"), file.node);
  EXPECT_EQ(
      k.ask(FUSE_LINK, kRootNode, bytes_of(fuse_link_in{.oldnodeid = file.node}) + text_of("b"))
          .as<fuse_entry_out>()
          .nodeid,
      file.node);
  EXPECT_EQ(k.attributes(file.node).nlink, 2U);
  EXPECT_EQ(k.rename(kRootNode, "d", kRootNode, "e"), 0);
  EXPECT_EQ(k.lookup(d, "a"), file.node) << "the node number survives the rename";
  EXPECT_EQ(k.ask(FUSE_UNLINK, d, text_of("a")).error, 0);
  EXPECT_EQ(k.ask(FUSE_UNLINK, kRootNode, text_of("b")).error, 0);
  EXPECT_EQ(k.attributes(file.node).nlink, 0U);
  EXPECT_EQ(k.write(file, 5, " world"), 0);
  EXPECT_EQ(k.read(file), "hello world");
  EXPECT_EQ(k.ask(FUSE_FSYNC, file.node, bytes_of(fuse_fsync_in{.fh = file.handle})).error, 0);
  EXPECT_EQ(k.release(file), 0);
  machine.as_user([&] { EXPECT_TRUE(machine.file_system->sync()); });
  EXPECT_EQ(k.ask(FUSE_GETATTR, file.node, bytes_of(fuse_getattr_in{})).error, ESTALE);
  const auto successor = k.create(d, "c");
  EXPECT_NE(successor.node, file.node);
  k.ask(FUSE_FORGET, file.node, bytes_of(fuse_forget_in{.nlookup = 4}));
  EXPECT_FALSE(k.nodes.find(file.node));
  EXPECT_TRUE(k.nodes.find(successor.node));
}

TEST_F(Operations, SupportsAllRenameModes) {
  Kernel& k = *kernel;
  const auto a = k.create(kRootNode, "a");
  const auto b = k.create(kRootNode, "b");
  constexpr std::uint32_t kNoReplace = 1, kExchange = 2, kWhiteout = 4;
  EXPECT_EQ(k.rename(kRootNode, "a", kRootNode, "b", kNoReplace), EEXIST);
  EXPECT_EQ(k.rename(kRootNode, "a", kRootNode, "b", kExchange), 0);
  EXPECT_EQ(k.lookup(kRootNode, "a"), b.node);
  EXPECT_EQ(k.lookup(kRootNode, "b"), a.node);
  EXPECT_EQ(k.rename(kRootNode, "a", kRootNode, "x", kWhiteout), EINVAL);
  EXPECT_EQ(k.rename(kRootNode, "none", kRootNode, "x"), ENOENT);
  EXPECT_EQ(k.rename(4711, "a", kRootNode, "x"), ESTALE);
  EXPECT_EQ(k.rename(kRootNode, "a", kRootNode, "b"), 0);
  EXPECT_EQ(k.ask(FUSE_LOOKUP, kRootNode, text_of("a")).as<fuse_entry_out>().nodeid, 0U)
      << "cached as absent";
}

TEST_F(Operations, SetsSeveralAttributesAtOnce) {
  Kernel& k = *kernel;
  const auto file = k.create(kRootNode, "a");
  EXPECT_EQ(k.write(file, 0, "hello"), 0);
  const fuse_setattr_in wanted{
      .valid = FATTR_SIZE | FATTR_MODE | FATTR_UID | FATTR_ATIME | FATTR_MTIME | FATTR_MTIME_NOW,
      .size = 3,
      .atime = 7,
      .mtime = 9,
      .mode = S_IFREG | 0600,
      .uid = 12};
  const auto told = k.ask(FUSE_SETATTR, file.node, bytes_of(wanted)).as<fuse_attr_out>().attr;
  EXPECT_EQ(told.size, 3U);
  EXPECT_EQ(told.mode, S_IFREG | 0600U);
  EXPECT_EQ(told.uid, 12U);
  EXPECT_EQ(told.atime, 7U);
  EXPECT_EQ(told.mtime, 5U) << "now";
  EXPECT_EQ(k.read(file), "hel");
  const std::string target(300, 't');
  EXPECT_EQ(k.ask(FUSE_SYMLINK, kRootNode, text_of("s") + text_of(target)).error, 0);
  EXPECT_EQ(k.ask(FUSE_READLINK, k.lookup(kRootNode, "s"), "").bytes, target);
  EXPECT_EQ(
      k.ask(FUSE_MKNOD, kRootNode, bytes_of(fuse_mknod_in{.mode = S_IFIFO | 0600}) + text_of("p"))
          .error,
      EOPNOTSUPP);
  EXPECT_EQ(
      k.ask(FUSE_GETXATTR, file.node, bytes_of(fuse_getxattr_in{.size = 10}) + text_of("user.x"))
          .error,
      ENOSYS);
}

TEST_F(Operations, ListsDirectoriesInPartsOfAnySize) {
  Kernel& k = *kernel;
  const std::uint64_t d = k.mkdir(kRootNode, "d");
  for (int i = 0; i < 40; ++i) k.release(k.create(d, "name" + std::to_string(i)));
  k.mkdir(d, "folder");
  for (const std::uint32_t bytes : {300U, 4096U, 65536U}) {
    for (const bool plus : {false, true}) {
      const auto names = k.list(d, plus, bytes);
      EXPECT_EQ(names.size(), 43U) << bytes << " " << plus;
      EXPECT_TRUE(names.contains(".") && names.contains(".."));
      EXPECT_EQ(names.at("folder"), static_cast<std::uint32_t>(S_IFDIR >> 12));
      EXPECT_EQ(names.at("name7"), static_cast<std::uint32_t>(S_IFREG >> 12));
    }
  }
}

TEST_F(Operations, SynchronousWritesAreDurable) {
  Kernel& k = *kernel;
  const auto synced = k.create(kRootNode, "a", O_RDWR | O_SYNC);
  const auto plain = k.create(kRootNode, "b");
  machine.log.keep = true;
  EXPECT_EQ(k.write(plain, 0, "lazy"), 0);
  EXPECT_TRUE(machine.log.log.empty());
  EXPECT_EQ(k.write(synced, 0, "now"), 0);
  EXPECT_FALSE(machine.log.log.empty()) << "by the flags of open";
  machine.log.log.clear();
  EXPECT_EQ(k.write(plain, 0, "NOW", O_DSYNC), 0);
  EXPECT_FALSE(machine.log.log.empty()) << "by the write alone";
}

TEST_F(Operations, DestroyUnmountsTheFileSystem) {
  EXPECT_EQ(kernel->unmounts, 0);
  EXPECT_EQ(kernel->ask(FUSE_DESTROY, 0, "").error, 0);
  EXPECT_EQ(kernel->unmounts, 1);
}

}  // namespace
}  // namespace headcrash::fuse
