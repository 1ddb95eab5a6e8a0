#include "storage/bptree/naive_tree.h"

#include <algorithm>
#include <iterator>

#include "storage/sha256.h"

namespace blockreplay::storage::bptree {
namespace {

template <typename T>
std::vector<T> TakeFrom(std::vector<T>* from, size_t start) {
  std::vector<T> taken(std::make_move_iterator(from->begin() + static_cast<ptrdiff_t>(start)),
                       std::make_move_iterator(from->end()));
  from->resize(start);
  return taken;
}

template <typename T>
void Move(std::vector<T>* from, size_t at, std::vector<T>* to, size_t to_at) {
  T item = std::move((*from)[at]);
  from->erase(from->begin() + static_cast<ptrdiff_t>(at));
  to->insert(to->begin() + static_cast<ptrdiff_t>(to_at), std::move(item));
}

template <typename T>
void MoveAll(std::vector<T>* from, std::vector<T>* to) {
  std::move(from->begin(), from->end(), std::back_inserter(*to));
  from->clear();
}

size_t ChildIndex(const std::vector<std::string>& separators, std::string_view key) {
  return static_cast<size_t>(std::upper_bound(separators.begin(), separators.end(), key) -
                             separators.begin());
}

std::string Bytes(const Hash& hash) {
  return std::string(reinterpret_cast<const char*>(hash.data()), hash.size());
}

}  // namespace

void NaiveTree::Set(std::string_view key, std::string_view value) {
  if (root_ == nullptr) root_ = std::make_unique<Node>();
  Split split = Insert(root_.get(), key, value);
  if (split.right == nullptr) return;
  auto root = std::make_unique<Node>();
  root->leaf = false;
  root->keys.push_back(std::move(split.separator));
  root->children.push_back(std::move(root_));
  root->children.push_back(std::move(split.right));
  root_ = std::move(root);
}

NaiveTree::Split NaiveTree::Insert(Node* node, std::string_view key, std::string_view value) {
  if (node->leaf) {
    const auto it = std::lower_bound(node->keys.begin(), node->keys.end(), key);
    const auto position = it - node->keys.begin();
    if (it != node->keys.end() && *it == key) {
      node->values[static_cast<size_t>(position)] = value;
      return {};
    }
    node->keys.insert(it, std::string(key));
    node->values.insert(node->values.begin() + position, std::string(value));
    if (node->keys.size() <= 32) return {};
    const size_t left = position == 32 ? 31 : 17;
    Split split;
    split.right = std::make_unique<Node>();
    split.right->keys = TakeFrom(&node->keys, left);
    split.right->values = TakeFrom(&node->values, left);
    split.separator = split.right->keys[0];
    return split;
  }
  const size_t index = ChildIndex(node->keys, key);
  Split below = Insert(node->children[index].get(), key, value);
  if (below.right == nullptr) return {};
  const auto at = static_cast<ptrdiff_t>(index);
  node->keys.insert(node->keys.begin() + at, std::move(below.separator));
  node->children.insert(node->children.begin() + at + 1, std::move(below.right));
  if (node->children.size() <= 32) return {};
  Split split;
  split.right = std::make_unique<Node>();
  split.right->leaf = false;
  split.right->keys = TakeFrom(&node->keys, 17);
  split.right->children = TakeFrom(&node->children, 17);
  split.separator = std::move(node->keys[16]);
  node->keys.resize(16);
  return split;
}

void NaiveTree::Delete(std::string_view key) {
  if (root_ == nullptr) return;
  bool found = false;
  bool underflow = false;
  Remove(root_.get(), key, &found, &underflow);
  if (root_->leaf) {
    if (root_->keys.empty()) root_.reset();
  } else if (root_->keys.empty()) {
    root_ = std::unique_ptr<Node>(std::move(root_->children[0]));
  }
}

void NaiveTree::Remove(Node* node, std::string_view key, bool* found, bool* underflow) {
  *underflow = false;
  if (node->leaf) {
    const auto it = std::lower_bound(node->keys.begin(), node->keys.end(), key);
    *found = it != node->keys.end() && *it == key;
    if (!*found) return;
    node->values.erase(node->values.begin() + (it - node->keys.begin()));
    node->keys.erase(it);
    *underflow = node->keys.size() < 16;
    return;
  }
  const size_t index = ChildIndex(node->keys, key);
  bool child_underflow = false;
  Remove(node->children[index].get(), key, found, &child_underflow);
  if (!child_underflow) return;
  const size_t children = node->children.size();
  Fix(node, index);
  *underflow = node->children.size() < children && node->keys.size() < 15;
}

void NaiveTree::Fix(Node* parent, size_t index) {
  const auto can_spare = [](const Node& node) { return node.keys.size() > (node.leaf ? 16 : 15); };
  Node& child = *parent->children[index];
  if (index > 0 && can_spare(*parent->children[index - 1])) {
    Node& left = *parent->children[index - 1];
    std::string& separator = parent->keys[index - 1];
    if (child.leaf) {
      Move(&left.values, left.values.size() - 1, &child.values, 0);
      Move(&left.keys, left.keys.size() - 1, &child.keys, 0);
      separator = child.keys[0];
    } else {
      Move(&left.children, left.children.size() - 1, &child.children, 0);
      child.keys.insert(child.keys.begin(), separator);
      separator = left.keys.back();
      left.keys.pop_back();
    }
    return;
  }
  if (index + 1 < parent->children.size() && can_spare(*parent->children[index + 1])) {
    Node& right = *parent->children[index + 1];
    std::string& separator = parent->keys[index];
    if (child.leaf) {
      Move(&right.values, 0, &child.values, child.values.size());
      Move(&right.keys, 0, &child.keys, child.keys.size());
      separator = right.keys[0];
    } else {
      Move(&right.children, 0, &child.children, child.children.size());
      child.keys.push_back(separator);
      separator = right.keys[0];
      right.keys.erase(right.keys.begin());
    }
    return;
  }
  const size_t left_index = index > 0 ? index - 1 : index;
  Node& left = *parent->children[left_index];
  Node& right = *parent->children[left_index + 1];
  if (!left.leaf) left.keys.push_back(parent->keys[left_index]);
  MoveAll(&right.keys, &left.keys);
  MoveAll(&right.values, &left.values);
  MoveAll(&right.children, &left.children);
  parent->keys.erase(parent->keys.begin() + static_cast<ptrdiff_t>(left_index));
  parent->children.erase(parent->children.begin() + static_cast<ptrdiff_t>(left_index) + 1);
}

Hash NaiveTree::HashOf(const Node& node) {
  const std::string empty = Bytes(storage::Sha256(std::string_view("\2", 1)));
  std::vector<std::string> slots;
  for (size_t i = 0; i < node.keys.size() && node.leaf; ++i) {
    std::string slot(1, '\0');
    for (size_t n = node.keys[i].size();; n >>= 7) {
      slot.push_back(static_cast<char>(n < 0x80 ? n : (n & 0x7f) | 0x80));
      if (n < 0x80) break;
    }
    slot += node.keys[i] + '\x20' + Bytes(storage::Sha256(node.values[i]));
    slots.push_back(Bytes(storage::Sha256(slot)));
  }
  for (const auto& child : node.children) slots.push_back(Bytes(HashOf(*child)));
  slots.resize(32, empty);
  while (slots.size() > 1) {
    std::vector<std::string> above;
    for (size_t i = 0; i < slots.size(); i += 2) {
      above.push_back(slots[i] == empty && slots[i + 1] == empty
                          ? empty
                          : Bytes(storage::Sha256("\1" + slots[i] + slots[i + 1])));
    }
    slots = std::move(above);
  }
  Hash hash;
  std::copy(slots[0].begin(), slots[0].end(), hash.begin());
  return hash;
}

Hash NaiveTree::RootHash() const {
  return root_ == nullptr ? storage::Sha256(std::string_view()) : HashOf(*root_);
}

}  // namespace blockreplay::storage::bptree
