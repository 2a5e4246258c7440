// The lock of one requirement without its dependencies, for the programs that make tables of wheels on the index.
#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "framework/base/result.h"
#include "framework/wheel/lock.h"

namespace torch_abi {

inline compatrix::Result<compatrix::wheel::Lock> lock_of(const std::string& requirement) {
  compatrix::wheel::LockRequest request;
  request.requirements = {requirement};
  request.without_dependencies = true;
  const auto file = std::filesystem::temp_directory_path() / fmt::format("pylock.{}.toml", ::getpid());
  if (const auto locked = compatrix::wheel::write_lock(request, file); !locked) return locked.error();
  auto lock = compatrix::wheel::read_lock(file, request.target);
  std::filesystem::remove(file);
  return lock;
}

}  // namespace torch_abi
