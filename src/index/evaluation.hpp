#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "index/node.hpp"
#include "index/object.hpp"

namespace pmemcpy::index {

/// Asks one object after another whether it meets a condition, and notes what its comparisons could compare.
///
/// A comparison that met unlike things only is an error of the whole query. Which objects a comparison has to be asked of depends on how a query
/// is answered; that must not decide what is an error. So each comparison looks at each object in the scope, also where the condition is
/// decided without it, until it has met something that compares.
class Evaluation {
public:
    explicit Evaluation(NodePointer condition);

    /// Boxes of elements are added to `boxes`. Errors: corrupt, io_error.
    bool meets(Object& object, std::vector<Box>& boxes);
    /// Only notes what there is to compare.
    void look_at(Object& object);

    /// What a test has met.
    struct Met {
        const Node* test;
        bool has_comparable = false;
        std::uint64_t unlike = 0;
        std::string example{};  // "the text \"K\" in 'u/a'"
    };
    std::span<const Met> met() const { return met_; }
    /// What else there is needs no look: others have found something that compares.
    void leave_out(const Node* test);
    bool is_all_left_out() const { return undecided_ == 0; }

    /// After the last object. Errors: type_mismatch when a test met only what cannot be compared so.
    void finish() const;

private:
    bool holds(const NodePointer& node, Object& object, std::vector<Box>& boxes);
    bool holds_test(const Node& node, Object& object);
    bool holds_elements(const Node& node, Object& object, std::vector<Box>& boxes);
    Met* met_by(const Node& node);
    void note(Met& met, const Facts& facts, const std::string& of);

    NodePointer condition_;  // null: everything
    std::string scope_;      // what the names of objects begin with that count
    std::vector<Met> met_;
    std::size_t undecided_ = 0;  // tests that have met nothing that compares
};

}  // namespace pmemcpy::index
