// Reads symbol tables, and runs addr2line (source_place.h).
#include "harness/audit/source_place.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "plugin/base/process.h"

namespace headcrash::audit {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLookupLimit{20};
constexpr std::uintmax_t kObjectBytesMost = 1ULL << 30;

/// An ELF file. Accesses to its tables are bounds-checked.
class Object {
 public:
  static std::optional<Object> read(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kObjectBytesMost)
      return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    Object object;
    object.bytes_.assign(std::istreambuf_iterator<char>(file), {});
    const auto header = object.at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
    object.header_ = *header;
    return object;
  }

  /// Converts a file offset to a virtual address, because the symbol table contains addresses.
  std::optional<std::uint64_t> address_of(std::uint64_t offset) const {
    for (std::size_t i = 0; i < header_.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment && segment->p_type == PT_LOAD && offset >= segment->p_offset &&
          offset - segment->p_offset < segment->p_filesz)
        return segment->p_vaddr + offset - segment->p_offset;
    }
    return std::nullopt;
  }

  struct Symbol {
    std::string name;
    std::uint64_t offset = 0;
  };
  std::optional<Symbol> symbol_at(std::uint64_t address) const {
    std::optional<Symbol> found;
    each_function([&](const Elf64_Sym& symbol, std::uint64_t name) {
      if (address < symbol.st_value || address - symbol.st_value >= symbol.st_size) return true;
      found = Symbol{text(name), address - symbol.st_value};
      return false;
    });
    return found;
  }

  struct Function {
    std::uint64_t address = 0, size = 0;
  };
  using Functions = std::multimap<std::string, Function>;  ///< static functions may share a name
  Functions functions() const {
    Functions functions;
    each_function([&](const Elf64_Sym& symbol, std::uint64_t name) {
      functions.emplace(text(name), Function{symbol.st_value, symbol.st_size});
      return true;
    });
    return functions;
  }

 private:
  /// Calls `visit` for each function until `visit` returns false. The second argument is the file
  /// offset of the function's name.
  void each_function(const std::function<bool(const Elf64_Sym&, std::uint64_t)>& visit) const {
    for (std::size_t i = 0; i < header_.e_shnum; ++i) {
      const auto table = section(i);
      if (!table || (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM)) continue;
      const auto names = section(table->sh_link);
      if (!names) continue;
      for (std::uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
        const auto symbol = at<Elf64_Sym>(table->sh_offset + k * sizeof(Elf64_Sym));
        if (!symbol) break;
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            !visit(*symbol, names->sh_offset + symbol->st_name))
          return;
      }
    }
  }
  template <class Record>
  std::optional<Record> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Record)) return std::nullopt;
    Record record;
    std::memcpy(&record, bytes_.data() + offset, sizeof record);
    return record;
  }
  std::optional<Elf64_Shdr> section(std::size_t index) const {
    return at<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const char* const begin = bytes_.data() + offset;
    return {begin, ::strnlen(begin, bytes_.size() - offset)};
  }

  std::string bytes_;
  Elf64_Ehdr header_{};
};

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  std::string readable = status == 0 ? text.get() : name;
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = readable.find(kAnonymous, at)) != std::string::npos;)
    readable.erase(at, kAnonymous.size());
  return readable.substr(0, readable.find('('));
}

/// Queries addr2line(1) for the "FILE:LINE" of each address. The text is empty if addr2line does
/// not know the place.
std::vector<std::string> lines_of(const fs::path& object,
                                  const std::vector<std::uint64_t>& addresses) {
  std::vector<std::string> lines(addresses.size());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::tmpfile(), std::fclose);
  if (!output) return lines;
  std::vector<std::string> argv = {"addr2line", "-e", object.string()};
  for (const std::uint64_t address : addresses) argv.push_back(fmt::format("{:#x}", address));
  const auto process =
      base::Process::start({.argv = std::move(argv), .output = ::fileno(output.get())});
  if (!process || process->wait(kLookupLimit) != 0) return lines;
  std::rewind(output.get());
  std::string text(4096, '\0');
  for (std::string& line : lines) {
    if (std::fgets(text.data(), static_cast<int>(text.size()), output.get()) == nullptr) break;
    line = text.substr(0, text.find_first_of(" \n"));
    if (line.starts_with('?') || line.ends_with('?')) line.clear();
  }
  return lines;
}

