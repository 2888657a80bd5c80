// Comparisons with independent implementations. NetBSD's makefs (a Debian package) writes images
// that we read and check. dissect.ffs (a Python package that Debian lacks) reads our images. If a
// program is not installed, its tests are skipped.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "fs-adapters/ufs/fsck/fsck.h"
#include "fs-adapters/ufs/testing/tree.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/media/sparse_file_store.h"

namespace headcrash::ufs {
namespace {

std::unique_ptr<media::SparseFileStore> open_image(const std::filesystem::path& path) {
  auto store = media::SparseFileStore::open(path, std::filesystem::file_size(path) / kSectorBytes);
  EXPECT_TRUE(store) << store.error().message();
  return store ? std::move(*store) : nullptr;
}

std::uint64_t fnv(std::string_view data) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char byte : data) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return value;
}

std::string content(const ImageReader& reader, const ImageReader::Found& found) {
  if (found.inode.is_symlink()) return *reader.readlink(found.number);
  if (!found.inode.is_regular()) return {};
  std::string text(std::min<std::uint64_t>(found.inode.size_bytes, 1 << 20), '?');
  const auto count = reader.read(found.number, 0, std::as_writable_bytes(std::span(text)));
  EXPECT_TRUE(count) << count.error().message();
  return text;
}

/// Lists the tree in the same format as judge_dissect.py.
std::string describe(const model::SectorStore& store) {
  std::vector<std::string> lines;
  const auto reader = ImageReader::open(store);
  const auto walked = reader->walk([&](const ImageReader::Found& f) {
    lines.push_back(fmt::format("{} {} {} {} {:016x}\n",
                                f.inode.is_directory() ? 'd'
                                : f.inode.is_symlink() ? 'l'
                                                       : 'f',
                                f.path, f.inode.links, f.inode.size_bytes,
                                fnv(content(*reader, f))));
  });
  EXPECT_TRUE(walked) << walked.error().message();
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

/// Runs a shell command. Returns its exit code and its output.
std::pair<int, std::string> run(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {127, ""};
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.append(buffer, n);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, output};
}

TEST(Independent, FsckReadsImagesOfMakefsAndFindsThemClean) {
  const std::string makefs = run("PATH=$PATH:/usr/sbin command -v makefs").second;
  if (makefs.empty()) GTEST_SKIP() << "makefs is not installed";
  const TemporaryFolder folder;
  std::map<std::string, std::string> files;
  for (int i = 0; i < 120; ++i)
    files[fmt::format("many/file-{}", i)] = std::string(i * 211, static_cast<char>('a' + i % 26));
  files["large"] = TestTree::large_content();
  for (const auto& [name, bytes] : files) (void)folder.put("tree/" + name, bytes);
  std::filesystem::create_symlink("large", folder / "tree/short");
  std::filesystem::create_symlink(std::string(150, 'l'), folder / "tree/long");
  std::filesystem::create_hard_link(folder / "tree/large", folder / "tree/many/again");
  for (const auto& [block, fragment] : {std::pair{8192, 1024}, {4096, 512}, {16384, 2048}}) {
    const auto image = folder / fmt::format("{}.img", block);
    const auto [code, output] =
        run(fmt::format("PATH=$PATH:/usr/sbin makefs -t ffs -B le -s 8m -o "
                        "bsize={},fsize={},density=8192,version=1 {} {} 2>&1",
                        block, fragment, image.string(), (folder / "tree").string()));
    ASSERT_EQ(code, 0) << output;
    const auto store = open_image(image);
    const auto reader = ImageReader::open(*store);
    ASSERT_TRUE(reader) << reader.error().message();
    std::size_t seen = 0;
    ASSERT_TRUE(reader->walk([&](const ImageReader::Found& f) {
      if (f.inode.is_symlink()) {
        EXPECT_EQ(content(*reader, f), std::filesystem::read_symlink(folder / ("tree/" + f.path)));
        ++seen;
      } else if (f.inode.is_regular()) {
        EXPECT_TRUE(content(*reader, f) == files[f.path == "many/again" ? "large" : f.path])
            << f.path;
        ++seen;
      }
    }));
    EXPECT_EQ(seen, files.size() + 3);
    const auto report = Fsck().check(*store);
    ASSERT_TRUE(report) << report.error().message();
    for (const Finding& finding : report->findings) ADD_FAILURE() << block << ": " << finding.text;
  }
}

TEST(Independent, DissectReadsOurImages) {
  const char* const python = std::getenv("HEADCRASH_PYTHON");
  const std::string judge = HEADCRASH_UFS_JUDGE;
  const TemporaryFolder folder;
  for (const std::uint32_t block : {4096U, 8192U}) {
    // One of the two volumes also has a journal, which readers of the format may ignore.
    const TestTree tree(
        {.block_bytes = block,
         .fragment_bytes = block / 8,
         .bytes_per_inode = 4096,
         .group_bytes = 1 << 20,
         .journal_bytes = block == 4096 ? std::optional<std::uint64_t>(0) : std::nullopt});
    // dissect.ffs treats a hole in place of an indirect block (pointer 0) as a pointer to the boot
    // block. It therefore cannot read the file "holes", so remove this file from the directory.
    ImageWriter writer(*tree.store);
    const FragmentAddress root = writer.load(kRootInode).direct[0];
    auto names = writer.read(root, writer.geometry().fragment_bytes());
    tree::remove_entry(names, tree::find_entry(names, "holes")->offset);
    writer.write(root, names);
    const auto bytes = tree.bytes();
    const std::string image =
        folder.put("ufs.img", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const auto [code, output] =
        run(fmt::format("{} {} {}", python != nullptr ? python : "python3", judge, image));
    if (code == 77 || code == 127)
      GTEST_SKIP() << "no dissect.ffs; HEADCRASH_PYTHON names a python3 that has it";
    EXPECT_EQ(code, 0);
    EXPECT_EQ(output, describe(*tree.store));
  }
}

}  // namespace
}  // namespace headcrash::ufs
