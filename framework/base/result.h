// Result<T>: a value or an Error that a person can act on. Readers throw FormatError inside and
// turn it into a Result at their door; nothing above a reader has to catch.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace compatrix {

// One failure a user can cause: what it is about (file, URL, requirement) and one clear sentence
// that says where and what to do. Printed as "subject: message".
struct Error {
  std::string subject;
  std::string message;

  [[nodiscard]] std::string text() const { return subject.empty() ? message : subject + ": " + message; }
};

// Marker for operations that yield nothing but may fail.
struct Done {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace compatrix
