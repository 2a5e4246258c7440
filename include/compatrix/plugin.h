/* The C ABI between compatrix and a check plugin (C11 and C++17; no C++ type crosses it).
 *
 * A plugin is one shared object that exports one constant, `compatrix_plugin_entry`. It is loaded with
 * RTLD_NOW | RTLD_LOCAL in a worker process and never unloaded. Structs that may grow begin with
 * struct_size; a reader looks at no field beyond the size that it is given. A newer abi_major is refused,
 * an older abi_minor loads. New abilities arrive as services with new string ids, never as changed structs.
 *
 * Every pointer's comment says who owns it and until when: [static] for the life of the process,
 * [run] until the check's run function returns, [call] until the next call of the same function with the
 * same run. All strings are NUL-terminated UTF-8 unless a comment says otherwise. A function of the host
 * may be called only from the thread that run was called on. No exception may leave a plugin's function. */
#ifndef COMPATRIX_PLUGIN_H
#define COMPATRIX_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COMPATRIX_ABI_MAJOR 1
#define COMPATRIX_ABI_MINOR 0

#if defined(__GNUC__)
#define COMPATRIX_EXPORT __attribute__((visibility("default")))
#else
#define COMPATRIX_EXPORT
#endif

/* What a check needs to be answered; bits of compatrix_check.needs. */
enum {
  COMPATRIX_NEEDS_FILES = 0,            /* the files of the cell's environment, nothing else */
  COMPATRIX_NEEDS_ENVIRONMENT = 1 << 0, /* an installed environment whose interpreter can be run */
  COMPATRIX_NEEDS_GPU = 1 << 1,
  COMPATRIX_NEEDS_NETWORK = 1 << 2
};

typedef enum compatrix_status {
  COMPATRIX_PASS = 0,
  COMPATRIX_WARN = 1,  /* nothing speaks against it, nothing guarantees it */
  COMPATRIX_FAIL = 2,  /* incompatible; always with a cause and a finding */
  COMPATRIX_ERROR = 3, /* could not be found out */
  COMPATRIX_SKIP = 4   /* cannot be answered here; the summary is the reason */
} compatrix_status;

typedef enum compatrix_basis { COMPATRIX_PREDICTED = 0, COMPATRIX_OBSERVED = 1 } compatrix_basis;

/* How the plugin was built. Also in the ELF note, so that a wrong plugin is refused before it is loaded. */
typedef struct compatrix_fingerprint {
  size_t struct_size;
  const char* compiler;     /* [static] for instance "gcc 12.2.0" */
  const char* cxx_abi;      /* [static] "cxx11", "pre-cxx11", or "none" for plain C */
  const char* cuda_toolkit; /* [static] version, or "none" */
  const char* torch;        /* [static] version linked against; "none": no plugin should link torch */
} compatrix_fingerprint;

/* One named parameter of a check. */
typedef struct compatrix_parameter {
  size_t struct_size;
  const char* name;          /* [static] */
  const char* type;          /* [static] "text", "integer" or "boolean" */
  const char* default_value; /* [static] */
  const char* summary;       /* [static] */
} compatrix_parameter;

/* One key and value of a finding's evidence. A key that repeats makes a list. */
typedef struct compatrix_field {
  const char* key;   /* [call] lower_snake_case: "symbol", "demangled", "instead", "expected_in", "needed_by" … */
  const char* value; /* [call] any bytes; invalid UTF-8 is made visible by the host */
} compatrix_field;

/* One piece of evidence. */
typedef struct compatrix_finding {
  size_t struct_size;
  const char* cause;   /* [call] a cause of docs/causes.md, or "" where the finding speaks against nothing */
  const char* kind;    /* [call] what was found, lower-kebab-case: "undefined-symbol", "library-not-found" … */
  const char* file;    /* [call] path inside the environment, or "" */
  const char* message; /* [call] one sentence */
  const compatrix_field* fields; /* [call] */
  size_t field_count;
} compatrix_finding;

/* A check's answer. */
typedef struct compatrix_conclusion {
  size_t struct_size;
  compatrix_status status;
  compatrix_basis basis;
  const char* cause;   /* [call] primary cause; required for COMPATRIX_FAIL, else "" */
  const char* summary; /* [call] one line */
} compatrix_conclusion;

typedef struct compatrix_run compatrix_run; /* one evaluation of one check in one cell; the host's own */

/* What the host lends a running check. */
typedef struct compatrix_host {
  size_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  /* A service by id and revision ("compatrix.linker/1"), or null when this host does not offer it. [run] */
  const void* (*service)(compatrix_run* run, const char* id);
  /* The value of a declared parameter, its default where the matrix gives none; null for an unknown name. [run] */
  const char* (*parameter)(compatrix_run* run, const char* name);
  void (*report_finding)(compatrix_run* run, const compatrix_finding* finding);
  /* Something the verdict rests on without having seen it, as one sentence. */
  void (*report_assumption)(compatrix_run* run, const char* sentence);
  /* What a person can do about it, as one sentence; the most useful first. */
  void (*report_remedy)(compatrix_run* run, const char* sentence);
  /* The answer. Must be called exactly once. */
  void (*conclude)(compatrix_run* run, const compatrix_conclusion* conclusion);
} compatrix_host;

typedef struct compatrix_check {
  size_t struct_size;
  const char* id;      /* [static] lower_snake_case, unique among all plugins: "torch_abi" */
  const char* summary; /* [static] one line */
  uint32_t needs;      /* COMPATRIX_NEEDS_* */
  uint32_t default_timeout_s;
  const compatrix_parameter* parameters; /* [static] may be null when parameter_count is 0 */
  size_t parameter_count;
  /* Evaluates the check; must call host->conclude once. Non-zero: the check itself failed (status error). */
  int (*run)(const compatrix_host* host, compatrix_run* run);
} compatrix_check;

typedef struct compatrix_plugin {
  uint32_t abi_major; /* COMPATRIX_ABI_MAJOR; read before anything else */
  uint32_t abi_minor;
  size_t struct_size;
  const char* name;                         /* [static] */
  const char* version;                      /* [static] */
  const compatrix_fingerprint* fingerprint; /* [static] */
  const compatrix_check* const* checks;     /* [static] */
  size_t check_count;
} compatrix_plugin;

/* The only symbol that a plugin exports. */
extern COMPATRIX_EXPORT const compatrix_plugin compatrix_plugin_entry;

#ifdef __cplusplus
}
#endif

#endif
