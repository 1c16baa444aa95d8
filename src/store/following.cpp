// What others follow: which variables and groups are there, and which have changed.

#include "base/hash.hpp"
#include "catalog/retry.hpp"
#include "store/store.hpp"

#include <pmemcpy/error.hpp>

#include <vector>

namespace pmemcpy::store {

using catalog::Retry;
using persist::Medium;

namespace {

constexpr std::string_view index_attribute = "pmemcpy:index";
constexpr std::string_view own_words_attribute =
    "pmemcpy:index.own";  // of "/": there are words for others than it

}  // namespace

void Store::announce(std::uint64_t entry) {
    pool_.feed().append(entry);
    pool_.tell();
    count_change();
}

// A version is drawn before what has it can be seen, so who looked at everything in between has not seen that, and goes by versions. An
// erase and a commit have none of their own.
void Store::count_change() {
    if (hierarchy_number() != 0) static_cast<void>(pool_.draw_version());
}

// They lie with the pool's own attributes, where they are kept under the promise like them.
std::optional<std::string> Store::note(std::string_view id, std::string_view name) const {
    for (Retry retry(id);; retry.again()) {
        const auto owner = catalog_.find(id);
        const auto attribute = owner ? catalog_.find_attribute(*owner, name) : std::nullopt;
        const auto seen = attribute ? read_value(*attribute) : std::nullopt;
        if (!seen || seen->type().kind() != Kind::string) return std::nullopt;
        std::string text;
        const bool is_read =
            decode_value(name, *seen, [&](const Type&, SerializerType, std::span<const std::byte> bytes) {
                text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            });
        if (is_read) return text;
        retry.doubt(pool_, seen->link);
    }
}

void Store::set_note(std::string_view id, std::string_view name, const std::string& text) {
    check_writable();
    put_attribute(id, name, Type::string(), SerializerType::bp4, *make_encoder(SerializerType::bp4, text));
}

void Store::remove_note(std::string_view id, std::string_view name) {
    check_writable();
    const auto owner = catalog_.find(id);
    const auto attribute = owner ? catalog_.find_attribute(*owner, name) : std::nullopt;
    if (attribute && catalog_.definition(*attribute)) catalog_.erase_attribute(*attribute, name);
}

std::optional<std::string> Store::index_word(std::string_view id) const { return note(id, index_attribute); }

void Store::set_index_word(std::string_view id, const std::string& word) {
    if (id != "/" && !has_own_index_words()) set_note("/", own_words_attribute, "yes");
    set_note(id, index_attribute, word);
}

void Store::remove_index_word(std::string_view id) { remove_note(id, index_attribute); }

bool Store::has_own_index_words() const { return note("/", own_words_attribute).has_value(); }

void Store::announce_all_in(std::string_view id) {
    check_writable();
    const std::string below = std::string(id) + "/";
    for_each_place([&](std::uint64_t place, const std::string& other) {
        if (other == id || other.starts_with(below)) pool_.feed().append(place);
    });
}

std::optional<std::string> Store::id_at(std::uint64_t place) const {
    check_readable();
    heap::RecordHeader header{};
    if (place % heap::record_alignment != 0 || !pool_.contains(place, sizeof(catalog::Entry)))
        return std::nullopt;
    pool_.guarded([&] { heap::racy_copy(&header, pool_.at(place), sizeof header); });
    const Link entry = Link::to(place, header.version);
    if (!heap::is_current(pool_, entry)) return std::nullopt;
    auto id = catalog_.name_of(entry);
    if (!id || *id == "/" || !visible_nature(*id, entry)) return std::nullopt;
    // Under an alias that is not there (yet) it has no name that anybody finds.
    if (catalog_.find(*id) != entry) return std::nullopt;
    return id;
}

std::optional<std::uint64_t> Store::place_of(std::string_view id) const {
    check_readable();
    const auto entry = catalog_.find(id);
    if (!entry || !visible_nature(id, *entry)) return std::nullopt;
    return entry->offset();
}

void Store::for_each_place(const std::function<void(std::uint64_t, const std::string&)>& f) const {
    check_readable();
    catalog_.for_each([&](const std::string& id, Link entry) {
        if (id != "/" && visible_nature(id, entry)) f(entry.offset(), id);
    });
}

std::uint64_t Store::content_fingerprint(std::string_view id) const { return fingerprint_of(id, false); }

std::uint64_t Store::fingerprint(std::string_view id) const { return fingerprint_of(id, true); }

// With the times, too: two runs that begin with the same bytes, one of them with a backup, give the same places and versions.
std::uint64_t Store::fingerprint_of(std::string_view id, bool with_attributes) const {
    check_readable();
    std::vector<std::uint64_t> words;
    for (Retry retry(id);; retry.again()) {
        const auto named = catalog_.find_named(id);
        if (!named) return 0;
        words.clear();
        if (is_array(named->definition)) {
            const auto directory = directory_of(named->definition);
            if (!directory) {
                retry.doubt(pool_, named->definition);
                continue;
            }
            const std::lock_guard one_thread(directory->mutex());
            if (!directory->refresh()) {
                retry.doubt(pool_, named->definition);
                continue;
            }
            std::uint64_t blocks = 0;  // in whatever order they come
            for (const auto& [handle, block] : directory->blocks()) {
                const std::uint64_t both[] = {block.version, block.block.written_ns};
                if (is_visible(block.block.step)) blocks += base::xxh3_64(both, sizeof both);
            }
            catalog::Array definition;
            pool_.guarded([&] {
                heap::racy_copy(&definition, pool_.at(named->definition.offset()), sizeof definition);
            });
            words = {named->definition.word, definition.written_ns, blocks};
        } else {
            const auto value = visible_value(*named);
            if (!value) return 0;
            words = {value->link.word, value->record.written_ns};
        }
        if (with_attributes) {
            catalog_.for_each_attribute(named->entry, [&](const std::string& name, Link attribute) {
                const auto value = read_value(attribute);
                words.push_back(base::xxh3_64(name));
                words.push_back(value ? value->link.word : 0);
                words.push_back(value ? value->record.written_ns : 0);
            });
        }
        return base::xxh3_64(words.data(), words.size() * sizeof words[0]) | 1;
    }
}

bool Store::step_is_open() const {
    return Medium::load(&pool_.state().begun_step.value) > pool_.committed_step();
}

}  // namespace pmemcpy::store
