#include "index/object.hpp"

#include <algorithm>
#include <limits>
#include <pmemcpy/error.hpp>
#include <pmemcpy/scope.hpp>

#include "array/box_index.hpp"
#include "array/id.hpp"
#include "array/region.hpp"
#include "array/selection.hpp"
#include "index/elements.hpp"
#include "index/time.hpp"

namespace pmemcpy::index {

namespace {

/// The pool is in none.
Facts group_of(const std::string& id) {
    if (id == pool_id) return {};
    const auto groups = array::parents(id);
    return {std::string(groups.empty() ? pool_id : groups.back())};
}

const char* kind_of(const Info& info) {
    switch (info.kind) {
        case VariableKind::value:
            return "value";
        case VariableKind::array:
            return "array";
        case VariableKind::group:
            break;
    }
    return "group";
}

/// "zstd" of "zstd:5:shuffle".
std::string kind_of(const Codec& codec) {
    const std::string text = to_string(codec);
    return text.substr(0, text.find(':'));
}

/// A record's time has no sign: `ls` and `info` show it so, too.
Time recorded_time(std::uint64_t ns) {
    constexpr std::uint64_t per_second = 1'000'000'000;
    return {static_cast<std::int64_t>(ns / per_second), ns % per_second * per_second};
}

bool is_number(const Fact& fact) {
    return std::holds_alternative<std::int64_t>(fact) || std::holds_alternative<std::uint64_t>(fact) ||
           std::holds_alternative<double>(fact);
}

/// Of these blocks the ones that are not wholly behind a newer one; nothing if some lies over a part of another: only of the
/// others it is all true of the array what they say of their elements.
std::optional<std::vector<BlockInfo>> in_sight(const std::vector<BlockInfo>& blocks, int dims) {
    array::BoxIndex index(dims);
    for (std::uint64_t i = 0; i < blocks.size(); ++i) index.append(i, array::bounding_box(blocks[i].box));
    index.settle();
    std::vector<BlockInfo> seen;
    for (const BlockInfo& block : blocks) {
        const Box box = array::bounding_box(block.box);
        bool is_hidden = false;
        bool is_met = false;
        index.query(box, [&](std::uint64_t i) {
            const BlockInfo& other = blocks[i];
            if (other.version == block.version) return;
            const bool is_newer = other.version > block.version;
            const BlockInfo& front = is_newer ? other : block;
            const BlockInfo& back = is_newer ? block : other;
            const bool hides = front.box.is_dense() &&
                               array::contains(array::bounding_box(front.box), array::bounding_box(back.box));
            is_hidden = is_hidden || (hides && is_newer);
            is_met = is_met || !hides;
        });
        if (is_met) return {};
        if (!is_hidden) seen.push_back(block);
    }
    return seen;
}

bool is_list_of_floats(const Type& type) {
    if (type.kind() != Kind::sequence && type.kind() != Kind::array) return false;
    const Kind kind = type.element().kind();
    return kind == Kind::float32 || kind == Kind::float64;
}

}  // namespace

const Info& Object::info() {
    if (!info_) info_ = pool_->info(id_);
    return *info_;
}

bool Object::has_own(const Key& key) {
    return key.means() == Key::Means::nearest && has_attribute(key.parts().front());
}

bool Object::is_elements(const Key& key) {
    return is_known(key, Known::value) && !has_own(key) && info().kind == VariableKind::array;
}

bool Object::means_attribute(const Key& key) {
    const auto known = known_of(key);
    if (!known || has_own(key)) return true;
    return may_lie_farther(key) && this->known(*known, key).empty();
}

// What is known of the object is nearer than what it lies in.
bool Object::may_lie_farther(const Key& key) {
    return key.means() == Key::Means::nearest && !is_of_all(*known_of(key)) && !is_elements(key);
}

const Facts& Object::facts(const Key& key) {
    const auto [at, is_new] = seen_.try_emplace(key.text());
    if (!is_new) return at->second;
    const auto known = known_of(key);
    if (known && !has_own(key)) at->second = this->known(*known, key);
    if (!known || has_own(key) || (at->second.empty() && may_lie_farther(key))) at->second = attribute(key);
    return at->second;
}

Facts Object::known(Known known, const Key& key) {
    if (known == Known::name) return {id_};
    if (known == Known::group) return group_of(id_);
    if (known == Known::scope) return {std::string(name_of(scope_of(*pool_, id_)))};
    const Info& info = this->info();
    const bool is_array = info.kind == VariableKind::array;
    const bool is_group = info.kind == VariableKind::group;
    const auto members = std::span(key.parts()).subspan(1);
    switch (known) {
        case Known::name:
        case Known::group:
        case Known::scope:
            break;
        case Known::kind:
            return {std::string(kind_of(info))};
        case Known::dtype:
            return is_group ? Facts{} : Facts{info.type.name()};
        case Known::shape: {
            if (!is_array) return {};
            if (members.empty()) return {info.dims};
            Facts extents;
            for (int d = 0; d < info.dims.size(); ++d) {
                if (members.size() == 1 && members.front() == std::to_string(d))
                    extents.emplace_back(info.dims[d]);
            }
            return extents;
        }
        case Known::rank:
            return is_array ? Facts{std::int64_t{info.dims.size()}} : Facts{};
        case Known::bytes:
            return is_group ? Facts{} : Facts{info.bytes};
        case Known::stored:
            return is_group ? Facts{} : Facts{info.stored_bytes};
        case Known::blocks:
            return is_array ? Facts{info.blocks} : Facts{};
        case Known::codec:
            return is_array ? Facts{kind_of(info.codec)} : Facts{};
        case Known::step:
            return info.step != 0 ? Facts{info.step} : Facts{};
        case Known::changed:
            if (info.written_ns == 0) return {};
            return {recorded_time(info.written_ns)};
        case Known::created:
            if (creation().created_ns == 0) return {};
            return {recorded_time(creation().created_ns)};
        case Known::creator:
            return creator(members);
        case Known::min:
        case Known::max:
            return extreme(known == Known::min);
        case Known::mean:
            return mean();
        case Known::value:
            return info.kind == VariableKind::value ? stored_value(members) : Facts{};
    }
    return {};
}

const Creation& Object::creation() {
    if (!creation_) creation_ = pool_->creation(id_);
    return *creation_;
}

Facts Object::creator(std::span<const std::string> members) {
    const Creation& creation = this->creation();
    const auto text = [](const std::string& known) { return known.empty() ? Facts{} : Facts{known}; };
    if (members.size() > 1) return {};
    if (members.empty() || members[0] == "user") return text(creation.user);
    if (members[0] == "host") return text(creation.host);
    if (members[0] == "program") return text(creation.program);
    if (members[0] == "ranks" && creation.ranks != 0) return {std::uint64_t{creation.ranks}};
    return {};
}

Leaves Object::creator_leaves() {
    Leaves leaves{{}, true};
    for (const char* member : {"", "user", "host", "program", "ranks"}) {
        const std::vector<std::string> members(*member == '\0' ? 0 : 1, member);
        for (Fact& fact : creator(members)) leaves.leaves.push_back({members, std::move(fact)});
    }
    return leaves;
}

Facts Object::mean() {
    long double sum = 0;
    std::uint64_t numbers = 0;
    visit_numbers(*pool_, info(), [&](double number) {
        sum += static_cast<long double>(number);
        ++numbers;
    });
    return numbers == 0 ? Facts{} : Facts{static_cast<double>(sum / static_cast<long double>(numbers))};
}

Facts Object::stored_value(std::span<const std::string> members) {
    Facts facts;
    pool_->load_encoded(id_,
                        [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                            facts = facts_of(type, serializer, bytes, members);
                        });
    if (!packing().is_plain()) keep_meant(facts, packing());
    return facts;
}

const Packing& Object::packing() {
    if (!packing_) packing_.emplace(*pool_, info());
    return *packing_;
}

const Facts& Object::own_value() {
    return facts(Key({std::string(word_of(Known::value))}, Key::Means::known));
}

const Ranges& Object::ranges() {
    if (ranges_) return *ranges_;
    const std::vector<BlockInfo> all = pool_->blocks(id_);
    ranges_.emplace();
    ranges_->are_known =
        std::all_of(all.begin(), all.end(), [](const BlockInfo& block) { return block.has_range; });
    if (ranges_->are_known) ranges_->seen = in_sight(all, info().dims.size());
    return *ranges_;
}

// Of many numbers that are exact as float64 no list is made, which took longer than all else that is posted; and who asks for one end
// asks for the other. False where they are no numbers.
bool Object::find_extremes() {
    if (extremes_) return true;
    constexpr double none = std::numeric_limits<double>::infinity();
    double least = none;
    double greatest = -none;
    bool are_any = false;
    const bool are_numbers = visit_numbers(*pool_, info(), [&](double number) {
        least = std::min(least, number);
        greatest = std::max(greatest, number);
        are_any = true;
    });
    if (are_numbers) extremes_ = are_any ? Extremes{{least}, {greatest}} : Extremes{};
    return are_numbers;
}

Facts Object::extreme(bool is_least) {
    const Info& info = this->info();
    Extreme extreme(is_least);
    if (info.kind == VariableKind::value) {
        if (is_list_of_floats(info.type) && find_extremes())
            return is_least ? extremes_->least : extremes_->greatest;
        for (const Fact& fact : own_value()) {
            if (!is_number(fact)) return {};
            extreme.add(fact);
        }
    } else if (info.kind == VariableKind::array) {
        if (!ranges().are_known) return {};
        if (has_ends()) {
            for (const BlockInfo& block : *ranges().seen) {
                for (const std::span<const std::byte> end :
                     {std::span(block.minimum), std::span(block.maximum)}) {
                    Facts facts;
                    add_facts(facts, info.type, end.first(info.type.size()), {});
                    if (const auto number = meant(facts.front(), packing())) extreme.add(*number);
                }
            }
        } else {
            add_elements(*pool_, info, extreme);
        }
    }
    return extreme.found() ? Facts{*extreme.found()} : Facts{};
}

std::vector<Object::AttributeLeaves> Object::attribute_leaves(std::size_t at_most) {
    std::vector<AttributeLeaves> all;
    pool_->for_each_attribute_encoded(id_, [&](const std::string& name, const Type& type,
                                               SerializerType serializer, std::span<const std::byte> bytes) {
        all.push_back({name, leaves_of(type, serializer, bytes, at_most)});
    });
    return all;
}

Leaves Object::value_leaves(std::uint64_t most_bytes, std::size_t at_most) {
    const Info& info = this->info();
    if (info.kind == VariableKind::group) return {};
    Leaves leaves{{}, false};
    if (info.kind != VariableKind::value || info.bytes > most_bytes) return leaves;
    // Nobody asks for one number among many by its value, and each that is posted takes as long as all that is known of the object.
    constexpr std::uint64_t longest_list = 8;
    if (is_list_of_floats(info.type) && info.bytes > longest_list * info.type.element().size()) return leaves;
    pool_->load_encoded(id_,
                        [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                            leaves = leaves_of(type, serializer, bytes, at_most);
                        });
    if (packing().is_plain()) return leaves;
    std::vector<Leaf> kept;
    for (Leaf& leaf : leaves.leaves) {
        if (auto fact = meant(leaf.fact, packing()))
            kept.push_back({std::move(leaf.members), std::move(*fact)});
    }
    leaves.leaves = std::move(kept);
    return leaves;
}

bool Object::has_cheap_range(std::uint64_t most_blocks) {
    const Info& info = this->info();
    if (info.kind != VariableKind::array || info.blocks == 0) return true;
    if (info.blocks > most_blocks) return false;
    return !ranges().are_known || has_ends();
}

bool Object::has_ends() {
    if (!ranges().seen) return false;
    const std::size_t size = info().type.size();
    return packing().is_plain() ||
           std::all_of(ranges_->seen->begin(), ranges_->seen->end(), [&](const BlockInfo& block) {
               return packing().is_whole_between(std::span(block.minimum).first(size),
                                                 std::span(block.maximum).first(size));
           });
}

const std::vector<std::string>& Object::own_attributes() {
    if (!attributes_) attributes_ = pool_->attributes(id_);
    return *attributes_;
}

bool Object::has_attribute(const std::string& name) {
    const std::vector<std::string>& own = own_attributes();
    return std::find(own.begin(), own.end(), name) != own.end();
}

Facts Object::attribute(const Key& key) {
    if (has_attribute(key.parts().front())) return own_attribute(key);
    Object* const holder = around_->nearest_with(id_, key.parts().front());
    return holder != nullptr ? holder->facts(Key(key.parts(), Key::Means::attribute)) : Facts{};
}

Facts Object::own_attribute(const Key& key) {
    const std::string& name = key.parts().front();
    Facts facts;
    try {
        pool_->get_attribute_encoded(
            id_, name, [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                facts = facts_of(type, serializer, bytes, std::span(key.parts()).subspan(1));
            });
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;  // removed since it was listed
    }
    return facts;
}

}  // namespace pmemcpy::index
