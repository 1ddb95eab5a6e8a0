#pragma once

// Messages by the name of their type, through the generated descriptors: for printing, and for the
// types that no state transition here touches.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace blockreplay::keeper::thorchain {

// Sets what the original's encoder always writes (option `always` in blockreplay/wire.proto):
// embedded messages that are no pointers, numbers kept as text.
void CompleteMessage(google::protobuf::Message* message);

// Decodes as the original's generated classes do: refuses numbers kept as text (option `type` in
// blockreplay/wire.proto), points in time and durations that are none.
bool ParseMessage(std::string_view bytes, google::protobuf::Message* message);

// Decodes and encodes again; nothing if the type is unknown or the bytes are malformed.
std::optional<std::string> ReencodeMessage(std::string_view type, std::string_view bytes);

// Decodes with texts as they are, which need be no UTF-8: fields that are texts in the original are
// of type bytes with the option `text` in the descriptor of what is given back. Null if the type is
// unknown or the bytes are malformed.
std::unique_ptr<google::protobuf::Message> ParseWithAnyText(std::string_view type,
                                                            std::string_view bytes);

// One line, field by field; hex if it can't be decoded. Messages inside of Any are decoded too.
std::string DescribeMessage(std::string_view type, std::string_view bytes);

}  // namespace blockreplay::keeper::thorchain
