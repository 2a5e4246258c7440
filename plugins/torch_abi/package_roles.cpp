#include "package_roles.h"

#include <algorithm>
#include <set>

#include <fnmatch.h>

#include "causes.h"
#include "finding.h"

namespace torch_abi {
namespace {

FileOutcome* find_file(Judgement& judgement, const std::string& path) {
  const auto found = std::find_if(judgement.files.begin(), judgement.files.end(),
                                  [&](const FileOutcome& file) { return file.path == path; });
  return found == judgement.files.end() ? nullptr : &*found;
}

void leave_out(Judgement& judgement, const std::string& path, const std::string& reason) {
  if (FileOutcome* file = find_file(judgement, path); file != nullptr && file->counts()) file->uncounted = reason;
}

bool matches(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

// One member of alternatives: its files that the package has.
struct Member {
  std::string name;
  std::vector<std::string> files;
  bool loads = true;
  std::size_t causes = 0, obstacles = 0;
};

Member member_of(const Judgement& judgement, const Package& package, const std::string& name) {
  Member member{.name = name, .files = {}};
  for (const std::string& pattern : package.data->member_files)
    if (const std::string file = filled(pattern, name);
        std::find(package.files.begin(), package.files.end(), file) != package.files.end())
      member.files.push_back(file);
  std::set<std::string> causes;
  for (const Obstacle& obstacle : judgement.obstacles)
    if (std::find_first_of(obstacle.files.begin(), obstacle.files.end(), member.files.begin(), member.files.end()) !=
        obstacle.files.end()) {
      causes.insert(obstacle.cause);
      ++member.obstacles;
    }
  member.causes = causes.size();
  member.loads = std::none_of(judgement.files.begin(), judgement.files.end(), [&](const FileOutcome& file) {
    return file.outcome != COMPATRIX_LOADS &&
           std::find(member.files.begin(), member.files.end(), file.path) != member.files.end();
  });
  return member;
}

// The first that loads, as the package tries them; where none does, the one with the fewest causes against it.
std::vector<AlternativesOutcome> take_alternative(Judgement& judgement, const Package& package) {
  std::vector<Member> members;
  for (const std::string& name : package.data->members)
    if (Member member = member_of(judgement, package, name); !member.files.empty())
      members.push_back(std::move(member));
  if (members.empty()) return {};
  const auto nearer = [](const Member& a, const Member& b) {
    if (a.loads != b.loads) return a.loads;
    return !a.loads && std::pair(a.causes, a.obstacles) < std::pair(b.causes, b.obstacles);
  };
  const Member& taken = *std::min_element(members.begin(), members.end(), nearer);
  AlternativesOutcome outcome{.package = package.data->package,
                              .of = package.data->alternatives_of,
                              .taken = taken.name,
                              .loads = taken.loads,
                              .members = {}};
  for (const Member& member : members) {
    outcome.members.push_back(member.name);
    if (&member == &taken) continue;
    for (const std::string& file : member.files)
      leave_out(judgement, file,
                "one " + outcome.of + " is enough, and " + taken.name + (taken.loads ? " is taken" : " comes nearest"));
  }
  return {outcome};
}

void take_by_cuda(Judgement& judgement, const Package& package, const std::string& cuda) {
  const PackageData& data = *package.data;
  const std::string any = filled(data.by_cuda, "*");
  std::vector<std::string> candidates;
  for (const std::string& file : package.files)
    if (matches(any, file)) candidates.push_back(file);
  const auto chosen =
      cuda.empty() ? std::optional<std::string>(data.without_cuda) : chosen_for_cuda(candidates, data.by_cuda, cuda);
  const std::string beside = cuda.empty() ? "a torch without CUDA" : "CUDA " + cuda;
  for (const std::string& file : candidates)
    if (file != chosen)
      leave_out(judgement, file,
                chosen ? chosen->substr(chosen->rfind('/') + 1) + " is opened beside " + beside
                       : "none of them is for " + beside);
  if (!cuda.empty()) leave_out(judgement, data.without_cuda, "for a torch without CUDA");
  if (chosen || candidates.empty()) return;
  std::string digits = cuda;
  std::erase(digits, '.');
  const std::string wanted = filled(data.by_cuda, digits);
  const std::string message =
      wanted + " is wanted beside " + beside + ", and " + data.package + " has no library for that major";
  judgement.files.push_back({.path = wanted,
                             .outcome = COMPATRIX_LOAD_FAILS,
                             .message = message,
                             .first_cause = std::string(kCudaRuntime),
                             .uncounted = {}});
  judgement.obstacles.push_back(
      {.cause = std::string(kCudaRuntime), .kind = "no-library-for-cuda", .message = message, .files = {wanted}});
}

}  // namespace

std::vector<AlternativesOutcome> apply_package_data(Judgement& judgement, const Package& package,
                                                    const std::string& cuda) {
  if (package.data == nullptr) return {};
  for (const std::string& pattern : package.data->on_demand)
    for (const std::string& file : package.files)
      if (matches(pattern, file)) leave_out(judgement, file, "not opened by an import of " + package.data->package);
  if (!package.data->by_cuda.empty()) take_by_cuda(judgement, package, cuda);
  return package.data->members.empty() ? std::vector<AlternativesOutcome>{} : take_alternative(judgement, package);
}

void report_alternatives(const Cell& cell, const std::vector<AlternativesOutcome>& alternatives) {
  for (const AlternativesOutcome& outcome : alternatives) {
    Fields fields;
    add(fields, "of", outcome.of);
    add(fields, "members", outcome.members);
    add(fields, "taken", outcome.taken);
    const std::string message =
        outcome.package + " needs one " + outcome.of + " of " + join(outcome.members, ", ") + "; " +
        (outcome.loads ? outcome.taken + " loads" : "none loads, " + outcome.taken + " comes nearest");
    report_finding(cell, "", "alternatives", "", message, fields);
    if (!outcome.loads) {
      const std::string sentence =
          "one " + outcome.of + " that loads is enough for " + outcome.package + ": " + join(outcome.members, ", ");
      cell.host->report_remedy(cell.run, sentence.c_str());
    }
  }
}

void apply_interpreter(Judgement& judgement, const Package& package, const Interpreter& interpreter,
                       const std::string& name) {
  const std::string others = only_for_others(package.files, interpreter);
  if (others.empty()) return;
  Obstacle obstacle{.cause = std::string(kPythonAbi),
                    .kind = "module-for-other-python",
                    .message = name + " has modules for " + others + " and none for CPython " + interpreter.python};
  for (const auto& [path, reason] : passed_over(package.files, interpreter)) {
    FileOutcome* file = find_file(judgement, path);
    if (file == nullptr || !reason.starts_with("named for")) continue;
    obstacle.files.push_back(path);
    if (!file->alone) file->alone = Alone{.outcome = file->outcome, .message = file->message};
    file->outcome = COMPATRIX_LOAD_FAILS;
    file->message = path + ": " + reason + "; CPython " + interpreter.python + " does not import it";
    file->first_cause = kPythonAbi;
    file->uncounted.clear();
  }
  judgement.obstacles.push_back(std::move(obstacle));
}

}  // namespace torch_abi
