#include "exchange/holding.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <pmemcpy/json.hpp>
#include <pmemcpy/scope.hpp>

#include "exchange/origin.hpp"
#include "exchange/pieces.hpp"

namespace pmemcpy::exchange {

namespace {

template <class Get>
Datum datum(std::string name, Get&& get) {
    Datum found;
    found.name = std::move(name);
    get([&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
        found.type = type;
        found.serializer = serializer;
        found.bytes.assign(bytes.begin(), bytes.end());
    });
    return found;
}

std::optional<Datum> attribute(const PMEM& pool, const std::string& id, const std::string& name) {
    try {
        return datum(name, [&](const PMEM::Decode& decode) { pool.get_attribute_encoded(id, name, decode); });
    } catch (const Error& error) {
        const bool is_there = id == "/" || pool.exists(id);
        if (error.kind() != Code::not_found || !is_there) throw;
        return {};
    }
}

/// Null where there is none, or where it is no JSON: then somebody else has taken the name for something of his own.
nlohmann::json json_attribute(const PMEM& pool, const std::string& id, std::string_view name) {
    const auto found = attribute(pool, id, std::string(name));
    if (!found || !found->is_json()) return nullptr;
    nlohmann::json parsed = nlohmann::json::parse(found->text(), nullptr, false);
    return parsed.is_discarded() ? nlohmann::json() : parsed;
}

std::vector<std::string> dimension_names(const PMEM& pool, const Info& info) {
    const nlohmann::json names = json_attribute(pool, info.id, dimensions_attribute);
    std::vector<std::string> texts;
    for (const auto& name : names) {
        if (name.is_string()) texts.push_back(name.get<std::string>());
    }
    return texts.size() == static_cast<std::size_t>(info.dims.size()) ? texts : std::vector<std::string>{};
}

/// Goes through the elements of a box of shape `count` in the given order; `place` is told how far, in elements of the whole
/// whose steps are `steps`.
template <class Visit>
void each_place(const Dimensions& count, const Dimensions& steps, Order order, Visit&& visit) {
    const int n = count.size();
    Dimensions at = Dimensions::filled(n, 0);
    Extent place = 0;
    for (Extent left = count.elements(); left > 0; --left) {
        visit(place);
        for (int i = 0; i < n; ++i) {
            const int d = order == Order::c ? n - 1 - i : i;
            place += steps[d];
            if (++at[d] < count[d]) break;
            place -= steps[d] * count[d];
            at[d] = 0;
        }
    }
}

Dimensions dense_steps(const Dimensions& shape, Order order) {
    Dimensions steps = Dimensions::filled(shape.size(), 1);
    Extent next = 1;
    for (int i = 0; i < shape.size(); ++i) {
        const int d = order == Order::c ? shape.size() - 1 - i : i;
        steps[d] = next;
        next *= shape[d];
    }
    return steps;
}

/// The part of a block's selection that lies in a box; empty if none does.
Selection meeting(const Selection& block, const Box& box) {
    Selection part = block;
    for (int d = 0; d < box.size(); ++d) {
        const Extent stride = block.stride[d];
        const Extent skipped =
            box.offset[d] > block.offset[d] ? (box.offset[d] - block.offset[d] + stride - 1) / stride : 0;
        const Extent end = std::min(box.end(d), block.offset[d] + (block.count[d] - 1) * stride + 1);
        part.offset[d] = block.offset[d] + skipped * stride;
        part.count[d] = part.offset[d] < end ? (end - part.offset[d] + stride - 1) / stride : 0;
    }
    return part;
}

}  // namespace

std::string group_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool Datum::is_json() const { return type.kind() == Kind::opaque && type.tag() == "json"; }

bool Datum::is_plain() const {
    if (serializer != SerializerType::bp4 && serializer != SerializerType::none) return false;
    return element().is_fixed_size() && !is_json();
}

const Type& Datum::element() const {
    const bool is_list = type.kind() == Kind::sequence || type.kind() == Kind::array;
    const bool is_empty_list_of_rows = is_list && bytes.empty() && type.element().kind() == Kind::array;
    if (is_empty_list_of_rows) return type.element().element();
    return is_list ? type.element() : type;
}

Dimensions Datum::shape() const {
    const std::uint64_t size = element().size();
    if (size == 0 || bytes.size() % size != 0) {
        throw Error(Code::corrupt, "'" + name + "': " + std::to_string(bytes.size()) +
                                       " bytes are no whole number of " + element().name());
    }
    if (type.kind() == Kind::sequence) {
        Dimensions dims{bytes.size() / size};
        if (&element() == &type.element()) return dims;
        for (const Extent extent : type.element().dimensions()) dims.push_back(extent);
        return dims;
    }
    return type.kind() == Kind::array ? type.dimensions() : Dimensions{};
}

template <class Read>
auto Holding::read(const std::string& id, Read&& read) const {
    if (shared_ && !private_.contains(id)) {
        try {
            return read(*shared_);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found || options_.only_shared || shared_->exists(id)) throw;
        }
        private_.insert(id);  // it has become so, or it is erased
    }
    return read(pool_);
}

