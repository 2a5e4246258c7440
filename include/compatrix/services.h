/* The services that the host lends to analysis checks: the cell's environment as files, the ELF facts of a
 * file, and the simulated dynamic linker. All are read-only views; nothing of the cell is ever executed.
 * A call may take long the first time (facts are fetched then); what was fetched once is kept. Where facts cannot be
 * had, a function that returns a pointer returns null and the host keeps the reason: return non-zero from run then. */
#ifndef COMPATRIX_SERVICES_H
#define COMPATRIX_SERVICES_H

#include <stddef.h>
#include <stdint.h>

#include "compatrix/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- compatrix.environment/1 -------------------------------------------------------------------------- */
#define COMPATRIX_ENVIRONMENT_1 "compatrix.environment/1"

/* One distribution of the cell. */
typedef struct compatrix_distribution {
  size_t struct_size;
  const char* name;      /* [run] normalised (PEP 503) */
  const char* version;   /* [run] PEP 440, with the local version where the wheel has one */
  int requested;         /* 1: named by the cell's own requirements; 0: came as a dependency */
  const char* file_name; /* [run] wheel file name; "" where it was found installed */
  const char* sha256;    /* [run] of the wheel file, hexadecimal; "" where unknown */
  const char* metadata;  /* [run] text of METADATA; "" if absent */
  const char* wheel;     /* [run] text of WHEEL; "" if absent */
  const char* record;    /* [run] text of RECORD; "" if absent */
} compatrix_distribution;

/* One file of a distribution. */
typedef struct compatrix_file {
  size_t struct_size;
  const char* path;  /* [run] relative to site-packages */
  uint64_t size;     /* bytes */
  int shared_object; /* 1: a shared object by its name (".so", ".so.1", …) */
} compatrix_file;

/* A defect of the wheel archive or of its RECORD. */
typedef struct compatrix_defect {
  size_t struct_size;
  const char* rule;    /* [run] lower-kebab-case: "duplicate-entry", "record-hash-mismatch" … */
  int ambiguous;       /* 1: readers may disagree on what the archive holds; such a wheel is refused by installers */
  const char* entry;   /* [run] entry name, or "" */
  uint64_t offset;     /* in the archive */
  const char* message; /* [run] one sentence */
} compatrix_defect;

/* A file that several distributions of the cell claim with different bytes, or that an installed one's RECORD lists and
 * the disk lacks. */
typedef struct compatrix_disputed_file {
  size_t struct_size;
  const char* path;     /* [run] relative to site-packages */
  int present;          /* 0: the disk lacks it */
  const size_t* owners; /* [run] positions of the distributions whose RECORD lists it */
  size_t owner_count;
  size_t bytes_of; /* the one whose digest the bytes on disk have; SIZE_MAX: nobody's, or there are none on disk */
} compatrix_disputed_file;

typedef struct compatrix_environment_1 {
  size_t struct_size;
  const char* (*python_version)(compatrix_run* run); /* [run] "3.11" */
  const char* (*machine)(compatrix_run* run);        /* [run] "x86_64" */
  /* Where the interpreter's own symbols are taken from, as half a sentence: "the CPython 3.11 of this machine". [run]
   */
  const char* (*interpreter)(compatrix_run* run);
  size_t (*distribution_count)(compatrix_run* run);
  const compatrix_distribution* (*distribution)(compatrix_run* run, size_t index); /* [run] */
  size_t (*file_count)(compatrix_run* run, size_t distribution);
  const compatrix_file* (*file)(compatrix_run* run, size_t distribution, size_t index); /* [call] */
  /* The text of a file below site-packages (at most 4 MiB), or null when there is none. [run] */
  const char* (*read_text)(compatrix_run* run, const char* path);
  /* Archive and RECORD defects of a distribution. `verified` of the whole: see integrity_basis. */
  size_t (*defect_count)(compatrix_run* run, size_t distribution);
  const compatrix_defect* (*defect)(compatrix_run* run, size_t distribution, size_t index); /* [run] */
  /* What the defects rest on: "every byte read and compared with RECORD" or what was not read. [run] */
  const char* (*integrity_basis)(compatrix_run* run, size_t distribution);
  /* Reads every RECORD of the cell the first time, and the bytes of what is disputed. Sorted by path. */
  size_t (*disputed_count)(compatrix_run* run);
  const compatrix_disputed_file* (*disputed)(compatrix_run* run, size_t index); /* [run] */
  /* The platforms that a matrix may declare for this machine, null at the end. [run] */
  const char* const* (*platforms)(compatrix_run* run);
  /* Whether that platform's library defines a symbol version: 1, 0, or -1 where its libraries don't include it. */
  int (*platform_defines)(compatrix_run* run, const char* platform, const char* soname, const char* version);
} compatrix_environment_1;

