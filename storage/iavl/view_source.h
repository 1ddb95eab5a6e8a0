#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "storage/iavl/node_store.h"

namespace blockreplay::storage::iavl {

// Versions that views are reading, with their number.
using OpenViews = std::map<int64_t, int>;

// Where a view's nodes are: in a store of its own, or shared with its tree.
class ViewSource {
 public:
  // Shares `root`'s nodes with the tree (null for an empty tree).
  ViewSource(NodeStore* shared, int64_t version, std::shared_ptr<OpenViews> open_views);
  ViewSource(std::unique_ptr<NodeStore> own, int64_t version,
             std::shared_ptr<OpenViews> open_views);
  ~ViewSource();
  ViewSource(const ViewSource&) = delete;
  ViewSource& operator=(const ViewSource&) = delete;

  NodeStore* store() { return store_; }
  Inner* anchor() { return anchor_; }
  int64_t version() const { return version_; }

  // Resolved when the view is made, so that asking for them cannot fail.
  Hash hash{};
  int64_t size = 0;
  int32_t height = 0;

 private:
  std::unique_ptr<NodeStore> own_;
  NodeStore* store_;
  Inner* anchor_;
  int64_t version_;
  std::shared_ptr<OpenViews> open_views_;
};

// Fills in hash, size and height from the root.
absl::Status ResolveRoot(ViewSource* source);

}  // namespace blockreplay::storage::iavl
