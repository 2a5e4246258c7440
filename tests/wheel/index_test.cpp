#include "framework/wheel/index_configuration.h"

#include <cstdlib>
#include <map>

#include <catch2/catch_all.hpp>

#include "tests/support/scratch_folder.h"

using namespace compatrix::wheel;

namespace {

// What decides about indexes, away for the time of a test; a home of its own.
class Surroundings {
 public:
  Surroundings() {
    for (const char* name :
         {"UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_CONFIG_FILE", "PIP_INDEX_URL",
          "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "PIP_CERT", "SSL_CERT_FILE", "XDG_CONFIG_HOME", "HOME"}) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
    set("HOME", folder_.path().string());
  }
  ~Surroundings() {
    for (const std::string& name : changed_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    changed_.push_back(name);
  }
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  support::ScratchFolder folder_;
  std::map<std::string, std::string> before_;
  std::vector<std::string> changed_;
};

std::string given(const std::string& name, const std::optional<std::string>& further = std::nullopt) {
  for (const auto& [key, value] : index_environment(further))
    if (key == name) return value;
  return "";
}

}  // namespace

TEST_CASE("pip's index is uv's where uv has none", "[index]") {
  Surroundings here;
  here.write(".config/pip/pip.conf",
             "# index-url = http://comment\n[install]\nindex_url: http://install/simple\n[global]\n"
             "index-url = http://global/simple\nextra-index-url =\n    http://one/simple\n    http://two/simple\n"
             "cert = /etc/bundle.pem\n");
  CHECK(given("UV_DEFAULT_INDEX") == "http://install/simple");
  CHECK(given("UV_INDEX") == "http://one/simple http://two/simple");
  CHECK(given("UV_INDEX", "http://named/simple") == "http://named/simple http://one/simple http://two/simple");
  CHECK(given("SSL_CERT_FILE") == "/etc/bundle.pem");
  here.set("PIP_INDEX_URL", "http://variable/simple");
  CHECK(given("UV_DEFAULT_INDEX") == "http://variable/simple");
  here.set("PIP_CONFIG_FILE", "/dev/null");
  CHECK(given("UV_INDEX").empty());
}

TEST_CASE("uv's own files go before pip's", "[index]") {
  Surroundings here;
  here.set("PIP_INDEX_URL", "http://pip/simple");
  here.write(".config/uv/uv.toml", "index-url = \"http://uv/simple\"\nextra-index-url = [\"http://more/simple\"]\n");
  CHECK(given("UV_DEFAULT_INDEX") == "http://uv/simple");
  CHECK(given("UV_INDEX") == "http://more/simple");
  here.write("other.toml",
             "[[index]]\nname = \"corp\"\nurl = \"http://corp/simple\"\ndefault = true\n[[index]]\nurl = "
             "\"http://x/simple\"\n");
  here.set("UV_CONFIG_FILE", here.path("other.toml"));
  CHECK(given("UV_DEFAULT_INDEX") == "corp=http://corp/simple");
  CHECK(given("UV_INDEX") == "http://x/simple");
}

TEST_CASE("uv's variables stand as they are", "[index]") {
  Surroundings here;
  here.set("PIP_INDEX_URL", "http://pip/simple");
  here.set("PIP_EXTRA_INDEX_URL", "http://extra/simple");
  here.set("UV_DEFAULT_INDEX", "http://uv/simple");
  CHECK(given("UV_DEFAULT_INDEX").empty());
  CHECK(given("UV_INDEX").empty());
  here.set("UV_INDEX", "http://own/simple");
  CHECK(given("UV_INDEX", "http://named/simple") == "http://named/simple http://own/simple");
}

TEST_CASE("credentials are taken out of foreign words", "[index]") {
  CHECK(without_credentials("error at https://user:pass@host/simple and http://t@h/x") ==
        "error at https://host/simple and http://h/x");
  CHECK(without_credentials("mail a@b is kept") == "mail a@b is kept");
}