Holding::Holding(const PMEM& pool, const ExportOptions& options, ExchangeReport& report)
    : pool_(pool), options_(options), report_(report), groups_{""} {
    if (scope_of(pool, "/") == Scope::shared) shared_ = shared_side(pool);
    if (options.only_shared && !shared_)
        throw Error(Code::invalid_argument, pool.info().path + " holds private objects alone");
    list();
}

void Holding::list() {
    const PMEM& seen = options_.only_shared ? *shared_ : pool_;
    const std::string& from = options_.from;
    std::vector<std::string> ids;
    const bool is_variable = !from.empty() && pool_.info(from).kind != VariableKind::group;
    if (is_variable) {
        base_ = from.substr(0, from.size() - last_of(from).size());
        ids = {from};
    } else {
        base_ = from.empty() ? "" : from + "/";
        ids = seen.ids(base_);
        for (const std::string& id : seen.groups(base_)) {
            if (id != "/") groups_.push_back(id.substr(base_.size()));
        }
        for (const std::string& group : groups_) mark_private(id_of(group));
    }
    for (const std::string& id : ids) {
        try {
            mark_private(id);
            const std::string path = id.substr(base_.size());
            if (hides(path)) continue;
            Variable variable = read(id, [&](const PMEM& side) {
                Variable there{path, side.info(id), {}, json_attribute(side, id, origin_attribute)};
                there.dimensions = dimension_names(side, there.info);
                return there;
            });
            all_ += variable.info.bytes;
            variables_.push_back(std::move(variable));
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
            private_.erase(id);  // somebody has just erased it, so nothing of it is in the file
        }
    }
    if (options_.only_shared && is_variable && variables_.empty())
        throw Error(Code::not_found, "there is no shared '" + from + "' in " + pool_.info().path);
}

// One that is on both sides is private: a process died, or still is, between the copy and the erasure.
void Holding::mark_private(const std::string& id) {
    try {
        if (scope_of(pool_, id) == Scope::own) private_.insert(id);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
}

std::string Holding::id_of(const std::string& path) const {
    if (!path.empty()) return base_ + path;
    return base_.empty() ? "/" : base_.substr(0, base_.size() - 1);
}

const Variable* Holding::find(const std::string& path) const {
    const auto at =
        std::lower_bound(variables_.begin(), variables_.end(), path,
                         [](const Variable& variable, const std::string& p) { return variable.path < p; });
    return at != variables_.end() && at->path == path ? &*at : nullptr;
}

nlohmann::json Holding::origin(const std::string& group) const {
    if (hides(group)) return nullptr;
    const std::string id = id_of(group);
    return read(id, [&](const PMEM& side) { return json_attribute(side, id, origin_attribute); });
}

std::vector<Datum> Holding::attributes(const std::string& path) const {
    const std::string id = id_of(path);
    if ((path.empty() && is_one_variable()) || hides(path)) return {};
    return read(id, [&](const PMEM& side) {
        std::vector<Datum> all;
        side.for_each_attribute_encoded(id, [&](const std::string& name, const Type& type,
                                                SerializerType serializer, std::span<const std::byte> bytes) {
            if (name == origin_attribute || name == dimensions_attribute) return;
            all.push_back(datum(name, [&](const PMEM::Decode& take) { take(type, serializer, bytes); }));
        });
        return all;
    });
}

Datum Holding::value(const Variable& variable) const {
    const std::string& id = variable.info.id;
    Datum found = read(id, [&](const PMEM& side) {
        return datum(variable.path, [&](const PMEM::Decode& decode) { side.load_encoded(id, decode); });
    });
    count_bytes(found.bytes.size());
    return found;
}

void Holding::load(const Variable& variable, void* data, const Box& box) const {
    look(variable, data, box);
    count_bytes(box.elements() * variable.info.type.size());
}

void Holding::look(const Variable& variable, void* data, const Box& box) const {
    const Info& info = variable.info;
    const std::uint64_t bytes = box.elements() * info.type.size();
    read(info.id, [&](const PMEM& side) {
        try {
            side.load(info.id, info.type, data, box);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found || !side.exists(info.id)) throw;
            load_covered(side, variable, {static_cast<std::byte*>(data), bytes}, box);
        }
    });
}

