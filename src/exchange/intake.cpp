#include "exchange/intake.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>
#include <pmemcpy/json.hpp>

#include "exchange/origin.hpp"
#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::size_t longest_shown = 80;  // of a path in a warning

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

std::string key_of(const std::string& id, std::string_view attribute) {
    std::string key = id;
    key += '\0';
    key += attribute;
    return key;
}

}  // namespace

Intake::Intake(PMEM& pool, const ImportOptions& options, ExchangeReport& report)
    : pool_(pool), options_(options), report_(report) {}

std::string Intake::id_of(const std::string& path) const {
    if (path.empty()) return options_.into.empty() ? "/" : options_.into;
    return options_.into.empty() ? path : options_.into + "/" + path;
}

// False, with a warning, when the pool says of a name, a size or a number of things that it cannot hold it.
template <class Go>
bool Intake::hold(const std::string& path, Go&& go) {
    try {
        go();
        return true;
    } catch (const Error& error) {
        if (error.kind() != Code::invalid_argument && error.kind() != Code::out_of_range) throw;
        warn(path.size() > longest_shown ? path.substr(0, longest_shown) + "..." : path,
             std::string(error.what()) + "; not imported");
        return false;
    }
}

// No look from here would see an object that another process makes behind it.
template <class Make>
void Intake::make_new(const std::string& what, const std::string& key, Make&& make) {
    try {
        if (!made_.insert(key).second) throw Error(Code::already_exists, "the file has two of that name");
        make();
    } catch (const Error& error) {
        if (error.kind() != Code::already_exists) throw;
        throw Error(Code::already_exists,
                    what + " cannot be imported: " + error.what() + "; import into another group");
    }
}

bool Intake::takes(const std::string& path) const {
    return std::none_of(left_out_.begin(), left_out_.end(),
                        [&](const std::string& one) { return (path + "/").starts_with(one); });
}

template <class Make>
void Intake::create(const std::string& path, Make&& make) {
    if (!takes(path)) return;
    const std::string id = id_of(path);
    const bool is_held = hold(path, [&] {
        make_new("'" + path + "'", id, [&] { make(id); });
        ++report_.variables;
    });
    if (!is_held) left_out_.push_back(path + "/");
}

void Intake::group(const std::string& path) {
    const std::string id = id_of(path);
    if (id == "/" || !takes(path)) return;
    const auto make = [&] {
        for (std::size_t end = id.find('/'); end != std::string::npos; end = id.find('/', end + 1))
            note_group(id.substr(0, end));
        note_group(id);
        pool_.make_group(id);
        ++report_.groups;
    };
    if (path.empty()) return make();  // which the user has named
    if (!hold(path, make)) left_out_.push_back(path + "/");
}

void Intake::note_group(const std::string& id) {
    if (!pool_.exists(id)) new_groups_.push_back(id);
}

void Intake::take_back_groups() {
    for (auto id = new_groups_.rbegin(); id != new_groups_.rend(); ++id) {
        try {
            pool_.erase(*id);
        } catch (const Error& error) {
            // Somebody else has stored in it, or it was not made any more, or has a name that no group can have.
            if (error.kind() != Code::busy && error.kind() != Code::not_found &&
                error.kind() != Code::invalid_argument)
                throw;
        }
    }
}

void Intake::array(const std::string& path, const Type& type, const Dimensions& dims, ArrayOptions options) {
    options.codec = options_.codec;
    options.must_be_new = true;
    create(path, [&](const std::string& id) { pool_.alloc(id, type, dims, options); });
}

void Intake::store(const std::string& path, const Type& type, const void* data, const Box& box) {
    if (!takes(path)) return;
    pool_.store(id_of(path), type, data, box);
    count(box.elements() * type.size());
}

void Intake::value(const std::string& path, const Type& type, std::span<const std::byte> bytes) {
    create(path, [&](const std::string& id) {
        pool_.store_encoded(id, type, SerializerType::bp4, BytesEncoder(bytes), true);
    });
    count(bytes.size());
}

bool Intake::had_attribute(const std::string& id, std::string_view name) const {
    if (made_.contains(id) || !pool_.exists(id)) return false;
    const std::vector<std::string> names = pool_.attributes(id);
    return std::binary_search(names.begin(), names.end(), name);
}

bool Intake::set(const std::string& path, std::string_view name, const Type& type,
                 std::span<const std::byte> bytes) {
    if (!takes(path)) return false;
    const std::string id = id_of(path);
    return hold(path + "@" + std::string(name), [&] {
        make_new("the attribute '" + std::string(name) + "' of '" + shown(path) + "'", key_of(id, name), [&] {
            pool_.set_attribute_encoded(id, name, type, SerializerType::bp4, BytesEncoder(bytes), true);
        });
    });
}

// A file's own attribute of such a name says something else, unless it names the dimensions.
bool Intake::is_own_attribute(const std::string& path, std::string_view name) {
    if ((name != origin_attribute && name != dimensions_attribute) || !takes(path)) return false;
    warn(std::string(path).append("@").append(name),
         "a name that pools have for something of their own; not imported");
    return true;
}

void Intake::attribute(const std::string& path, std::string_view name, const Type& type,
                       std::span<const std::byte> bytes) {
    if (is_own_attribute(path, name)) return;
    if (set(path, name, type, bytes)) ++report_.attributes;
}

void Intake::attribute(const std::string& path, std::string_view name, std::string_view text) {
    if (is_utf8(text)) return attribute(path, name, Type::string(), bytes_of(text));
    attribute(path, name, Type::fixed_string(text.size(), false), bytes_of(text));
}

void Intake::attribute(const std::string& path, std::string_view name, const nlohmann::json& json) {
    if (name == dimensions_attribute && names_dimensions(path, json))
        return dimensions(path, json.get<std::vector<std::string>>());
    attribute(path, name, type_of<nlohmann::json>(),
              bytes_of(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

bool Intake::names_dimensions(const std::string& path, const nlohmann::json& json) const {
    const std::string id = id_of(path);
    if (!takes(path)) return false;
    const Info info = pool_.info(id);
    return info.kind == VariableKind::array && json.is_array() &&
           json.size() == static_cast<std::size_t>(info.dims.size()) &&
           !made_.contains(key_of(id, dimensions_attribute)) &&
           std::all_of(json.begin(), json.end(), [](const auto& name) { return name.is_string(); });
}

void Intake::dimensions(const std::string& path, const std::vector<std::string>& names) {
    set(path, dimensions_attribute, type_of<nlohmann::json>(), bytes_of(nlohmann::json(names).dump()));
}

void Intake::origin(const std::string& path, const nlohmann::json& json) {
    // Of a group that something was imported into before, the first import's stays.
    if (!takes(path) || had_attribute(id_of(path), origin_attribute)) return;
    set(path, origin_attribute, type_of<nlohmann::json>(), bytes_of(json.dump()));
}

void Intake::warn(std::string_view path, std::string_view what) {
    std::string text = shown(path) + ": " + std::string(what);
    if (options_.strict) throw Error(Code::unsupported, text);
    report_.warnings.push_back(std::move(text));
}

void Intake::count(std::uint64_t bytes) {
    report_.bytes += bytes;
    done_ += bytes;
    if (options_.progress) options_.progress(std::min(done_, expected_), expected_);
}

}  // namespace pmemcpy::exchange
