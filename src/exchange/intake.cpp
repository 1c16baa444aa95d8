#include "exchange/intake.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>
#include <pmemcpy/json.hpp>

#include "exchange/origin.hpp"
#include "exchange/utf8.hpp"

namespace pmemcpy::exchange {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

Intake::Intake(PMEM& pool, const ImportOptions& options, ExchangeReport& report)
    : pool_(pool), options_(options), report_(report) {}

std::string Intake::id_of(const std::string& path) const {
    if (path.empty()) return options_.into.empty() ? "/" : options_.into;
    return options_.into.empty() ? path : options_.into + "/" + path;
}

// An array that is there already would be found by alloc, and then hold both.
void Intake::create(const std::string& path, const std::string& id) {
    if (!made_.insert(id).second || pool_.exists(id)) {
        throw Error(Code::already_exists,
                    "the pool has an '" + id + "' already, so '" + path +
                        "' cannot be imported under that name; import into another group");
    }
    ++report_.variables;
}

void Intake::group(const std::string& path) {
    const std::string id = id_of(path);
    if (id == "/") return;
    for (std::size_t end = id.find('/'); end != std::string::npos; end = id.find('/', end + 1))
        note_group(id.substr(0, end));
    note_group(id);
    pool_.make_group(id);
    ++report_.groups;
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
    const std::string id = id_of(path);
    create(path, id);
    options.codec = options_.codec;
    pool_.alloc(id, type, dims, options);
}

void Intake::store(const std::string& path, const Type& type, const void* data, const Box& box) {
    pool_.store(id_of(path), type, data, box);
    count(box.elements() * type.size());
}

void Intake::value(const std::string& path, const Type& type, std::span<const std::byte> bytes) {
    const std::string id = id_of(path);
    create(path, id);
    pool_.store_encoded(id, type, SerializerType::bp4, BytesEncoder(bytes));
    count(bytes.size());
}

bool Intake::had_attribute(const std::string& id, std::string_view name) const {
    if (made_.contains(id) || !pool_.exists(id)) return false;
    const std::vector<std::string> names = pool_.attributes(id);
    return std::binary_search(names.begin(), names.end(), name);
}

void Intake::set(const std::string& path, std::string_view name, const Type& type,
                 std::span<const std::byte> bytes) {
    const std::string id = id_of(path);
    std::string key = id;
    key += '\0';
    key += name;
    if (!made_.insert(std::move(key)).second || had_attribute(id, name)) {
        throw Error(Code::already_exists, "the pool's '" + id + "' has an attribute '" + std::string(name) +
                                              "' already; import into another group");
    }
    pool_.set_attribute_encoded(id, name, type, SerializerType::bp4, BytesEncoder(bytes));
}

void Intake::attribute(const std::string& path, std::string_view name, const Type& type,
                       std::span<const std::byte> bytes) {
    set(path, name, type, bytes);
    ++report_.attributes;
}

void Intake::attribute(const std::string& path, std::string_view name, std::string_view text) {
    if (is_utf8(text)) return attribute(path, name, Type::string(), bytes_of(text));
    attribute(path, name, Type::fixed_string(text.size(), false), bytes_of(text));
}

void Intake::attribute(const std::string& path, std::string_view name, const nlohmann::json& json) {
    attribute(path, name, type_of<nlohmann::json>(),
              bytes_of(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

void Intake::dimensions(const std::string& path, const std::vector<std::string>& names) {
    set(path, dimensions_attribute, type_of<nlohmann::json>(), bytes_of(nlohmann::json(names).dump()));
}

void Intake::origin(const std::string& path, const nlohmann::json& json) {
    // Of a group that something was imported into before, the first import's stays.
    if (had_attribute(id_of(path), origin_attribute)) return;
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
