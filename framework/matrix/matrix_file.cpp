#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "framework/base/text.h"
#include "framework/environment/platform.h"
#include "framework/matrix/matrix.h"
#include "framework/matrix/placeholders.h"
#include "framework/matrix/yaml_reader.h"

namespace compatrix {
namespace {

// Axes that mean something to the environment and need not appear in a requirement.
const std::vector<std::string> kMeaningfulAxes{"python", "platform", "index"};
// Words that are kept for checks to come: a cell must not be named after what nothing looks at.
const std::vector<std::string> kReservedAxes{"gpu", "driver", "devices"};

constexpr std::size_t kMostCells = 1'000'000;  // each is held in memory

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> status_words() {
  return {"pass", "warn", "fail", "error", "crash", "timeout", "skip"};
}
std::vector<std::string> cause_words() {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(Cause::dependency_conflict); ++i)
    words.emplace_back(word(static_cast<Cause>(i)));
  return words;
}

// From the YAML document to the Matrix, one key after another.
class MatrixReader {
 public:
  explicit MatrixReader(const std::filesystem::path& file) : yaml_(file) { matrix_.file = file; }

  Matrix read() {
    const YAML::Node& root = yaml_.root();
    yaml_.require_map(root, "a matrix");
    static const std::vector<std::string> kKeys{"compatrix", "name",        "axes",   "linked", "exclude",
                                                "indexes",   "environment", "checks", "expect"};
    yaml_.allow_keys(root, kKeys, "a matrix");
    const YAML::Node version = required(root, "compatrix", "says which form of matrix file this is (compatrix: 1)");
    if (yaml_.scalar(version, "the matrix form's number") != "1")
      yaml_.refuse(version, "this compatrix reads matrix files of form 1");
    matrix_.name = root["name"] ? yaml_.scalar(root["name"], "a name") : matrix_.file.stem().string();
    if (root["axes"]) read_axes(root["axes"]);
    if (root["linked"]) read_linked(root["linked"]);
    if (root["indexes"]) read_indexes(root["indexes"]);
    read_environment(required(root, "environment", "says what each cell is made of"));
    if (root["exclude"]) read_exclusions(root["exclude"]);
    read_checks(required(root, "checks", "names what is asked of each cell"));
    if (root["expect"]) read_expectations(root["expect"]);
    check_index_axis(root);
    check_platform_axis(root);
    check_axes_are_used(root);
    check_cell_count(root);
    return std::move(matrix_);
  }

 private:
  YAML::Node required(const YAML::Node& map, const std::string& key, const std::string& why) {
    const YAML::Node node = map[key];
    if (!node.IsDefined()) yaml_.refuse(map, fmt::format("the key '{}' is missing; it {}", key, why));
    return node;
  }

  std::vector<std::string> axis_names() const {
    std::vector<std::string> names;
    for (const Axis& axis : matrix_.axes) names.push_back(axis.name);
    return names;
  }

  const Axis* find_axis(const std::string& name) const {
    const auto found =
        std::find_if(matrix_.axes.begin(), matrix_.axes.end(), [&](const Axis& a) { return a.name == name; });
    return found == matrix_.axes.end() ? nullptr : &*found;
  }

  void read_axes(const YAML::Node& node) {
    yaml_.require_map(node, "axes");
    for (const auto& [key, values] : entries(node)) {
      if (values.IsMap())
        yaml_.refuse(values, "a list of values was expected; write the releases out, for instance [2.9.1, 2.10.0]");
      Axis axis{.name = key.Scalar(), .values = yaml_.scalars(values, "the values of an axis")};
      if (axis.values.empty()) yaml_.refuse(values, fmt::format("axis '{}' has no values", axis.name));
      for (std::size_t i = 0; i < axis.values.size(); ++i)
        if (std::find(axis.values.begin(), axis.values.begin() + static_cast<std::ptrdiff_t>(i), axis.values[i]) !=
            axis.values.begin() + static_cast<std::ptrdiff_t>(i))
          yaml_.refuse(values[i], fmt::format("value '{}' stands twice in axis '{}'", axis.values[i], axis.name));
      matrix_.axes.push_back(std::move(axis));
    }
  }

