/* The plugin's descriptor once more as an ELF note (section .note.compatrix), so that the host knows which checks a
 * plugin has, and refuses a wrong one with a reason, without running any code of it.
 *
 * COMPATRIX_PLUGIN(name, version, checks_text, checks) defines both from the same literals; checks_text has one line
 * for each check: "check id|needs|default timeout in seconds|summary\n" (needs: the number of COMPATRIX_NEEDS_* bits).
 * The host compares the two after loading. C11 and C++17. */
#ifndef COMPATRIX_NOTE_H
#define COMPATRIX_NOTE_H

#include "compatrix/plugin.h"

#define COMPATRIX_NOTE_OWNER "compatrix"
#define COMPATRIX_NOTE_TYPE 1u

#define COMPATRIX_TEXT_(x) #x
#define COMPATRIX_TEXT(x) COMPATRIX_TEXT_(x)

#if defined(__clang__)
#define COMPATRIX_COMPILER "clang " COMPATRIX_TEXT(__clang_major__) "." COMPATRIX_TEXT(__clang_minor__)
#elif defined(__GNUC__)
#define COMPATRIX_COMPILER "gcc " COMPATRIX_TEXT(__GNUC__) "." COMPATRIX_TEXT(__GNUC_MINOR__)
#else
#define COMPATRIX_COMPILER "unknown"
#endif

#ifndef __cplusplus
#define COMPATRIX_CXX_ABI "none"
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI == 0
#define COMPATRIX_CXX_ABI "pre-cxx11"
#else
#define COMPATRIX_CXX_ABI "cxx11"
#endif

/* A plugin that is built with a CUDA toolkit or against torch defines these first. */
#ifndef COMPATRIX_CUDA_TOOLKIT
#define COMPATRIX_CUDA_TOOLKIT "none"
#endif
#ifndef COMPATRIX_TORCH
#define COMPATRIX_TORCH "none"
#endif

#define COMPATRIX_NOTE_TEXT(name, version, checks_text) \
  "abi " COMPATRIX_TEXT(COMPATRIX_ABI_MAJOR) "." COMPATRIX_TEXT(COMPATRIX_ABI_MINOR) "\n"                    \
  "name " name "\nversion " version "\ncompiler " COMPATRIX_COMPILER "\ncxx-abi " COMPATRIX_CXX_ABI          \
  "\ncuda-toolkit " COMPATRIX_CUDA_TOOLKIT "\ntorch " COMPATRIX_TORCH "\n" checks_text

#define COMPATRIX_NOTE(name_, version_, checks_text)                                                                  \
  __attribute__((used, aligned(4), section(".note.compatrix"))) static const struct {                                 \
    uint32_t owner_size, text_size, type;                                                                             \
    char owner[12];                                                                                                   \
    char text[(sizeof(COMPATRIX_NOTE_TEXT(name_, version_, checks_text)) + 3) / 4 * 4];                               \
  } compatrix_plugin_note = {sizeof(COMPATRIX_NOTE_OWNER), sizeof(COMPATRIX_NOTE_TEXT(name_, version_, checks_text)), \
                             COMPATRIX_NOTE_TYPE, COMPATRIX_NOTE_OWNER,                                               \
                             COMPATRIX_NOTE_TEXT(name_, version_, checks_text)};

/* `checks` is an array of pointers to compatrix_check. */
#define COMPATRIX_PLUGIN(name_, version_, checks_text, checks_)                                                       \
  COMPATRIX_NOTE(name_, version_, checks_text)                                                                        \
  static const compatrix_fingerprint compatrix_plugin_fingerprint = {                                                 \
      sizeof(compatrix_fingerprint), COMPATRIX_COMPILER, COMPATRIX_CXX_ABI, COMPATRIX_CUDA_TOOLKIT, COMPATRIX_TORCH}; \
  const compatrix_plugin compatrix_plugin_entry = {COMPATRIX_ABI_MAJOR,                                               \
                                                   COMPATRIX_ABI_MINOR,                                               \
                                                   sizeof(compatrix_plugin),                                          \
                                                   name_,                                                             \
                                                   version_,                                                          \
                                                   &compatrix_plugin_fingerprint,                                     \
                                                   checks_,                                                           \
                                                   sizeof(checks_) / sizeof(*(checks_))};

#endif