/// A frame of a kernel's stack: "FUNCTION+0xOFFSET/0xSIZE [MODULE]".
struct KernelFrame {
  std::string function, module;
  std::uint64_t offset = 0, size = 0;
};

std::optional<KernelFrame> parse_kernel_frame(const std::string& text) {
  KernelFrame frame;
  const std::size_t plus = text.rfind('+');
  char module[64] = "";
  if (plus == std::string::npos ||
      std::sscanf(text.c_str() + plus, "+%lx/%lx [%63[^]]", &frame.offset, &frame.size, module) < 2)
    return std::nullopt;
  frame.function = text.substr(0, plus);
  frame.module = module;
  return frame;
}

/// Returns the function of a frame. The size that the kernel prints is the distance to the next
/// symbol, so it includes padding.
std::optional<Object::Function> function_of(const KernelFrame& frame,
                                            const Object::Functions& functions) {
  constexpr std::uint64_t kPaddingMost = 128;
  std::optional<Object::Function> best;
  const auto [first, last] = functions.equal_range(frame.function);
  for (auto each = first; each != last; ++each) {
    const Object::Function& function = each->second;
    const bool fits = frame.offset <= function.size && function.size <= frame.size &&
                      frame.size - function.size < kPaddingMost;
    if (fits && (!best || function.size > best->size)) best = function;
  }
  return best;
}

/// Returns true if the file may have the functions of a module, or of the kernel if `module` is
/// empty. The name of a module has underscores where its file's name may have hyphens.
bool is_file_of(const fs::path& file, const std::string& module) {
  std::string name = file.filename().string();
  name.resize(std::min(name.find('.'), name.size()));
  std::ranges::replace(name, '-', '_');
  const bool is_module = file.filename().string().find(".ko") != std::string::npos;
  return module.empty() ? !is_module : name == module;
}

}  // namespace

std::string SourcePlace::text() const {
  if (!file.empty()) return fmt::format("{}:{}", fs::path(file).filename().string(), line);
  if (function.empty()) return object;
  return fmt::format("{} ({})", function, object);
}

SourcePlace source_place(const Frame& frame, const fs::path& root) {
  SourcePlace place;
  if (frame.object.empty()) {
    place.object = "generated code";
    return place;
  }
  place.object = fmt::format("{}+{:#x}", fs::path(frame.object).filename().string(), frame.offset);
  const fs::path path = root / fs::path(frame.object).relative_path();
  const auto object = Object::read(path);
  const auto address = object ? object->address_of(frame.offset) : std::nullopt;
  if (!address) return place;
  if (const auto symbol = object->symbol_at(*address)) {
    place.function = demangled(symbol->name);
    place.object = fs::path(frame.object).filename().string();
  }
  const std::string line = lines_of(path, {*address}).front();
  const std::size_t colon = line.rfind(':');
  if (colon == std::string::npos) return place;
  place.line = std::atoi(line.c_str() + colon + 1);
  if (place.line > 0) place.file = line.substr(0, colon);
  return place;
}

Result<std::map<std::string, std::string>> kernel_source_lines(
    const std::set<std::string>& frames, const std::vector<std::string>& files) {
  std::map<std::string, std::string> found;
  for (const std::string& file : files) {
    const auto object = Object::read(file);
    const auto functions = object ? object->functions() : Object::Functions{};
    if (functions.empty())
      return fail(file, "contains no function symbols",
                  "give a kernel image or a module with debug information, such as vmlinux");
    std::vector<std::string> known;
    std::vector<std::uint64_t> addresses;
    for (const std::string& text : frames) {
      const auto frame = parse_kernel_frame(text);
      if (!frame || !is_file_of(file, frame->module)) continue;
      const auto function = function_of(*frame, functions);
      if (!function) continue;
      known.push_back(text);
      // A frame has the address to which the call returns, which may be in the next line.
      addresses.push_back(function->address + frame->offset - 1);
    }
    const std::vector<std::string> lines = lines_of(file, addresses);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!lines[i].empty()) found[known[i]] = fs::path(lines[i]).filename().string();
  }
  return found;
}

}  // namespace headcrash::audit
