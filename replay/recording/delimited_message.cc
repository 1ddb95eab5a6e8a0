#include "replay/recording/delimited_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

absl::StatusOr<std::string> DelimitedMessage(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  bool serialized = false;
  {
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    coded.WriteVarint64(message.ByteSizeLong());
    serialized = message.SerializeToCodedStream(&coded);
  }
  if (!serialized) {
    return absl::InternalError(absl::StrCat("cannot serialize a ", message.GetTypeName()));
  }
  return bytes;
}

}  // namespace blockreplay::replay
