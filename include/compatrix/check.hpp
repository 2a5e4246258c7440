// The C ABI of plugin.h for plugins written in C++17, header only: a Run with findings, assumptions, remedies, one
// conclusion and typed services, and a border that no exception crosses. Whoever prefers C uses plugin.h alone.
#ifndef COMPATRIX_CHECK_HPP
#define COMPATRIX_CHECK_HPP

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compatrix/plugin.h"
#include "compatrix/services.h"

namespace compatrix::sdk {

// Throw it where a service returned null because facts could not be had: the host knows why and says so.
struct FactsUnavailable {};

// The id that a service table is asked for by.
template <class Service>
struct ServiceId;
template <>
struct ServiceId<compatrix_environment_1> {
  static constexpr const char* value = COMPATRIX_ENVIRONMENT_1;
};
template <>
struct ServiceId<compatrix_elf_1> {
  static constexpr const char* value = COMPATRIX_ELF_1;
};
template <>
struct ServiceId<compatrix_linker_1> {
  static constexpr const char* value = COMPATRIX_LINKER_1;
};

template <>
struct ServiceId<compatrix_releases_1> {
  static constexpr const char* value = COMPATRIX_RELEASES_1;
};

struct Finding {
  std::string cause;  // empty: it speaks against nothing
  std::string kind, file, message;
  std::vector<std::pair<std::string, std::string>> fields;
};

// One evaluation of one check.
class Run {
 public:
  Run(const compatrix_host* host, compatrix_run* run) noexcept : host_(host), run_(run) {}

  // What the functions of the services take.
  compatrix_run* handle() const { return run_; }
  bool concluded() const { return concluded_; }

  // Throws where this host does not lend the service, or lends less of it than this header has.
  template <class Service>
  const Service& service() const {
    const auto* lent = static_cast<const Service*>(host_->service(run_, ServiceId<Service>::value));
    if (lent == nullptr || lent->struct_size < sizeof(Service))
      throw std::runtime_error(std::string("this host lacks the service ") + ServiceId<Service>::value +
                               "; update compatrix");
    return *lent;
  }

  // The value of a parameter that the check declares.
  std::string parameter(const char* name) const {
    const char* value = host_->parameter(run_, name);
    if (value == nullptr) throw std::runtime_error(std::string("the check declares no parameter ") + name);
    return value;
  }

  void finding(const Finding& found) const {
    std::vector<compatrix_field> fields;
    for (const auto& [key, value] : found.fields) fields.push_back({key.c_str(), value.c_str()});
    const compatrix_finding view{sizeof(compatrix_finding), found.cause.c_str(), found.kind.c_str(), found.file.c_str(),
                                 found.message.c_str(),     fields.data(),       fields.size()};
    host_->report_finding(run_, &view);
  }
  void assume(const std::string& sentence) const { host_->report_assumption(run_, sentence.c_str()); }
  void remedy(const std::string& sentence) const { host_->report_remedy(run_, sentence.c_str()); }

  // The answer; `cause` is required for COMPATRIX_FAIL. A second one is a mistake of the check.
  void conclude(compatrix_status status, const std::string& cause, const std::string& summary,
                compatrix_basis basis = COMPATRIX_PREDICTED) {
    if (concluded_) throw std::logic_error("the check concluded twice; its first answer was followed by: " + summary);
    concluded_ = true;
    const compatrix_conclusion view{sizeof(compatrix_conclusion), status, basis, cause.c_str(), summary.c_str()};
    host_->conclude(run_, &view);
  }

 private:
  const compatrix_host* host_;
  compatrix_run* run_;
  bool concluded_ = false;
};

// An exception becomes an answer with status error, or, where one was given already, evidence beside it: the host
// believes no answer of a check that returns non-zero, which is all that is left where not even the reason can be said.
inline int fail(Run& run, const char* why) noexcept {
  try {
    if (run.concluded())
      run.finding({"", "check-failed", "", why, {}});
    else
      run.conclude(COMPATRIX_ERROR, "", why);
  } catch (...) {
    return 2;
  }
  return 1;
}

// compatrix_check::run for a function of a Run: `&compatrix::sdk::guarded<evaluate>`.
template <void (*evaluate)(Run&)>
int guarded(const compatrix_host* host, compatrix_run* handle) noexcept {
  Run run(host, handle);
  try {
    evaluate(run);
    return 0;
  } catch (const FactsUnavailable&) {
    return 1;
  } catch (const std::exception& failure) {
    return fail(run, failure.what());
  } catch (...) {
    return fail(run, "the check threw something that is no std::exception");
  }
}

}  // namespace compatrix::sdk

#endif
