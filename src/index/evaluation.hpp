#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/node.hpp"
#include "index/object.hpp"

namespace pmemcpy::index {

/// Asks one object after another whether it meets a condition, and remembers where all that was met was of another type.
class Evaluation {
public:
    explicit Evaluation(NodePointer condition) : condition_(std::move(condition)) {}

    /// Boxes of elements are added to `boxes`. Errors: corrupt, io_error.
    bool meets(Object& object, std::vector<Box>& boxes);

    /// After the last object. Errors: type_mismatch when a test met only what cannot be compared so.
    void finish() const;
    /// Whether finish() would throw if this was all.
    bool is_suspicious() const;

private:
    struct Met {
        bool has_comparable = false;
        std::uint64_t unlike = 0;
        std::string example{};  // "the text \"K\" in 'u/a'"
    };
    bool holds(const NodePointer& node, Object& object, std::vector<Box>& boxes);
    bool holds_test(const Node& node, Object& object);
    bool holds_elements(const Node& node, Object& object, std::vector<Box>& boxes);

    NodePointer condition_;  // null: everything
    std::unordered_map<const Node*, Met> met_;
};

}  // namespace pmemcpy::index
