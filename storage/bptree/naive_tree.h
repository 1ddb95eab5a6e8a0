#pragma once

// The rules of the tree (fixtures/gno/SPEC.md, section 1.1) as plainly as they can be written:
// whole keys in vectors, every hash computed anew from scratch. Tests compare the real tree with
// it.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

class NaiveTree {
 public:
  void Set(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  Hash RootHash() const;

 private:
  struct Node {
    bool leaf = true;
    std::vector<std::string> keys;    // leaf: keys; inner: separators
    std::vector<std::string> values;  // leaf only
    std::vector<std::unique_ptr<Node>> children;
  };
  struct Split {
    std::string separator;
    std::unique_ptr<Node> right;
  };

  static Split Insert(Node* node, std::string_view key, std::string_view value);
  static void Remove(Node* node, std::string_view key, bool* found, bool* underflow);
  static void Fix(Node* parent, size_t index);
  static Hash HashOf(const Node& node);

  std::unique_ptr<Node> root_;
};

}  // namespace blockreplay::storage::bptree
