// The service tables that the host lends (compatrix/services.h), one function each.
#pragma once

#include "compatrix/services.h"

namespace compatrix {

const compatrix_environment_1* environment_service();
const compatrix_elf_1* elf_service();
const compatrix_linker_1* linker_service();
const compatrix_releases_1* releases_service();

}  // namespace compatrix
