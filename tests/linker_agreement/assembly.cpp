#include "tests/linker_agreement/assembly.h"

#include <fmt/format.h>

namespace agreement {
namespace {

// Binding, visibility and type of a symbol that is defined here.
std::string head(const Library& library, int slot, const char* type) {
  const std::string name = symbol_name(library.number, slot);
  const std::string& visibility = library.visibility[static_cast<std::size_t>(slot)];
  std::string text = fmt::format(".{} {}\n.type {}, @{}\n", slot == weak_function ? "weak" : "globl", name, name, type);
  if (!visibility.empty()) text += fmt::format(".{} {}\n", visibility, name);
  return text;
}

std::string definition(const Library& library, int slot) {
  const std::string name = symbol_name(library.number, slot);
  switch (slot) {
    case object:
      return ".data\n" + head(library, slot, "object") + fmt::format(".size {0}, 8\n{0}: .quad 1\n", name);
    case unique_object:
      return ".data\n" + head(library, slot, "gnu_unique_object") + fmt::format(".size {0}, 8\n{0}: .quad 1\n", name);
    case thread_local_object:
      return ".section .tdata,\"awT\",@progbits\n" + head(library, slot, "object") +
             fmt::format(".size {0}, 8\n{0}: .quad 1\n", name);
    case late_function:
      if (library.late_is_indirect)
        return ".text\n" + head(library, slot, "gnu_indirect_function") +
               fmt::format("{}: lea chosen(%rip), %rax\nret\nchosen: ret\n", name);
      [[fallthrough]];
    default:
      return ".text\n" + head(library, slot, "function") + fmt::format("{}: ret\n", name);
  }
}

std::string use(const Reference& reference) {
  const std::string name = symbol_name(reference.library, reference.slot);
  const std::string weak = reference.weak ? fmt::format(".weak {}\n", name) : "";
  using enum Reference::Form;
  switch (reference.form) {
    case call:
      return weak + fmt::format(".text\ncall {}@PLT\n", name);
    case got:
      return weak + fmt::format(".text\nmov {}@GOTPCREL(%rip), %rax\n", name);
    case pointer:
      return weak + fmt::format(".data\n.quad {}\n", name);
    case tls_initial_exec:
      return weak + fmt::format(".text\nmov {}@GOTTPOFF(%rip), %rax\n", name);
    case tls_general:
      return weak + fmt::format(
                        ".text\n.byte 0x66\nlea {}@TLSGD(%rip), %rdi\n.value 0x6666\nrex64\n"
                        "call __tls_get_addr@PLT\n",
                        name);
    case tls_descriptor:
      return weak + fmt::format(".text\nlea {0}@TLSDESC(%rip), %rax\ncall *{0}@TLSCALL(%rax)\n", name);
  }
  return "";
}

}  // namespace

std::string assembly_of(const Library& library) {
  std::string text = ".text\nentry: ret\n";
  for (int slot = 0; slot < slot_count; ++slot)
    if (!library.dropped[static_cast<std::size_t>(slot)]) text += definition(library, slot);
  for (const Reference& reference : library.references) text += use(reference);
  if (library.uses_libc) text += ".text\ncall getpid@PLT\n";
  for (int i = 0; i < library.relative_relocations; ++i) text += ".section .data.rel,\"aw\"\n.balign 8\n.quad entry\n";
  if (library.tls_size != 0 || library.own_initial_exec)
    text += fmt::format(".section .tbss,\"awT\",@nobits\n.balign {}\nown: .zero {}\n", library.tls_alignment,
                        8 + library.tls_size);
  if (library.own_initial_exec) text += ".text\nmov own@GOTTPOFF(%rip), %rax\n";
  return text + ".section .note.GNU-stack,\"\",@progbits\n";
}

std::string version_script_text(int library, Versions versions) {
  if (versions == Versions::base_only) return "{ global: *; };\n";
  std::string first, second;
  for (int slot = 0; slot < slot_count; ++slot) (slot < 3 ? first : second) += symbol_name(library, slot) + "; ";
  std::string text = fmt::format("V1_{} {{ global: {}}};\n", library, first);
  if (versions == Versions::both) text += fmt::format("V2_{0} {{ global: {1}}} V1_{0};\n", library, second);
  return text;
}

}  // namespace agreement
