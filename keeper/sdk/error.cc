#include "keeper/sdk/error.h"

#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper::sdk {

Error::Error(const ErrorCode& code, std::string_view message)
    : rep_(std::make_shared<const Rep>(Rep{
          code,
          message.empty() ? std::string(code.description) : StrCat(message, ": ", code.description),
          nullptr})) {}

Error Error::New(std::string message) {
  return Error(std::make_shared<const Rep>(Rep{kErrUnregistered, std::move(message), nullptr}));
}

Error Error::Opaque(std::string_view message, const Error& cause) {
  return Error(std::make_shared<const Rep>(
      Rep{kErrUnregistered, StrCat(message, ": ", cause.message()), cause.rep_}));
}

Error Error::Wrap(std::string_view message) const {
  if (rep_ == nullptr) return {};
  return Error(
      std::make_shared<const Rep>(Rep{rep_->code, StrCat(message, ": ", rep_->message), rep_}));
}

bool Error::Is(const ErrorCode& code) const {
  for (const Rep* rep = rep_.get(); rep != nullptr; rep = rep->cause.get()) {
    if (rep->code == code) return true;
  }
  return false;
}

std::string_view Error::codespace() const {
  return rep_ == nullptr ? std::string_view() : rep_->code.codespace;
}
uint32_t Error::code() const { return rep_ == nullptr ? 0 : rep_->code.code; }

const std::string& Error::message() const {
  static const std::string* const kNil = new std::string("<nil>");
  return rep_ == nullptr ? *kNil : rep_->message;
}

}  // namespace blockreplay::keeper::sdk