/* ---- compatrix.elf/1 ---------------------------------------------------------------------------------- */
#define COMPATRIX_ELF_1 "compatrix.elf/1"

/* "file must define version", one auxiliary entry of the version needs. */
typedef struct compatrix_version_need {
  const char* file;    /* [run] soname */
  const char* version; /* [run] for instance "GLIBC_2.28" */
  int weak;
} compatrix_version_need;

typedef struct compatrix_elf_facts {
  size_t struct_size;
  const char* error;         /* [run] why the file cannot be read as ELF, or null; the rest is empty then */
  const char* soname;        /* [run] or null */
  const char* runpath;       /* [run] or null */
  const char* rpath;         /* [run] or null */
  const char* const* needed; /* [run] */
  size_t needed_count;
  const compatrix_version_need* version_needs; /* [run] */
  size_t version_need_count;
  const char* const* undefined; /* [run] names of undefined dynamic symbols that are not weak */
  size_t undefined_count;
} compatrix_elf_facts;

/* A header line that a text in the file quotes, as assertions do: which release of the headers it was compiled with. */
typedef struct compatrix_source_location {
  const char* header; /* [run] what follows the last "/include/" of its path: "ATen/core/ivalue.h" */
  uint32_t line;
} compatrix_source_location;

/* A data object that the file defines and others can see. */
typedef struct compatrix_data_object {
  const char* symbol; /* [run] mangled */
  uint64_t size;      /* bytes (st_size), never 0 */
} compatrix_data_object;

typedef struct compatrix_elf_1 {
  size_t struct_size;
  /* Facts of a shared object below site-packages. Facts of many are had sooner when prepare is called first. [run] */
  const compatrix_elf_facts* (*facts)(compatrix_run* run, const char* path);
  /* Says that the facts of these files will be asked for, so that they are fetched together. */
  void (*prepare)(compatrix_run* run, const char* const* paths, size_t count);
  /* Null, with a count of 0, where the file has none. Facts that can't be had: null and SIZE_MAX. [run] */
  const compatrix_source_location* (*source_locations)(compatrix_run* run, const char* path, size_t* count);
  const compatrix_data_object* (*data_objects)(compatrix_run* run, const char* path, size_t* count);
  /* Size in bytes of a data object in a file; 0 where the file does not define it. Ask for its facts first. */
  uint64_t (*object_size)(compatrix_run* run, const char* path, const char* symbol);
} compatrix_elf_1;

/* ---- compatrix.linker/1 ------------------------------------------------------------------------------- */
#define COMPATRIX_LINKER_1 "compatrix.linker/1"

typedef enum compatrix_load_outcome {
  COMPATRIX_LOADS = 0,      /* every library found, every version and symbol resolved */
  COMPATRIX_LOAD_FAILS = 1, /* dlopen would return an error */
  COMPATRIX_LOAD_KILLS = 2  /* the process would die inside dlopen (truncated file, loader assertion) */
} compatrix_load_outcome;

