// From a member of a wheel to the facts that are kept of it, in one pass over its bytes (a second one where a table
// lies in the middle of a large file).
#pragma once

#include <string>

#include "framework/base/result.h"
#include "framework/bytes/random_access.h"
#include "framework/wheel/zip.h"

namespace compatrix::facts {

// The stored form of the member's library facts (library_facts.h). `record_sha256` is what RECORD has for the member
// (base64url), or empty. An Error only where the bytes could not be had; a member that is no ELF file is a fact.
Result<std::string> extract_library(RandomAccess& archive, const wheel::ZipEntry& entry,
                                    const std::string& record_sha256);

}  // namespace compatrix::facts