  // Rows of axes that move together; they make their axes, with the values in order of appearance.
  void read_linked(const YAML::Node& node) {
    yaml_.require_list(node, "linked rows");
    for (const auto& row : node) {
      yaml_.require_map(row, "a linked row");
      std::vector<std::pair<std::string, std::string>> values;
      for (const auto& [key, value] : entries(row))
        values.emplace_back(key.Scalar(), yaml_.scalar(value, "a value of a linked row"));
      if (!matrix_.linked.empty())
        for (std::size_t i = 0; i < std::max(values.size(), matrix_.linked.front().size()); ++i)
          if (i >= values.size() || i >= matrix_.linked.front().size() ||
              values[i].first != matrix_.linked.front()[i].first)
            yaml_.refuse(row, "every linked row must name the same axes in the same order");
      for (const auto& [name, value] : values) {
        if (matrix_.linked.empty() && find_axis(name) != nullptr)
          yaml_.refuse(row, fmt::format("axis '{}' is already given under axes", name));
        add_value(name, value);
      }
      if (std::find(matrix_.linked.begin(), matrix_.linked.end(), values) != matrix_.linked.end())
        yaml_.refuse(row, "this linked row stands here a second time");
      matrix_.linked.push_back(std::move(values));
    }
  }

  void add_value(const std::string& name, const std::string& value) {
    auto axis = std::find_if(matrix_.axes.begin(), matrix_.axes.end(), [&](const Axis& a) { return a.name == name; });
    if (axis == matrix_.axes.end()) axis = matrix_.axes.insert(axis, {.name = name, .values = {}});
    if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end()) axis->values.push_back(value);
  }

  void read_indexes(const YAML::Node& node) {
    yaml_.require_map(node, "indexes");
    for (const auto& [key, value] : entries(node))
      matrix_.indexes.emplace_back(key.Scalar(), yaml_.scalar(value, "the address of an index"));
  }

  void read_environment(const YAML::Node& node) {
    yaml_.require_map(node, "an environment");
    static const std::vector<std::string> kKeys{"provider", "requirements", "find_links", "python"};
    yaml_.allow_keys(node, kKeys, "environment");
    EnvironmentRequest& environment = matrix_.environment;
    if (node["provider"]) environment.provider = yaml_.scalar(node["provider"], "a provider");
    const std::vector<std::string> providers{"wheels", "prefix"};
    if (std::find(providers.begin(), providers.end(), environment.provider) == providers.end())
      yaml_.refuse(node["provider"], fmt::format("unknown provider '{}' (known: wheels, prefix){}",
                                                 environment.provider, suggestion(environment.provider, providers)));
    const YAML::Node requirements = required(node, "requirements", "lists what each cell holds");
    environment.requirements = yaml_.scalars(requirements, "requirements");
    if (environment.requirements.empty()) yaml_.refuse(requirements, "at least one requirement was expected");
    for (std::size_t i = 0; i < environment.requirements.size(); ++i)
      check_placeholders(requirements[i], environment.requirements[i]);
    if (node["find_links"]) environment.find_links = yaml_.scalars(node["find_links"], "folders of wheels");
    if (node["python"]) environment.python = yaml_.scalar(node["python"], "the path of an interpreter");
    if (environment.provider == "prefix" && environment.python.empty())
      yaml_.refuse(node, "provider prefix needs 'python', the path of the environment's interpreter");
  }

  void check_placeholders(const YAML::Node& node, const std::string& requirement) {
    const auto placeholders = placeholders_of(requirement);
    if (!placeholders) yaml_.refuse(node, placeholders.error().message);
    for (const std::string& name : *placeholders)
      if (find_axis(name) == nullptr)
        yaml_.refuse(node, fmt::format("'{{{}}}' is no axis of this matrix{}", name, suggestion(name, axis_names())));
  }

