// Unwinds stacks with libunwind-ptrace (stack.h).
#include "harness/audit/tracer/stack.h"

#include <fmt/format.h>
#include <libunwind-ptrace.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "plugin/base/fnv1a.h"

namespace headcrash::audit {
namespace {

constexpr std::size_t kFramesMost = 64;

/// A file mapping that contains code.
struct Mapping {
  std::uint64_t begin = 0, end = 0, offset = 0;
  std::string path;
};

std::vector<Mapping> code_mappings(pid_t thread) {
  std::vector<Mapping> mappings;
  std::ifstream file(fmt::format("/proc/{}/maps", thread));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Mapping mapping;
    char dash = 0;
    std::string access, device, inode;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> access >> mapping.offset >>
        device >> inode >> std::ws;
    std::getline(words, mapping.path);
    if (access.find('x') != std::string::npos) mappings.push_back(std::move(mapping));
  }
  return mappings;
}

Frame frame_at(const std::vector<Mapping>& mappings, std::uint64_t address) {
  for (const Mapping& mapping : mappings)
    if (address >= mapping.begin && address < mapping.end && mapping.path.starts_with('/'))
      return {.object = mapping.path, .offset = address - mapping.begin + mapping.offset};
  return {};
}

/// The registers of the thread whose stack is being read.
user_regs_struct current{};

/// Reads a register from `current`. libunwind's own function is replaced, because it reads
/// registers that user-mode Linux does not have.
int read_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void*) {
  const std::array<unw_word_t, UNW_X86_64_RIP + 1> values{
      current.rax, current.rdx, current.rcx, current.rbx, current.rsi, current.rdi,
      current.rbp, current.rsp, current.r8,  current.r9,  current.r10, current.r11,
      current.r12, current.r13, current.r14, current.r15, current.rip};
  if (write != 0 || number < 0 || static_cast<std::size_t>(number) >= values.size())
    return -UNW_EBADREG;
  *value = values.at(static_cast<std::size_t>(number));
  return 0;
}

unw_accessors_t accessors() {
  unw_accessors_t functions = _UPT_accessors;
  functions.access_reg = read_register;
  return functions;
}

}  // namespace

bool is_c_library(std::string_view object) {
  const std::string_view name = object.substr(object.rfind('/') + 1);
  constexpr std::array<std::string_view, 5> kNames{"libc.so", "libc-", "libpthread", "ld-linux",
                                                   "ld-musl"};
  return std::ranges::any_of(kNames, [&](auto each) { return name.starts_with(each); });
}

struct StackReader::Impl {
  unw_accessors_t functions = accessors();
  unw_addr_space_t space = ::unw_create_addr_space(&functions, 0);
};

StackReader::StackReader() : impl_(new Impl) {
  // Disable libunwind's cache, because a library may be at different addresses in different
  // processes.
  ::unw_set_caching_policy(impl_->space, UNW_CACHE_NONE);
}

StackReader::~StackReader() {
  ::unw_destroy_addr_space(impl_->space);
  delete impl_;
}

std::string StackReader::key_of(pid_t thread, std::string_view kind) {
  const std::vector<Mapping> mappings = code_mappings(thread);
  void* const process = ::_UPT_create(thread);
  std::vector<Frame> frames;
  unw_cursor_t cursor;
  bool outside = false;
  if (::ptrace(PTRACE_GETREGS, thread, nullptr, &current) == 0 &&
      ::unw_init_remote(&cursor, impl_->space, process) == 0) {
    for (std::size_t depth = 0; depth < kFramesMost && frames.size() < kFramesInKey; ++depth) {
      unw_word_t address = 0;
      if (::unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0) break;
      // A return address points to the instruction after the call, which may belong to the next
      // line or even to the next function.
      Frame frame = frame_at(mappings, address - (depth > 0 ? 1 : 0));
      outside = outside || !is_c_library(frame.object);
      if (outside) frames.push_back(std::move(frame));
      if (::unw_step(&cursor) <= 0) break;
    }
  }
  ::_UPT_destroy(process);
  std::uint64_t hash = base::fnv1a(kind);
  for (const Frame& frame : frames)
    hash = base::fnv1a(fmt::format("{}+{:x}\n", frame.object, frame.offset), hash);
  std::string key = fmt::format("{:08x}", (hash ^ (hash >> 32)) & 0xffff'ffff);
  stacks_.try_emplace(key, std::move(frames));
  return key;
}

}  // namespace headcrash::audit
