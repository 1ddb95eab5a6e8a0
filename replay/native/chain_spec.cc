#include "replay/native/chain_spec.h"

#include <string>

namespace blockreplay::replay {
namespace {

std::string Text(const Manifest& manifest, const char* section, const char* field) {
  const auto found = manifest.document.find(section);
  if (found == manifest.document.end() || !found->is_object()) return {};
  const auto text = found->find(field);
  return text != found->end() && text->is_string() ? text->get<std::string>() : std::string();
}

}  // namespace

keeper::ChainSpec ChainSpecOf(const Manifest& manifest) {
  keeper::ChainSpec spec;
  spec.application = manifest.application_name;
  spec.version = manifest.application_version;
  spec.chain_id = manifest.chain_id;
  spec.build_tags = Text(manifest, "application", "build_tags");
  spec.constants_version = Text(manifest, "application", "constants_version");
  spec.suite = Text(manifest, "notes", "suite");
  const auto notes = manifest.document.find("notes");
  spec.setparam_memos =
      notes != manifest.document.end() && notes->is_object() && notes->contains("setparam");
  return spec;
}

}  // namespace blockreplay::replay
