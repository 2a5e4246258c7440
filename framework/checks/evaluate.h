// Runs a plugin's check on an environment, in this process (which is a worker). What is loaded for one cell - plugins,
// wheels, libraries - is kept for the next.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "framework/checks/run_context.h"
#include "framework/checks/verdict.h"
#include "framework/environment/wheel_library.h"
#include "framework/linker/relatives.h"

namespace compatrix {

// What a check is asked; as JSON it is Job::request.
struct CheckQuestion {
  Environment environment;
  std::map<std::string, std::string> parameters;
};
std::string encode_question(const CheckQuestion& question, const std::filesystem::path& store);

class Evaluator {
 public:
  // `request` is what encode_question wrote.
  CheckResult evaluate(const std::filesystem::path& plugin, const std::string& check, const std::string& request,
                       const FetchWants& fetch);

 private:
  std::unique_ptr<WheelLibrary> wheels_;
  linker::Relatives relatives_;
};

nlohmann::json wants_to_json(const std::vector<Want>& wants);
std::vector<Want> wants_from_json(const nlohmann::json& json);

}  // namespace compatrix
