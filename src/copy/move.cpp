// Moving from pool to pool: the variable is copied, set aside in the source under another name, compared there, and erased. A store
// under its old name makes another variable from then on, so the move erases no acknowledged store that the copy lacks.

#include <pmemcpy/copy.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "copy/draft.hpp"
#include "copy/side.hpp"

namespace pmemcpy {

namespace {

const std::string aside_prefix = ".moved-";

std::size_t last_component(const std::string& id) { return id.rfind('/') + 1; }

std::string name_aside(const PMEM& source, const std::string& id) {
    const std::size_t last = last_component(id);
    return copy::name_of_ones_own(source, id.substr(0, last) + aside_prefix, "-" + id.substr(last));
}

/// The id that a variable had before it was set aside under this name; nothing, if it is no such name.
std::optional<std::string> name_before(const std::string& aside) {
    const std::size_t last = last_component(aside);
    if (aside.compare(last, aside_prefix.size(), aside_prefix) != 0) return std::nullopt;
    const std::size_t number = last + aside_prefix.size();
    const std::size_t dash = aside.find_first_not_of("0123456789", number);
    if (dash == number || dash == std::string::npos || aside[dash] != '-' || dash + 1 == aside.size())
        return std::nullopt;
    return aside.substr(0, last) + aside.substr(dash + 1);
}

std::vector<Attribute> attributes_of(const PMEM& pool, const std::string& id) {
    std::vector<Attribute> all;
    pool.for_each_attribute_encoded(
        id, [&](const std::string& name, const Type& type, SerializerType serializer,
                std::span<const std::byte> bytes) { all.emplace_back(name, type, serializer, bytes); });
    return all;
}

bool are_same(const Attribute& a, const Attribute& b) {
    return a.name() == b.name() && a.type() == b.type() && a.serializer() == b.serializer() &&
           std::ranges::equal(a.bytes(), b.bytes());
}

/// The state of a variable, told by versions: no two stores have the same.
class Content {
public:
    Content(const PMEM& pool, const std::string& id)
        : oid_(pool.oid(id)), attributes_(attributes_of(pool, id)) {
        const Info info = pool.info(id);
        versions_.push_back(info.version);
        versions_.push_back(info.is_frozen ? 1 : 0);
        if (info.kind != VariableKind::array) return;
        for (const BlockInfo& block : pool.blocks(id)) versions_.push_back(block.version);
    }

    bool has_attributes_of(const PMEM& pool, const std::string& id) const {
        return std::ranges::equal(attributes_, attributes_of(pool, id), are_same);
    }
    friend bool operator==(const Content& a, const Content& b) {
        return a.oid_ == b.oid_ && a.versions_ == b.versions_ &&
               std::ranges::equal(a.attributes_, b.attributes_, are_same);
    }

private:
    Oid oid_;
    std::vector<std::uint64_t> versions_;
    std::vector<Attribute> attributes_;
};

/// Gives a variable that was set aside its name back. Returns the outcome, for a message.
std::string give_back(PMEM& source, const std::string& aside, const std::string& id) {
    try {
        source.rename(aside, id);
        return "'" + id + "' stays in the source";
    } catch (const Error& error) {
        if (error.kind() == Code::already_exists)
            return "another '" + id +
                   "' has been stored in the source since, which stays, and the one before is '" + aside +
                   "' there";
        if (error.kind() == Code::not_found) return "another move has given '" + id + "' its name back";
        return "it is '" + aside + "' in the source until it is moved again";
    }
}

/// Erases the source, if it still is as it was copied.
void erase_copied(PMEM& source, const std::string& id, const std::string& aside, const Content& copied) {
    source.rename(id, aside);
    Code code = Code::busy;
    std::string why = "'" + id + "' was stored into while it was being moved";
    try {
        if (Content(source, aside) == copied) return source.erase(aside);
    } catch (const Error& error) {
        if (error.kind() == Code::not_found) {
            why = "'" + id + "' is being moved by another process";
        } else {
            code = error.kind();
            why = error.what();
        }
    }
    throw Error(code, why + "; " + give_back(source, aside, id));
}

}  // namespace

void move_variable(PMEM& source, const std::string& from, PMEM& target, const std::string& to, bool force,
                   const Copied& copied) {
    if (&source == &target) return rename_variable(target, from, to, force);
    if (!source.exists(from)) give_back_moved(source, from);
    const std::string aside = name_aside(source, from);
    const Content before(source, from);
    PMEM& side = copy::side_for(source, from, target, to);
    const copy::Draft draft(side);
    copy::fill(source, from, side, draft.id(), copied);
    if (!(Content(source, from) == before) || !before.has_attributes_of(side, draft.id())) {
        throw Error(Code::busy,
                    "'" + from +
                        "' was stored into while it was being moved, and stays as it is; move it when "
                        "the program that stores it has paused");
    }
    rename_variable(target, draft.id(), to, force);
    try {
        target.sync();  // or a power loss could take both
        erase_copied(source, from, aside, before);
    } catch (const Error& error) {
        throw Error(error.kind(), std::string(error.what()) + "; '" + to +
                                      "' in the target is a whole copy of what it was when the move began");
    }
}

std::vector<std::string> give_back_moved(PMEM& pool, const std::string& id) {
    std::vector<std::string> names;
    for (const std::string& aside : pool.ids(id.substr(0, last_component(id)))) {
        const auto name = name_before(aside);
        if (!name || !(id.empty() || *name == id || name->starts_with(id + "/"))) continue;
        try {
            pool.rename(aside, *name);
            names.push_back(*name);
        } catch (const Error& error) {
            // A newer variable keeps the name, or another process was faster.
            if (error.kind() != Code::already_exists && error.kind() != Code::not_found) throw;
        }
    }
    return names;
}

}  // namespace pmemcpy
