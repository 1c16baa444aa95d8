// The public class: forwards to the store, and keeps it only as long as it is mapped. Where the user has something private beside
// the pool, each call goes to the side on which the id is, and lists are of both.

#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/operations.hpp>
#include <pmemcpy/pmemcpy.hpp>

#include "array/id.hpp"
#include "index/index.hpp"
#include "operate/hints.hpp"
#include "pmem/sides.hpp"
#include "store/store.hpp"
#include "store/watching.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace pmemcpy {

namespace {

/// Both sorted, and each name once.
void merge_into(std::vector<std::string>& all, std::vector<std::string> more) {
    if (all.empty()) return all.swap(more);
    if (more.empty()) return;
    std::vector<std::string> merged;
    merged.reserve(all.size() + more.size());
    std::set_union(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()),
                   std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()),
                   std::back_inserter(merged));
    all.swap(merged);
}

}  // namespace

PMEM::PMEM() = default;
PMEM::~PMEM() = default;
PMEM::PMEM(PMEM&&) noexcept = default;
PMEM& PMEM::operator=(PMEM&&) noexcept = default;

void PMEM::mmap(const std::string& path, const Options& options) {
    pmem::Sides::open(*this, resolve_pool(path, options.mode), options, {});
}

void PMEM::mmap(const PMEM& open, const Options& options) {
    const std::shared_ptr<store::Store> there = open.store_;
    open.opened().check_usable();
    pmem::Sides::open(*this, there->path(), options, {.again = there->itself()});
}

void PMEM::open_alone(const std::string& place, const Options& options, const store::Which& which) {
    if (store_)
        throw Error(Code::invalid_argument,
                    "this PMEM has a pool open already; munmap it first, or use another PMEM");
    bool is_new = false;
    auto opened = store::Store::open(place, options, &is_new, which);
    index_ = std::make_shared<index::Index>(opened, opened->path(), options, is_new);
    store_ = std::move(opened);
    if (!is_new || options.index == IndexMode::none) return;
    try {
        index_->set_mode(options.index);
    } catch (...) {
        munmap();
        throw;
    }
}

namespace {

void leave(const std::shared_ptr<store::Store>& leaving) {
    if (!leaving->has_views()) return leaving->close();
    // Views need the pool until the last of them goes, and with it the store.
    const bool is_ours = !leaving->read_only() && !leaving->is_forked();
    if (is_ours && leaving->durability() == Durability::page) leaving->sync();
}

}  // namespace

void PMEM::munmap() {
    if (!store_) return;
    if (index_) index_->close();
    index_.reset();
    const auto leaving = std::exchange(store_, nullptr);
    std::optional<Error> trouble;  // with the private side keeps nobody from leaving the shared one
    try {
        if (const auto sides = std::exchange(sides_, nullptr)) sides->close();
    } catch (const Error& error) {
        trouble = error;
    }
    leave(leaving);
    if (trouble) throw Error(*trouble);
}

void PMEM::withdraw() {
    opened().withdraw();
    munmap();
}

bool PMEM::is_mapped() const noexcept { return store_ != nullptr; }

store::Store& PMEM::opened() const {
    if (!store_)
        throw Error(Code::invalid_argument, "no pool is open here: it was closed, or none was opened");
    return *store_;
}

// For what may be new.
const std::shared_ptr<store::Store>& PMEM::side_of(std::string_view id) const {
    opened();
    return sides_ && sides_->own() != nullptr ? sides_->of(id) : store_;
}

// f(the side that has the id). Who has nothing private pays nothing for this: what another process has made private is not where
// it was any more.
template <class F>
auto PMEM::found(std::string_view id, F&& f) const {
    opened();
    if (!sides_) return f(*store_);
    if (sides_->known_own() == nullptr) {
        try {
            return f(*store_);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found || sides_->own() == nullptr) throw;
        }
    }
    return f(*sides_->of(id));
}

PMEM* PMEM::own_side() const { return sides_ ? sides_->own() : nullptr; }

template <class F>
void PMEM::on_both(F&& f) const {
    f(opened());
    if (const auto own = sides_ ? sides_->own_store() : nullptr) f(*own);
}

