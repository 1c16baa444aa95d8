#include "copy/side.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::copy {
namespace {

/// The scope of the object under an id, or of one that is made there now.
Scope scope_at(const PMEM& pool, std::string id) {
    while (id != "/" && !pool.exists(id)) {
        const std::size_t slash = id.rfind('/');
        id = slash == std::string::npos ? "/" : id.substr(0, slash);
    }
    return scope_of(pool, id);
}

}  // namespace

PMEM& side_for(const PMEM& source, const std::string& from, PMEM& target, const std::string& to) {
    const bool is_private = scope_of(source, from) == Scope::own;
    if (!is_private && scope_at(target, to) == Scope::shared) return target;
    try {
        return private_side(target);
    } catch (const Error& error) {
        throw Error(error.kind(), "'" + (is_private ? from : to) +
                                      "' is private, and so would be its copy in " + target.info().path +
                                      ": " + error.what());
    }
}

void check_attributes_stay_private(const PMEM& source, const std::string& from, const PMEM& target,
                                   const std::string& to) {
    if (scope_of(source, from) == Scope::shared || scope_at(target, to) == Scope::own) return;
    throw Error(Code::unsupported, "'" + from + "' is private, and '" + to + "' in " + target.info().path +
                                       " is shared: others would see the attributes of the one at the other; "
                                       "take another name, or share the source or make the target private "
                                       "first (set_scope, pmemcpy scope)");
}

}  // namespace pmemcpy::copy