  CellPattern read_pattern(const YAML::Node& node, std::span<const std::string> also_allowed) {
    CellPattern pattern;
    for (const auto& [key, value] : entries(node)) {
      const std::string name = key.Scalar();
      if (std::find(also_allowed.begin(), also_allowed.end(), name) != also_allowed.end()) continue;
      const Axis* axis = find_axis(name);
      if (axis == nullptr)
        yaml_.refuse(key, fmt::format("'{}' is no axis of this matrix{}", name, suggestion(name, axis_names())));
      std::vector<std::string> values = value.IsSequence()
                                            ? yaml_.scalars(value, "values of an axis")
                                            : std::vector<std::string>{yaml_.scalar(value, "a value of an axis")};
      if (values.empty()) yaml_.refuse(value, fmt::format("axis '{}' matches nothing without a value", name));
      for (const std::string& each : values)
        if (std::find(axis->values.begin(), axis->values.end(), each) == axis->values.end())
          yaml_.refuse(value, fmt::format("axis '{}' has no value '{}'{}", name, each, suggestion(each, axis->values)));
      pattern.emplace_back(name, std::move(values));
    }
    return pattern;
  }

  void read_exclusions(const YAML::Node& node) {
    yaml_.require_list(node, "exclusions");
    for (const auto& entry : node) {
      yaml_.require_map(entry, "an exclusion");
      const std::vector<std::string> allowed{"reason"};
      const YAML::Node reason = required(entry, "reason", "tells readers of the report why the cell is left out");
      matrix_.exclude.push_back({.where = read_pattern(entry, allowed), .reason = yaml_.scalar(reason, "a reason")});
      if (matrix_.exclude.back().where.empty())
        yaml_.refuse(entry, "an exclusion that names no axis leaves out every cell; name the axes it is about");
    }
  }

  void read_checks(const YAML::Node& node) {
    yaml_.require_list(node, "checks");
    for (const auto& entry : node) {
      CheckRequest check;
      if (entry.IsMap()) {
        if (entry.size() != 1) yaml_.refuse(entry, "one check with its parameters was expected");
        check.id = entry.begin()->first.Scalar();
        yaml_.require_map(entry.begin()->second, "the parameters of a check");
        for (const auto& [key, value] : entries(entry.begin()->second))
          check.parameters.emplace_back(key.Scalar(), yaml_.scalar(value, "a parameter"));
      } else {
        check.id = yaml_.scalar(entry, "the name of a check");
      }
      if (find_check(check.id)) yaml_.refuse(entry, fmt::format("check '{}' stands twice", check.id));
      matrix_.checks.push_back(std::move(check));
    }
    if (matrix_.checks.empty()) yaml_.refuse(node, "at least one check was expected");
  }

  bool find_check(const std::string& id) const {
    return std::any_of(matrix_.checks.begin(), matrix_.checks.end(), [&](const CheckRequest& c) { return c.id == id; });
  }

  void read_expectations(const YAML::Node& node) {
    yaml_.require_list(node, "expectations");
    for (const auto& entry : node) {
      yaml_.require_map(entry, "an expectation");
      static const std::vector<std::string> kKeys{"where", "check", "status", "cause", "reason", "issue", "until"};
      yaml_.allow_keys(entry, kKeys, "an expectation");
      matrix_.expect.push_back(read_expectation(entry));
    }
  }

  Expectation read_expectation(const YAML::Node& entry) {
    Expectation expectation{.where = {}, .line = yaml_.line_of(entry)};
    if (entry["where"]) {
      yaml_.require_map(entry["where"], "where");
      expectation.where = read_pattern(entry["where"], {});
    }
    const YAML::Node check = required(entry, "check", "says what is expected of");
    expectation.check = yaml_.scalar(check, "the name of a check");
    if (!find_check(expectation.check)) {
      std::vector<std::string> known;
      for (const CheckRequest& each : matrix_.checks) known.push_back(each.id);
      yaml_.refuse(check, fmt::format("'{}' is no check of this matrix{}", expectation.check,
                                      suggestion(expectation.check, known)));
    }
    const YAML::Node status = required(entry, "status", "is what is expected");
    const auto parsed = parse_status(yaml_.scalar(status, "a status"));
    if (!parsed || *parsed == Status::excluded)
      yaml_.refuse(status,
                   fmt::format("unknown status '{}'{}", status.Scalar(), suggestion(status.Scalar(), status_words())));
    expectation.status = *parsed;
    if (entry["cause"]) {
      const std::string cause = yaml_.scalar(entry["cause"], "a cause");
      expectation.cause = parse_cause(cause);
      if (!expectation.cause)
        yaml_.refuse(entry["cause"], fmt::format("unknown cause '{}'{}", cause, suggestion(cause, cause_words())));
      if (expectation.status == Status::pass) yaml_.refuse(entry["cause"], "a pass has no cause");
    }
    expectation.reason =
        yaml_.scalar(required(entry, "reason", "tells readers of the report why this is so"), "a reason");
    if (entry["issue"]) expectation.issue = yaml_.scalar(entry["issue"], "a link");
    if (entry["until"]) expectation.until = read_date(entry["until"]);
    return expectation;
  }