void PMEM::sync() {
    on_both([](store::Store& side) { side.sync(); });
}
std::array<std::uint8_t, 16> PMEM::uuid() const { return opened().uuid(); }
Durability PMEM::durability() const { return opened().durability(); }
PoolInfo PMEM::info() const {
    PoolInfo info = opened().info();
    if (const auto own = sides_ ? sides_->own_store() : nullptr) {
        info.variables += own->info().variables;
        info.groups = groups().size();
    }
    return info;
}
void PMEM::prepare(std::uint64_t bytes) { opened().prepare(bytes); }
void PMEM::compact() {
    on_both([](store::Store& side) { side.compact(); });
}
std::uint64_t PMEM::trim() {
    std::uint64_t bytes = 0;
    on_both([&](store::Store& side) { bytes += side.trim(); });
    return bytes;
}
std::vector<Damage> PMEM::verify(const std::function<void(std::uint64_t, std::uint64_t)>& progress) const {
    std::vector<Damage> all;
    std::uint64_t before = 0;  // in the sides that are done
    on_both([&](const store::Store& side) {
        std::uint64_t here = 0;
        const std::vector<Damage> found = side.verify([&](std::uint64_t done, std::uint64_t bytes) {
            here = bytes;
            if (progress) progress(before + done, before + bytes);
        });
        before += here;
        all.insert(all.end(), found.begin(), found.end());
    });
    return all;
}

Watch PMEM::watch(std::string_view id) const {
    return Watch(std::make_shared<store::Watching>(side_of(id), std::string(id)));
}

Pinned PMEM::view_bytes(std::string_view id) const {
    return found(id, [&](const store::Store& side) { return side.view_value(id); });
}

void PMEM::alloc(std::string_view id, const Type& type, const Dimensions& dims, const ArrayOptions& options) {
    store::Store& side = *side_of(id);
    if (options.hint.mask == 0) return side.alloc(id, type, dims, options);
    operate::check_hint(side, options.hint);
    if (options.contiguous) operate::refuse_contiguous(id);
    side.alloc(id, type, dims, options);
    hint(*this, id, options.hint);
}
void PMEM::store(std::string_view id, const Type& type, const void* data, const Selection& selection,
                 const std::optional<Codec>& codec) {
    found(id, [&](store::Store& side) { side.store(id, type, data, selection, codec); });
}
void PMEM::load(std::string_view id, const Type& type, void* data, const Selection& selection,
                std::optional<std::uint64_t> step) const {
    found(id, [&](store::Store& side) {
        // What is moved from one side to the other is taken by nobody.
        if (sides_) return side.take(id, type, data, selection, step);
        side.load(id, type, data, selection, step);
    });
}

void PMEM::load_dims(std::string_view id, int* ndims, std::size_t* dims) const {
    const Dimensions now = load_dims(id);
    if (ndims != nullptr) *ndims = now.size();
    if (dims != nullptr) std::copy(now.begin(), now.end(), dims);
}
Dimensions PMEM::load_dims(std::string_view id) const {
    return found(id, [&](const store::Store& side) { return side.dims(id); });
}

PMEM::RawView PMEM::view(std::string_view id, const Type& type, const Selection& selection,
                         bool writable) const {
    return found(id, [&](store::Store& side) { return side.view(id, type, selection, writable); });
}
void PMEM::freeze(std::string_view id) {
    found(id, [&](store::Store& side) { side.freeze(id); });
}

bool PMEM::exists(std::string_view id) const {
    if (sides_ && sides_->known_own() != nullptr) return sides_->of(id)->exists(id);
    if (opened().exists(id)) return true;
    return sides_ && sides_->own() != nullptr && sides_->of(id)->exists(id);
}
void PMEM::make_group(std::string_view id) { side_of(id)->make_group(id); }

void PMEM::erase(std::string_view id) {
    const bool has_two_sides = sides_ && sides_->known_own() != nullptr;
    const auto own = has_two_sides ? sides_->own_store() : nullptr;
    if (!own || sides_->of(id)->is_group(id) != true || !store_->exists(id) || !own->exists(id))
        return found(id, [&](store::Store& side) { side.erase(id); });
    // A group that is on both sides: empty, if it is so on both.
    const std::string prefix = std::string(id) + "/";
    on_both([&](const store::Store& one) {
        if (one.ids(prefix, false).empty() && one.ids(prefix, true).empty()) return;
        throw Error(Code::busy, "group '" + std::string(id) + "' is not empty; erase what is in it first");
    });
    own->erase(id);
    store_->erase(id);
}

// What one side does not know of its names the other side may have.
void PMEM::rename(std::string_view from, std::string_view to) {
    const auto& side = side_of(from);
    const auto& target = side_of(to);
    if (side == target || side->is_group(from) == true) return side->rename(from, to);
    for (const std::string_view group : array::parents(to)) {
        if (target->is_group(group) != false) continue;
        throw Error(Code::already_exists, "'" + std::string(group) + "' is a variable, so '" +
                                              std::string(to) + "' cannot lie in it; take another name");
    }
    if (target->exists(to)) {
        throw Error(Code::already_exists, "there is a '" + std::string(to) +
                                              "' already; erase it first, or take "
                                              "another name");
    }
    if (side == store_) {
        throw Error(Code::unsupported, "'" + std::string(to) +
                                           "' would lie in a group that is private, and '" +
                                           std::string(from) +
                                           "' is shared; make it private first "
                                           "(set_scope, pmemcpy scope)");
    }
    side->rename(from, to);
}

