# Run by headcrash_embed at build time: writes ${OUT}.h and ${OUT}.cc, which hold FILES as text.
file(WRITE ${OUT}.h "#pragma once
#include <span>
#include <string_view>

namespace ${NAMESPACE} {
struct EmbeddedFile {
  std::string_view name;  ///< file name without folder
  std::string_view text;
};
std::span<const EmbeddedFile> embedded_files();
}  // namespace ${NAMESPACE}
")
get_filename_component(stem ${OUT} NAME)
set(body "#include \"${stem}.h\"\n\nnamespace ${NAMESPACE} {\nnamespace {\nconstexpr EmbeddedFile kEmbeddedFiles[] = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND body "{\"${name}\", R\"hcembed(${text})hcembed\"},\n")
endforeach()
string(APPEND body "};
}  // namespace
std::span<const EmbeddedFile> embedded_files() { return kEmbeddedFiles; }
}  // namespace ${NAMESPACE}
")
file(WRITE ${OUT}.cc "${body}")