  std::string read_date(const YAML::Node& node) {
    const std::string date = yaml_.scalar(node, "a date");
    int year = 0;
    unsigned month = 0, day = 0;
    const auto number = [&](std::size_t at, std::size_t count, auto& value) {
      const char* end = date.data() + at + count;
      return date[at] != '-' && std::from_chars(date.data() + at, end, value) == std::from_chars_result{end, {}};
    };
    if (date.size() != 10 || date[4] != '-' || date[7] != '-' || !number(0, 4, year) || !number(5, 2, month) ||
        !number(8, 2, day) ||
        !std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)).ok())
      yaml_.refuse(node, "a date such as 2027-06-01 was expected");
    return date;
  }

  void check_index_axis(const YAML::Node& root) {
    const Axis* axis = find_axis("index");
    if (axis == nullptr) return;
    std::vector<std::string> names;
    for (const auto& [name, address] : matrix_.indexes) names.push_back(name);
    for (const std::string& value : axis->values)
      if (std::find(names.begin(), names.end(), value) == names.end())
        yaml_.refuse(root["axes"] && root["axes"]["index"] ? root["axes"]["index"] : root["linked"],
                     fmt::format("'{}' is no name under indexes{}", value, suggestion(value, names)));
  }

  void check_platform_axis(const YAML::Node& root) {
    const Axis* axis = find_axis("platform");
    if (axis == nullptr) return;
    const YAML::Node place = root["axes"] && root["axes"]["platform"] ? root["axes"]["platform"] : root["linked"];
    if (matrix_.environment.provider == "prefix")
      yaml_.refuse(place, "an installed environment has this machine's platform; take the axis away");
    for (const std::string& value : axis->values)
      if (const auto platform = platform_named(value); !platform) yaml_.refuse(place, platform.error().text());
  }

  // An axis that changes nothing multiplies the work for nothing: most likely a placeholder was forgotten.
  void check_axes_are_used(const YAML::Node& root) {
    for (const Axis& axis : matrix_.axes) {
      if (contains(kMeaningfulAxes, axis.name)) continue;
      if (contains(kReservedAxes, axis.name))
        yaml_.refuse(root["axes"],
                     fmt::format("axis '{}' is kept for checks that this version does not have", axis.name));
      const auto& requirements = matrix_.environment.requirements;
      const bool used = std::any_of(requirements.begin(), requirements.end(), [&](const std::string& r) {
        return r.find("{" + axis.name + "}") != std::string::npos;
      });
      if (!used)
        yaml_.refuse(root["environment"]["requirements"],
                     fmt::format("axis '{}' is used in no requirement; write {{{}}} where its value belongs{}",
                                 axis.name, axis.name, suggestion(axis.name, kMeaningfulAxes)));
    }
  }

  // A few short axes can stand for more cells than memory holds.
  void check_cell_count(const YAML::Node& root) {
    std::size_t cells = std::max<std::size_t>(1, matrix_.linked.size());
    for (const Axis& axis : matrix_.axes) {
      const bool linked =
          !matrix_.linked.empty() && std::any_of(matrix_.linked.front().begin(), matrix_.linked.front().end(),
                                                 [&](const auto& pair) { return pair.first == axis.name; });
      if (!linked) cells *= axis.values.size();
      if (cells > kMostCells)
        yaml_.refuse(root["axes"] ? root["axes"] : root["linked"],
                     fmt::format("the axes make more than {} cells; split the matrix or link axes", kMostCells));
    }
  }

  YamlReader yaml_;
  Matrix matrix_;
};

}  // namespace

Result<Matrix> read_matrix(const std::filesystem::path& file) try {
  return MatrixReader(file).read();
} catch (const YamlFault& fault) {
  return fault.error;
} catch (const YAML::Exception& failure) {
  return Error{file.string(), "can't be read as YAML: " + failure.msg};
}

}  // namespace compatrix
