#include <pmemcpy/scope.hpp>

#include "pmem/move.hpp"

#include <pmemcpy/error.hpp>

#include <vector>

namespace pmemcpy {

using pmem::Sides;

namespace {

/// A private side that is open as a pool of its own: all in it is private.
bool is_private_side(const PMEM& pool) { return Sides::seen_by(pool).front()->is_side(); }

void refuse_private_side(const PMEM& pool) {
    if (is_private_side(pool))
        throw Error(Code::invalid_argument, "the private side of a pool has no sides of its own");
}

void refuse_in_step(const Sides& sides) {
    if (!sides.in_step()) return;
    throw Error(Code::unsupported,
                "in a step nothing becomes private or shared: it would be seen at once; do it after commit");
}

}  // namespace

const char* name_of(Scope scope) noexcept { return scope == Scope::shared ? "shared" : "private"; }

Scope parse_scope(std::string_view text) {
    for (const Scope scope : {Scope::shared, Scope::own}) {
        if (text == name_of(scope)) return scope;
    }
    throw Error(Code::invalid_argument, "a scope is `shared` or `private`, not '" + std::string(text) + "'");
}

Scope scope_of(const PMEM& pool, std::string_view id) {
    if (is_private_side(pool) || Sides::is_alone(pool)) {
        if (id != "/" && !pool.exists(id))
            throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + pool.info().path);
        return is_private_side(pool) ? Scope::own : Scope::shared;
    }
    Sides& sides = Sides::of(pool);
    const auto& side = sides.of(id);
    if (id != "/" && !side->exists(id))
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + sides.shared()->path());
    return side == sides.shared() ? Scope::shared : Scope::own;
}

void set_scope(PMEM& pool, std::string_view id, Scope scope) {
    refuse_private_side(pool);
    Sides& sides = Sides::of(pool);
    if (id == "/")
        throw Error(Code::unsupported,
                    "a whole pool cannot be private; the permissions of its file decide who may open it");
    const bool is_there = scope_of(pool, id) == scope;
    const bool is_group = sides.of(id)->is_group(id) == true;
    const auto own = sides.own_store();
    const bool is_unfinished = own && own->note("/", pmem::moving_note);
    if (is_there && !is_group && !is_unfinished) return;
    refuse_in_step(sides);
    if (scope == Scope::own) sides.start_wiping();
    pmem::Move move(sides, scope);
    if (is_group) {
        move.group(std::string(id));
    } else if (!is_there) {
        move.variable(std::string(id));
    }
    move.finish();
}

std::uint64_t share(PMEM& pool, const Query& question, Scope scope) {
    std::vector<std::string> ids;
    for (const Found& found : query(pool, question)) {
        const bool is_group = Sides::of(pool).of(found.id)->is_group(found.id) == true;
        if (!is_group && scope_of(pool, found.id) != scope) ids.push_back(found.id);
    }
    if (ids.empty()) return 0;
    refuse_private_side(pool);
    Sides& sides = Sides::of(pool);
    refuse_in_step(sides);
    if (scope == Scope::own) sides.start_wiping();
    pmem::Move move(sides, scope);
    for (const std::string& id : ids) move.variable(id);
    move.finish();
    return ids.size();
}

std::uint64_t share(PMEM& pool, std::string_view text, Scope scope) {
    return share(pool, Query::parse(text), scope);
}

PMEM shared_side(const PMEM& pool) {
    refuse_private_side(pool);
    const Sides& sides = Sides::of(pool);
    return sides.alone(*sides.shared(), Mode::read);
}

PMEM& private_side(PMEM& pool) { return is_private_side(pool) ? pool : Sides::of(pool).make_own(); }

}  // namespace pmemcpy
