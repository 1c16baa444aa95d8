#include "cli/element/leaf.hpp"

namespace pmemcpy::cli {

namespace {

std::string joined(const std::string& outer, const std::string& inner) {
    return outer.empty() ? inner : outer + "." + inner;
}

/// "[1][2]": the indices of an array's k-th element.
std::string indices(const Dimensions& dims, Extent k) {
    std::string text;
    for (int d = dims.size(); d-- > 0; k /= dims[d]) text.insert(0, "[" + std::to_string(k % dims[d]) + "]");
    return text;
}

void add(const Type& type, const std::string& field, const std::string& name, std::uint64_t offset,
         std::vector<Leaf>& leaves) {
    if (type.kind() == Kind::structure && type.is_fixed_size()) {
        for (const Field& inner : type.fields())
            add(inner.type, joined(field, inner.name), joined(name, inner.name), offset + inner.offset,
                leaves);
    } else if (type.kind() == Kind::array && type.is_fixed_size()) {
        for (Extent k = 0; k < type.dimensions().elements(); ++k)
            add(type.element(), field, name + indices(type.dimensions(), k),
                offset + k * type.element().size(), leaves);
    } else {
        const bool is_named = !name.empty() && name.front() != '[';
        leaves.push_back({field.empty() ? "value" : field, is_named ? name : "value" + name, offset, type});
    }
}

}  // namespace

std::vector<Leaf> leaves_of(const Type& type) {
    std::vector<Leaf> leaves;
    add(type, "", "", 0, leaves);
    return leaves;
}

}  // namespace pmemcpy::cli