/* One obstacle to a load, in the order in which the loader would meet them. */
typedef struct compatrix_load_problem {
  size_t struct_size;
  const char* kind;           /* [run] "library-not-found", "version-not-found", "undefined-symbol", "bad-file",
                                 "isa-level", "static-tls" */
  const char* object;         /* [run] the object that has the problem, relative to site-packages where it lies below */
  const char* library;        /* [run] the needed name that was not found, or of the version need; else "" */
  const char* symbol;         /* [run] mangled name, or "" */
  const char* demangled;      /* [run] or "" */
  const char* version;        /* [run] symbol version asked for, or "" */
  const char* expected_in;    /* [run] soname of the loaded library that has the nearest relative, or that the version
                                 need names, or "" */
  const char* const* instead; /* [run] demangled: the same function with other parameters, as this environment has it;
                                 the nearest signature first */
  size_t instead_count;
  const char* const* searched; /* [run] paths tried, in order, with the rule that named them */
  size_t searched_count;
  const char* message;          /* [run] one sentence; the first problem's is the loader's own wording */
  const char* other_string_abi; /* [run] demangled: the missing function itself, as this environment has it for the
                                   other std::string ABI of libstdc++; else "" */
} compatrix_load_problem;

typedef struct compatrix_load {
  size_t struct_size;
  compatrix_load_outcome outcome;
  const char* message;                    /* [run] the first problem in glibc's wording, or "" */
  const compatrix_load_problem* problems; /* [run] */
  size_t problem_count;
  const char* const* from_system; /* [run] absolute paths of libraries of this machine that the load rests on */
  size_t from_system_count;
  const char* const* assumed; /* [run] sonames of assumed libraries that it rests on */
  size_t assumed_count;
} compatrix_load;

typedef struct compatrix_process compatrix_process; /* a simulated process; the host's own [run] */

enum {
  COMPATRIX_OPEN_LOCAL = 0,
  COMPATRIX_OPEN_GLOBAL = 1 << 0 /* RTLD_GLOBAL: what it opens provides symbols to everything later */
};

typedef struct compatrix_linker_1 {
  size_t struct_size;
  /* A process in which the cell's interpreter has started; null when there is no interpreter to take facts from. */
  compatrix_process* (*start)(compatrix_run* run);
  /* From now on a needed `soname` that is found nowhere counts as there, and provides every symbol whose name begins
   * with `symbol_prefix`: for a library that cannot be part of an environment, such as the GPU driver's. */
  void (*assume_library)(compatrix_process* process, const char* soname, const char* symbol_prefix);
  /* Says that these paths will be opened, so that the facts they need are fetched together. Changes nothing else. */
  void (*prepare)(compatrix_process* process, const char* const* paths, size_t count);
  /* dlopen(path, RTLD_NOW | flags) of a path relative to site-packages, or absolute; what it loaded stays loaded. [run]
   */
  const compatrix_load* (*open)(compatrix_process* process, const char* path, int flags);
  /* The same, after which the process is as it was before: what this file would do if it were opened next. [run] */
  const compatrix_load* (*try_open)(compatrix_process* process, const char* path);
  /* dlopen of an extension module of the interpreter's own standard library, by module name ("_ctypes"); does nothing
   * where this interpreter has it built in. */
  void (*open_standard_module)(compatrix_process* process, const char* module);
} compatrix_linker_1;

/* ---- compatrix.releases/1 ----------------------------------------------------------------------------- */
#define COMPATRIX_RELEASES_1 "compatrix.releases/1"

/* Other releases of a distribution, as far as their facts were kept on this machine when somebody looked at them. What
 * a check learns from them depends on what was looked at: it is evidence, never a status. */
typedef struct compatrix_releases_1 {
  size_t struct_size;
  /* Releases for the cell's machine of which this library's facts are kept, oldest first (PEP 440), one wheel each. */
  size_t (*count)(compatrix_run* run, const char* project, const char* library);
  const char* (*version)(compatrix_run* run, const char* project, const char* library, size_t index); /* [run] */
  /* Whether the release's library defines a symbol: 1 or 0; -1 where that library's facts are not kept. `member` is
   * below site-packages, and may be another library of the same wheel. */
  int (*defines)(compatrix_run* run, const char* project, const char* library, size_t index, const char* member,
                 const char* symbol);
  /* Size in bytes of a data object there; 0 where it is not defined or not known. */
  uint64_t (*object_size)(compatrix_run* run, const char* project, const char* library, size_t index,
                          const char* member, const char* symbol);
} compatrix_releases_1;

#ifdef __cplusplus
}
#endif

#endif
