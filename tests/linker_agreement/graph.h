// A random graph of small libraries: what is to be built, where it lies, and in which order it is opened. Everything
// follows from the seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace agreement {

// Each library has the same places for symbols, so that a reference is a library's number and a place.
enum Slot { function, weak_function, object, late_function, thread_local_object, unique_object, slot_count };
std::string symbol_name(int library, int slot);

struct Reference {
  enum class Form { call, got, pointer, tls_initial_exec, tls_general, tls_descriptor } form = Form::call;
  int library = 0, slot = 0;
  bool weak = false;
};

// How a library is linked against another one: the needed name comes from the stub's soname.
struct Need {
  int library = 0;
  bool versioned = false;  // the stub defines symbol versions
  std::string name;        // needed name
};

enum class Versions { none, both, first_only, base_only };

// What is done to the finished file.
enum class Damage {
  none,
  cut_off,          // at `cut` thousandths of its size
  other_class,      // ELFCLASS32
  other_machine,    // e_machine of another processor
  executable_type,  // ET_EXEC
  object_type,      // ET_REL
  no_dynamic,       // its PT_DYNAMIC made PT_NULL
  bad_ident,        // one byte of e_ident after the class
  bad_entry_size,   // e_phentsize
  no_relr_mark,     // its version need GLIBC_ABI_DT_RELR renamed
  needs_removed,    // one DT_NEEDED made to be of no meaning
};

struct Library {
  std::string path;  // relative to the graph's folder
  int number = 0;
  std::string soname;  // empty: none
  std::vector<Need> needs;
  std::vector<Reference> references;
  std::vector<bool> dropped = std::vector<bool>(slot_count);
  std::vector<std::string> visibility = std::vector<std::string>(slot_count);  // "", "protected", "hidden"
  bool late_is_indirect = false;                                               // its late_function is an IFUNC
  Versions versions = Versions::none;
  std::string search_path;
  bool has_search_path = false, runpath = false, uses_libc = false, is_program = false;
  int relative_relocations = 0, tls_size = 0, tls_alignment = 8;
  bool own_initial_exec = false;  // refers to thread-local memory of its own by a fixed offset
  std::vector<std::string> options;
  Damage damage = Damage::none;
  std::uint64_t cut = 0;
};

struct OtherFile {
  enum class Kind { text, empty, folder, link } kind = Kind::text;
  std::string path, target;
};

struct Preload {
  std::string path;
  bool global = false;
};

struct Graph {
  std::uint64_t seed = 0;
  std::vector<std::string> folders;
  std::vector<Library> libraries;
  std::vector<OtherFile> others;
  std::vector<Preload> preloads;
  std::vector<std::string> library_path;  // elements of LD_LIBRARY_PATH
  std::vector<std::string> opened;        // in turn, each in a process where only the preloads are open
};

Graph make_graph(std::uint64_t seed);

}  // namespace agreement
