#include "array/id.hpp"
#include "array/selection.hpp"
#include "array/utf8.hpp"
#include "catalog/follow.hpp"
#include "catalog/retry.hpp"
#include "os/user.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <cstring>

namespace pmemcpy::store {

using catalog::Retry;
using persist::Medium;

bool Store::exists(std::string_view id) const {
    check_readable();
    return defined(id).has_value();
}

std::optional<bool> Store::is_group(std::string_view id) const {
    check_readable();
    const auto named = defined(id);
    if (!named) return std::nullopt;
    return catalog::Catalog::is_group(pool_, named->definition);
}

// A group says nothing before something is in it; so it needs no step, and stays when one is abandoned.
void Store::make_group(std::string_view id) {
    check_writable();
    array::validate_new_id(id);
    with_space([&] { catalog_.make_group(id); });
    pool_.medium().fence();  // what is stored in a group comes with a fence of its own; here nothing does
    pool_.tell();
    count_change();
}

void Store::check_may_erase(std::string_view id) const {
    check_writable();
    array::validate_id(id);
    if (step_.load() == 0) return;
    throw Error(Code::unsupported, "erase of '" + std::string(id) +
                                       "' inside a step: it would be seen at once; erase it after commit");
}

void Store::erase(std::string_view id) {
    check_may_erase(id);
    const auto named = catalog_.find_named(id);
    if (!named) throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + pool_.path());
    erase_named(*named, id);
}

bool Store::erase_this(const Oid& oid) {
    try {
        return erase_if(name_of(oid), oid);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return false;
    }
}

bool Store::erase_if(std::string_view id, const Oid& oid) {
    check_may_erase(id);
    const auto named = catalog_.find_named(id);
    if (!named || oid_of(*named) != oid) return false;  // renamed or erased just then
    try {
        erase_named(*named, id);
        return true;
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return false;
    }
}

void Store::erase_named(const catalog::Catalog::Named& named, std::string_view id) {
    pool::Feed::UnderWay under_way(feed());
    under_way.of(named.entry.offset());
    if (!directory_layout_) {
        catalog_.erase(named, id);
        return announce(named.entry);
    }
    const bool is_group = catalog::Catalog::is_group(pool_, named.definition);
    if (!is_group) directory_layout_->leaving(id);
    catalog_.erase(named, id);
    announce(named.entry);
    if (is_group) return directory_layout_->group_erased(id);
    name_changed(id);
}

void Store::rename(std::string_view from, std::string_view to) {
    check_writable();
    array::validate_id(from);
    array::validate_new_id(to);
    if (step_.load() != 0) {
        throw Error(Code::unsupported,
                    "rename of '" + std::string(from) +
                        "' inside a step: it would be seen at once; rename it after commit");
    }
    pool::Feed::UnderWay under_way(feed());
    with_space([&] { catalog_.rename(from, to, under_way); });
    if (const auto entry = catalog_.find(to)) announce(*entry);
    name_changed(from);
    name_changed(to);
}

std::optional<catalog::Catalog::Nature> Store::visible_nature(std::string_view id, Link entry) const {
    for (Retry retry(id);;) {
        const auto definition = catalog_.definition(entry);
        if (!definition) return std::nullopt;
        auto nature = catalog::Catalog::nature_of(pool_, *definition);
        if (!nature) {
            retry.doubt(pool_, *definition);
            if (retry.once_more()) continue;
            return catalog::Catalog::Nature{};  // damaged: a variable, for verify to tell of
        }
        if (!is_visible(nature->step) && (nature->is_array || !read_value(entry))) return std::nullopt;
        return nature;
    }
}

Info Store::describe_value(std::string_view id, const ValueSeen& seen) const {
    Info info;
    info.id = std::string(id);
    const bool is_group = static_cast<catalog::ValueKind>(seen.record.kind) == catalog::ValueKind::group;
    info.kind = is_group ? VariableKind::group : VariableKind::value;
    info.type = seen.type();
    info.serializer = static_cast<SerializerType>(seen.record.serializer);
    info.bytes = seen.record.bytes;
    info.stored_bytes = seen.record.extent.length != 0 ? seen.record.extent.length : seen.record.bytes;
    info.step = seen.record.step;
    info.written_ns = seen.record.written_ns;
    info.version = seen.record.header.version;
    return info;
}

Info Store::info(std::string_view id) const {
    check_readable();
    for (Retry retry(id);; retry.again()) {
        const auto named = catalog_.find_named(id);
        auto info = named ? describe(id, *named) : std::nullopt;
        if (info) {
            info->attributes = catalog_.count_attributes(named->entry);
            return *std::move(info);
        }
        if (!defined(id))
            throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + pool_.path());
        if (named && !makes_sense(named->definition)) retry.doubt(pool_, named->definition);
    }
}

// Whether it can be read just now; what is being replaced or erased cannot.
bool Store::makes_sense(Link definition) const {
    if (!is_array(definition)) return read_value_record(definition).has_value();
    const auto directory = directory_of(definition);
    if (!directory) return false;
    const std::lock_guard one_thread(directory->mutex());
    return directory->refresh();
}