void Holding::load_covered(const PMEM& side, const Variable& variable, std::span<std::byte> data,
                           const Box& box) const {
    const Info& info = variable.info;
    note_hole(variable);
    std::fill(data.begin(), data.end(), std::byte{0});
    const std::uint64_t size = info.type.size();
    const Dimensions steps = dense_steps(box.count, info.order);
    std::vector<std::byte> part_bytes;
    for (const BlockInfo& block : side.blocks(info.id)) {
        const Selection part = meeting(block.box, box);
        if (part.empty()) continue;
        part_bytes.resize(part.elements() * size);
        side.load(info.id, info.type, part_bytes.data(), part);
        Extent first = 0;
        Dimensions part_steps = steps;
        for (int d = 0; d < box.size(); ++d) {
            first += (part.offset[d] - box.offset[d]) * steps[d];
            part_steps[d] = steps[d] * part.stride[d];
        }
        const std::byte* from = part_bytes.data();
        each_place(part.count, part_steps, info.order, [&](Extent place) {
            std::memcpy(data.data() + (first + place) * size, from, size);
            from += size;
        });
    }
}

void Holding::note_hole(const Variable& variable) const {
    if (!holes_.insert(variable.path).second) return;
    warn(variable.path,
         "some elements were never stored and there is no fill value; they are exported as zeros");
}

std::vector<Selection> Holding::stored(const Variable& variable) const {
    std::vector<Selection> all;
    const std::string& id = variable.info.id;
    for (const BlockInfo& block : read(id, [&](const PMEM& side) { return side.blocks(id); }))
        all.push_back(block.box);
    return all;
}

std::span<const std::byte> Holding::load_as_c(const Variable& variable, const Box& box,
                                              std::vector<std::byte>& loaded,
                                              std::vector<std::byte>& turned) const {
    const std::uint64_t size = variable.info.type.size();
    loaded.resize(box.elements() * size);
    load(variable, loaded.data(), box);
    if (variable.info.order == Order::c || box.size() < 2) return loaded;
    turned.resize(loaded.size());
    std::byte* to = turned.data();
    each_place(box.count, dense_steps(box.count, Order::fortran), Order::c, [&](Extent place) {
        std::memcpy(to, loaded.data() + place * size, size);
        to += size;
    });
    return turned;
}

void Holding::each_piece(const Variable& variable, const Dimensions& chunk,
                         const std::function<void(const Box&, std::span<const std::byte>)>& visit) const {
    each_piece(variable, Box::whole(variable.info.dims), chunk, visit);
}

void Holding::each_piece(const Variable& variable, const Box& part, const Dimensions& chunk,
                         const std::function<void(const Box&, std::span<const std::byte>)>& visit) const {
    const Info& info = variable.info;
    std::vector<std::byte> loaded, turned;
    exchange::each_piece(part, chunk, info.type.size(), options_.piece_bytes,
                         [&](const Box& box) { visit(box, load_as_c(variable, box, loaded, turned)); });
}

void Holding::count_bytes(std::uint64_t bytes) const {
    report_.bytes += bytes;
    done_ += bytes;
    if (options_.progress) options_.progress(std::min(done_, all_), all_);
}

void Holding::warn(std::string_view path, std::string_view what) const {
    std::string text = shown(path) + ": " + std::string(what);
    if (options_.strict) throw Error(Code::unsupported, text);
    report_.warnings.push_back(std::move(text));
}

}  // namespace pmemcpy::exchange
