// Reads symbol tables, and runs addr2line (source_place.h).
#include "harness/audit/source_place.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

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

  /// Converts an offset in the file to a virtual address, which is the form that the symbol table
  /// uses.
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
    for (std::size_t i = 0; i < header_.e_shnum; ++i) {
      const auto table = section(i);
      if (!table || (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM)) continue;
      const auto names = section(table->sh_link);
      if (!names) continue;
      for (std::uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
        const auto symbol = at<Elf64_Sym>(table->sh_offset + k * sizeof(Elf64_Sym));
        if (!symbol) break;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || address < symbol->st_value ||
            address - symbol->st_value >= symbol->st_size)
          continue;
        return Symbol{text(names->sh_offset + symbol->st_name), address - symbol->st_value};
      }
    }
    return std::nullopt;
  }

 private:
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

/// Queries addr2line(1) for "FILE:LINE". Returns an empty string if addr2line does not know the
/// place.
std::string line_of(const fs::path& object, std::uint64_t address) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::tmpfile(), std::fclose);
  if (!output) return {};
  const auto process = base::Process::start(
      {.argv = {"addr2line", "-e", object.string(), fmt::format("{:#x}", address)},
       .output = ::fileno(output.get())});
  if (!process || process->wait(kLookupLimit) != 0) return {};
  std::string text(4096, '\0');
  std::rewind(output.get());
  text.resize(std::fread(text.data(), 1, text.size(), output.get()));
  text.resize(std::min(text.find_first_of(" \n"), text.size()));
  return text.starts_with('?') ? std::string() : text;
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
  const std::string line = line_of(path, *address);
  const std::size_t colon = line.rfind(':');
  if (colon == std::string::npos) return place;
  place.line = std::atoi(line.c_str() + colon + 1);
  if (place.line > 0) place.file = line.substr(0, colon);
  return place;
}

}  // namespace headcrash::audit