// Nothing where it has gone meanwhile, or is not to be seen.
std::optional<Info> Store::describe(std::string_view id, const catalog::Catalog::Named& named) const {
    if (const auto value = visible_value(named)) return describe_value(id, *value);
    const auto directory = is_array(named.definition) ? directory_of(named.definition) : nullptr;
    if (!directory) return std::nullopt;
    const std::lock_guard one_thread(directory->mutex());
    if (!directory->refresh()) return std::nullopt;
    const ArrayDefinition& d = directory->definition();
    if (!is_visible(d.step)) return std::nullopt;
    Info info;
    info.id = std::string(id);
    info.kind = VariableKind::array;
    info.type = d.type;
    info.dims = dims_now(*directory);
    info.is_unlimited = (d.flags & catalog::array_unlimited) != 0;
    info.order = d.order;
    info.serializer = d.serializer;
    info.codec = d.codec;
    info.is_contiguous = (d.flags & catalog::array_contiguous) != 0;
    info.fill_value = d.fill;
    info.bytes = info.dims.elements() * d.type.size();
    // Also while the block is not there yet, because whoever alloc'ed the array died before making it.
    info.is_frozen = !info.is_contiguous || info.bytes == 0;
    info.step = d.step;
    const Directory::Totals seen = directory->totals(pool_.committed_step(), step_.load());
    info.blocks = seen.blocks;
    info.stored_bytes = seen.stored_bytes;
    info.step = std::max(info.step, seen.newest_step);
    if (seen.blocks == directory->blocks().size()) {
        info.written_ns = directory->written_ns();
    } else {
        for (const auto& [handle, block] : directory->blocks()) {
            if (is_visible(block.block.step))
                info.written_ns = std::max(info.written_ns, block.block.written_ns);
        }
    }
    if (info.is_contiguous && !directory->blocks().empty()) {
        const BlockRecord& block = directory->blocks().begin()->second;
        if ((block.block.flags & catalog::block_in_place) != 0)
            info.is_frozen = Medium::load(&pool_.as<heap::RecordHeader>(block.link.offset()).word) != 0;
    }
    if (info.written_ns == 0)
        info.written_ns = pool_.as<catalog::Array>(named.definition.offset()).written_ns;
    return info;
}

std::vector<BlockInfo> Store::blocks(std::string_view id) const {
    check_readable();
    const auto directory = array(id);
    const std::lock_guard one_thread(directory->mutex());
    directory->refresh();
    std::vector<BlockInfo> all;
    for (const auto& [handle, block] : directory->blocks()) {
        if (!is_visible(block.block.step)) continue;
        BlockInfo info;
        info.box = directory->definition().order == Order::fortran ? array::reversed(block.box) : block.box;
        info.version = block.version;
        info.step = block.block.step;
        info.written_ns = block.block.written_ns;
        info.writer_pid = block.block.writer_pid;
        info.writer_rank = block.block.writer_rank;
        info.bytes = block.block.raw_bytes;
        info.stored_bytes = block.block.stored_bytes;
        info.crc = block.block.crc;
        info.codec = static_cast<Codec::Kind>(block.block.codec);
        if (block.block.extent.target >= layout::first_target_below)
            info.target = targets_.name_of(block.block.extent.target);
        info.has_range = (block.block.flags & catalog::block_has_min_max) != 0;
        std::memcpy(info.minimum.data(), &block.block.minimum, sizeof block.block.minimum);
        std::memcpy(info.maximum.data(), &block.block.maximum, sizeof block.block.maximum);
        if ((block.block.flags & catalog::block_in_place) != 0) {
            const std::uint64_t word = Medium::load(&pool_.as<heap::RecordHeader>(block.link.offset()).word);
            info.is_frozen = word != 0;
            info.crc = static_cast<std::uint32_t>(word);
        }
        all.push_back(info);
    }
    std::sort(all.begin(), all.end(),
              [](const BlockInfo& a, const BlockInfo& b) { return a.version < b.version; });
    return all;
}

namespace {

// A program may be called anything, and a pool may have been scribbled on.
std::string as_utf8(std::string text) {
    for (auto bad = array::first_invalid_utf8(text); bad != std::string::npos;
         bad = array::first_invalid_utf8(text))
        text[bad] = '?';
    return text;
}

}  // namespace

Creation Store::creation(std::string_view id) const {
    check_readable();
    for (Retry retry(id);; retry.again()) {
        const auto named = defined(id);
        if (!named) throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + pool_.path());
        const auto origin = catalog_.origin_of(named->entry);
        if (!origin && !heap::is_current(pool_, named->entry)) {
            retry.doubt(pool_, named->entry);
            continue;
        }
        if (!origin) return {};
        return {origin->created_ns, os::name_of_user(origin->user), as_utf8(origin->host),
                as_utf8(origin->program), origin->ranks};
    }
}

void Store::create_as(const std::string& id, const Store& from) {
    const auto entry = from.catalog_.find(id);
    catalog_.set_origin(entry ? from.catalog_.origin_of(*entry) : std::nullopt);
}

Oid Store::oid(std::string_view id) const {
    check_readable();
    const auto named = defined(id);
    if (!named) throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + pool_.path());
    return oid_of(*named);
}

Oid Store::oid_of(const catalog::Catalog::Named& named) const {
    return {named.entry.word, pool_.as<catalog::Entry>(named.entry.offset()).header.incarnation};
}

std::string Store::name_of(const Oid& oid) const {
    check_readable();
    const Link entry{oid.place};
    if (heap::is_current(pool_, entry) &&
        pool_.as<heap::RecordHeader>(entry.offset()).incarnation == oid.incarnation) {
        if (const auto name = catalog_.name_of(entry)) return *name;
    }
    throw Error(Code::not_found,
                "the oid points to a variable that is not, or no longer, in " + pool_.path());
}

}  // namespace pmemcpy::store
