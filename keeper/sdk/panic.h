#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace blockreplay::keeper::sdk {

// What the node's code reports by panicking: arithmetic that leaves its range, division by zero, an
// index out of range. Thrown by state transitions and caught where the original recovers: by the
// runner of a transaction, and in a few other places that say so. It never leaves the keeper unit.
class Panic : public std::exception {
 public:
  explicit Panic(std::string message) : message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  // What `%v` prints of the recovered value.
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

class OutOfGas : public Panic {
 public:
  explicit OutOfGas(std::string_view descriptor) : Panic(std::string(descriptor)) {}
};

}  // namespace blockreplay::keeper::sdk