std::vector<std::string> PMEM::ids(std::string_view prefix) const {
    std::vector<std::string> all;
    on_both([&](const store::Store& side) { merge_into(all, side.ids(prefix, false)); });
    return all;
}
std::vector<std::string> PMEM::groups(std::string_view prefix) const {
    std::vector<std::string> all;
    on_both([&](const store::Store& side) { merge_into(all, side.ids(prefix, true)); });
    return all;
}
Info PMEM::info(std::string_view id) const {
    return found(id, [&](const store::Store& side) { return side.info(id); });
}
std::vector<BlockInfo> PMEM::blocks(std::string_view id) const {
    return found(id, [&](const store::Store& side) { return side.blocks(id); });
}
Creation PMEM::creation(std::string_view id) const {
    return found(id, [&](const store::Store& side) { return side.creation(id); });
}
Oid PMEM::oid(std::string_view id) const {
    return found(id, [&](const store::Store& side) { return side.oid(id); });
}
std::string PMEM::open(const Oid& oid) const {
    const auto own = sides_ ? sides_->own_store() : nullptr;
    if (!own) return opened().name_of(oid);
    try {
        return own->name_of(oid);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
    return store_->name_of(oid);
}

std::vector<std::string> PMEM::attributes(std::string_view id) const {
    return found(id, [&](const store::Store& side) { return side.attributes(id); });
}
Info PMEM::attribute_info(std::string_view id, std::string_view name) const {
    return found(id, [&](const store::Store& side) { return side.attribute_info(id, name); });
}
void PMEM::remove_attribute(std::string_view id, std::string_view name) {
    found(id, [&](store::Store& side) { side.remove_attribute(id, name); });
}

// Each side has its steps; they are begun and committed together, and the shared one says whether.
void PMEM::begin(std::uint64_t step) {
    const std::uint64_t before = opened().step();
    if (sides_) store_->check_may_leave_step_for(step);
    store_->begin(step);
    try {
        if (sides_) sides_->enter_step(step);
    } catch (...) {
        store_->go_back_to(before);
        throw;
    }
}
void PMEM::commit(std::uint64_t step) {
    store::Store& shared = opened();
    const auto own = sides_ ? sides_->own_store() : nullptr;
    if (own && own->step_is_open()) {
        shared.commit_with(step, *own);
    } else {
        shared.commit(step);
    }
    if (sides_) sides_->leave_step();
    shared.flush_step();
}
void PMEM::abandon() {
    opened().abandon();
    if (!sides_) return;
    sides_->leave_step();
    const auto own = sides_->own_store();
    if (own && own->in_step()) own->abandon();
}

void PMEM::store_encoded(std::string_view id, const Type& type, SerializerType serializer,
                         const Encoder& encoder, bool must_be_new) {
    side_of(id)->store_value(id, type, serializer, encoder, must_be_new);
}
void PMEM::load_encoded(std::string_view id, const Decode& decode) const {
    found(id, [&](const store::Store& side) { side.load_value(id, decode); });
}
void PMEM::set_attribute_encoded(std::string_view id, std::string_view name, const Type& type,
                                 SerializerType serializer, const Encoder& encoder, bool must_be_new) {
    found(id,
          [&](store::Store& side) { side.set_attribute(id, name, type, serializer, encoder, must_be_new); });
}
void PMEM::set_attributes(std::string_view id, std::span<const Attribute> attributes) {
    found(id, [&](store::Store& side) { side.set_attributes(id, attributes); });
}
void PMEM::get_attribute_encoded(std::string_view id, std::string_view name, const Decode& decode) const {
    found(id, [&](const store::Store& side) { side.get_attribute(id, name, decode); });
}
void PMEM::for_each_attribute_encoded(std::string_view id, const VisitAttribute& visit) const {
    found(id, [&](const store::Store& side) { side.for_each_attribute(id, visit); });
}
SerializerType PMEM::default_serializer() const { return opened().default_serializer(); }
bool PMEM::load_raw(std::string_view id, const Type& type, void* value, std::size_t bytes) const {
    return found(id, [&](const store::Store& side) { return side.load_raw(id, type, value, bytes); });
}

namespace detail {

void throw_type_mismatch(std::string_view id, const Type& stored, const Type& asked) {
    throw Error(Code::type_mismatch,
                "'" + std::string(id) + "' holds " + stored.name() + " and was asked for as " + asked.name());
}

}  // namespace detail

}  // namespace pmemcpy
