#include "framework/checks/evaluate.h"

#include <cstring>
#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "framework/checks/plugin_library.h"
#include "framework/checks/services.h"

namespace compatrix {
namespace {

std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

const void* service(compatrix_run*, const char* id) {
  if (std::strcmp(id, COMPATRIX_ENVIRONMENT_1) == 0) return environment_service();
  if (std::strcmp(id, COMPATRIX_ELF_1) == 0) return elf_service();
  if (std::strcmp(id, COMPATRIX_LINKER_1) == 0) return linker_service();
  if (std::strcmp(id, COMPATRIX_RELEASES_1) == 0) return releases_service();
  return nullptr;
}

const char* parameter(compatrix_run* run, const char* name) {
  if (const auto given = run->parameters.find(name); given != run->parameters.end()) return given->second.c_str();
  for (std::size_t i = 0; i < run->check->parameter_count; ++i)
    if (std::strcmp(run->check->parameters[i].name, name) == 0) return run->check->parameters[i].default_value;
  return nullptr;
}

void report_finding(compatrix_run* run, const compatrix_finding* finding) {
  Finding kept{.cause = parse_cause(text_or_empty(finding->cause)),
               .kind = text_or_empty(finding->kind),
               .file = text_or_empty(finding->file),
               .message = text_or_empty(finding->message)};
  for (std::size_t i = 0; i < finding->field_count; ++i)
    kept.fields.emplace_back(text_or_empty(finding->fields[i].key), text_or_empty(finding->fields[i].value));
  run->result.findings.push_back(std::move(kept));
}

void report_assumption(compatrix_run* run, const char* sentence) {
  run->result.assumptions.emplace_back(text_or_empty(sentence));
}
void report_remedy(compatrix_run* run, const char* sentence) {
  run->result.remedies.emplace_back(text_or_empty(sentence));
}

Status status_of(compatrix_status status) {
  switch (status) {
    case COMPATRIX_PASS:
      return Status::pass;
    case COMPATRIX_WARN:
      return Status::warn;
    case COMPATRIX_FAIL:
      return Status::fail;
    case COMPATRIX_ERROR:
      return Status::error;
    case COMPATRIX_SKIP:
      return Status::skip;
  }
  return Status::error;
}

void conclude(compatrix_run* run, const compatrix_conclusion* conclusion) {
  run->concluded = true;
  run->result.status = status_of(conclusion->status);
  run->result.basis = conclusion->basis == COMPATRIX_OBSERVED ? Basis::observed : Basis::predicted;
  run->result.cause = parse_cause(text_or_empty(conclusion->cause));
  run->result.summary = text_or_empty(conclusion->summary);
}

constexpr compatrix_host kHost{.struct_size = sizeof(compatrix_host),
                               .abi_major = COMPATRIX_ABI_MAJOR,
                               .abi_minor = COMPATRIX_ABI_MINOR,
                               .service = &service,
                               .parameter = &parameter,
                               .report_finding = &report_finding,
                               .report_assumption = &report_assumption,
                               .report_remedy = &report_remedy,
                               .conclude = &conclude};

CheckResult could_not(const std::string& check, std::string why) {
  return {.check = check, .status = Status::error, .summary = std::move(why)};
}

const compatrix_check* find_check(const compatrix_plugin& plugin, const std::string& id) {
  for (std::size_t i = 0; i < plugin.check_count; ++i)
    if (plugin.checks[i]->id == id) return plugin.checks[i];
  return nullptr;
}

// A plugin that answers against the rules is not believed.
CheckResult judged(compatrix_run& run, int returned, const std::string& check) {
  if (!run.failure.empty()) return could_not(check, run.failure);
  CheckResult result = std::move(run.result);
  result.check = check;
  if (returned != 0) {
    result.status = Status::error;
    if (result.summary.empty()) result.summary = fmt::format("the check ended with code {} and no answer", returned);
  } else if (!run.concluded) {
    result.status = Status::error;
    result.summary = "the check returned without an answer";
  } else if (result.status == Status::fail && !result.cause) {
    result.status = Status::error;
    result.summary = "the check answered fail without a known cause: " + result.summary;
  }
  return result;
}

}  // namespace

nlohmann::json wants_to_json(const std::vector<Want>& wants) {
  auto json = nlohmann::json::array();
  for (const Want& want : wants)
    json.push_back({{"sha256", want.sha256}, {"member", want.member}, {"text", want.text}});
  return json;
}

std::vector<Want> wants_from_json(const nlohmann::json& json) {
  std::vector<Want> wants;
  for (const auto& want : json)
    wants.push_back({.sha256 = want.at("sha256").get<std::string>(),
                     .member = want.at("member").get<std::string>(),
                     .text = want.at("text").get<bool>()});
  return wants;
}

std::string encode_question(const CheckQuestion& question, const std::filesystem::path& store) {
  nlohmann::ordered_json json{{"store", store.string()},
                              {"parameters", nlohmann::ordered_json::object()},
                              {"environment", to_json(question.environment)}};
  for (const auto& [name, value] : question.parameters) json["parameters"][name] = value;
  return json.dump();
}

CheckResult Evaluator::evaluate(const std::filesystem::path& plugin, const std::string& check,
                                const std::string& request, const FetchWants& fetch) try {
  const auto loaded = load_plugin(plugin);
  if (!loaded) return could_not(check, loaded.error().text());
  const compatrix_check* found = find_check(**loaded, check);
  if (found == nullptr) return could_not(check, fmt::format("{}: has no check {}", plugin.string(), check));

  const auto question = nlohmann::json::parse(request);
  const std::filesystem::path store = question.at("store").get<std::string>();
  if (!wheels_ || wheels_->store().folder() != store) {
    relatives_ = {};
    wheels_ = std::make_unique<WheelLibrary>(facts::FactStore(store));
  }
  const Environment environment = environment_from_json(question.at("environment"));
  for (const Distribution& distribution : environment.distributions)
    if (!distribution.sha256.empty() && !wheels_->wheel(distribution.sha256))
      return could_not(check, fmt::format("{}: its facts can't be read from {}; remove that folder and run again",
                                          distribution.file_name, (store / distribution.sha256).string()));
  CellFiles files(environment, *wheels_);
  compatrix_run run;
  run.check = found;
  run.parameters = question.at("parameters").get<std::map<std::string, std::string>>();
  run.files = &files;
  run.wheels = wheels_.get();
  run.relatives = &relatives_;
  run.fetch = fetch;
  const int returned = found->run(&kHost, &run);
  return judged(run, returned, check);
} catch (const std::exception& failure) {
  return could_not(check, failure.what());
}

}  // namespace compatrix

bool compatrix_run::fetch_wants() {
  std::vector<compatrix::Want> wants = files->take_wants();
  if (wants.empty() || wants == fetched_last) {
    failure = "facts that were fetched can't be read back from the store; is its disk full?";
    return false;
  }
  if (auto why = fetch(wants)) {
    failure = std::move(*why);
    return false;
  }
  fetched_last = std::move(wants);
  return true;
}
