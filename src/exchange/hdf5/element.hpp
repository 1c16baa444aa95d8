#pragma once

#include <cstddef>
#include <memory>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <vector>

#include "exchange/hdf5/handle.hpp"

namespace pmemcpy::exchange {

/// How elements of a type of HDF5 are kept in a pool. Nearly all are their bytes as they lie in the file. Text of any length is
/// padded to the longest, which takes two looks at the elements: measure() all, then settle(), then convert().
class Hdf5Element {
public:
    /// Errors: unsupported for references, times and rows of any length, naming the member.
    explicit Hdf5Element(hid_t file_type);

    /// How H5Dread and H5Aread are to give the elements.
    hid_t memory_type() const { return memory_; }
    std::size_t memory_bytes() const { return memory_bytes_; }
    /// Whether there are pointers to text in the elements, to be freed by H5Dvlen_reclaim.
    bool has_text() const { return has_text_; }
    /// Whether an element is nothing but text of any length.
    bool is_text() const { return root_.what == Node::What::text; }
    void measure(std::span<const std::byte> elements);
    /// After the last measure(): from here on type() is known.
    void settle();
    const Type& type() const { return type_; }
    /// The elements as the pool keeps them; the same bytes unless there is text in them.
    std::span<const std::byte> convert(std::span<const std::byte> elements,
                                       std::vector<std::byte>& room) const;
    /// What does not come over exactly; empty if all does.
    const std::string& note() const { return note_; }

private:
    struct Node {
        enum class What { plain, text, array, structure } what = What::plain;
        Handle memory{};
        Type type{};                // plain
        bool utf8 = true;           // text
        std::size_t width = 1;      // text: of the longest
        Dimensions dims{};          // array
        std::vector<Node> inner{};  // array: one; structure: its members
        std::vector<std::string> names{};
        std::vector<std::size_t> from{};  // offsets of the members in memory
        bool has_text = false;            // anywhere in it
    };

    Node node_of(hid_t type, const std::string& name);
    Node integer(hid_t type, const std::string& name, bool is_bitfield);
    Node real(hid_t type, const std::string& name);
    Node text(hid_t type);
    Node compound(hid_t type, const std::string& name);
    Node enumeration(hid_t type, const std::string& name);
    Node array(hid_t type, const std::string& name);
    void note(const std::string& name, const std::string& what);
    static bool find_text(Node& node);
    static std::size_t bytes_of(const Node& node) { return H5Tget_size(node.memory); }
    static void measure(Node& node, const std::byte* from);
    static Type settled(const Node& node);
    static void convert(const Node& node, const Type& type, const std::byte* from, std::byte* to);

    std::string note_;
    Node root_;
    Handle memory_;
    std::size_t memory_bytes_ = 0;
    bool has_text_ = false;
    Type type_;
};

}  // namespace pmemcpy::exchange
