#include "index/posted.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <pmemcpy/error.hpp>

#include "base/hash.hpp"
#include "index/engine/engine.hpp"
#include "index/posting.hpp"

namespace pmemcpy::index {

namespace {

constexpr std::size_t most_leaves = 64;  // of one attribute or value
constexpr std::uint64_t most_value_bytes = 4096;
constexpr std::uint64_t most_blocks = 256;  // whose ranges are put together at each store

constexpr std::array posted_known = {Known::name, Known::group,   Known::kind,    Known::dtype, Known::bytes,
                                     Known::step, Known::changed, Known::created, Known::min,   Known::max};

template <class T>
void add(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

[[noreturn]] void throw_corrupt() { throw Error(Code::corrupt, "an object of the index makes no sense"); }

class Bytes {
public:
    explicit Bytes(std::string_view bytes) : rest_(bytes) {}
    template <class T>
    T take() {
        T value{};
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string_view take(std::size_t count) {
        if (count > rest_.size()) throw_corrupt();
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    bool is_empty() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

// A name may be longer than a key.
std::string shortened(std::string name) {
    constexpr std::size_t room = longest_key - 1 - sizeof(std::uint64_t);
    if (name.size() <= room) return name;
    const std::uint64_t hash = base::xxh3_64(name);
    name.resize(room);
    name.push_back('\1');
    add(name, hash);
    return name;
}

// A part with a NUL in it is another one than two parts.
void add_part(std::string& name, std::string_view part) {
    constexpr char escape = '\1';
    if (part.find_first_of(std::string_view("\0\1", 2)) == std::string_view::npos) {
        name += part;
        return;
    }
    for (const char letter : part) {
        if (letter != '\0' && letter != escape) {
            name.push_back(letter);
        } else {
            name.push_back(escape);
            name.push_back(letter == '\0' ? '0' : '1');
        }
    }
}

std::string name_of(char sort, std::string_view root, std::span<const std::string> members) {
    std::string name(1, sort);
    add_part(name, root);
    for (const std::string& member : members) {
        name.push_back('\0');
        add_part(name, member);
    }
    return shortened(std::move(name));
}

constexpr char known_sort = 'k';
constexpr char attribute_sort = 'a';
char sort_of(const Key& key) { return known_of(key) ? known_sort : attribute_sort; }

class Poster {
public:
    Poster(std::vector<std::string>& postings, const std::function<std::uint32_t(const std::string&)>& number)
        : postings_(postings), number_(number) {}

    void post(char sort, std::string_view root, const Leaves& leaves) {
        for (const Leaf& leaf : leaves.leaves)
            postings_.push_back(posting_of(number_(name_of(sort, root, leaf.members)), leaf.fact));
        if (!leaves.is_all) more(sort, root);
    }
    void more(char sort, std::string_view root) {
        postings_.push_back(posting_of_more(number_(name_of(sort, root, {}))));
    }
    void post(const std::string& known, const Facts& facts) {
        for (const Fact& fact : facts) postings_.push_back(posting_of(number_(known_sort + known), fact));
    }

private:
    std::vector<std::string>& postings_;
    const std::function<std::uint32_t(const std::string&)>& number_;
};

}  // namespace

std::string bytes_of(const Posted& posted) {
    std::string bytes;
    add(bytes, posted.fingerprint);
    add(bytes, static_cast<std::uint8_t>(posted.is_group));
    for (const std::string& posting : posted.postings) {
        add(bytes, static_cast<std::uint16_t>(posting.size()));
        bytes += posting;
    }
    return bytes;
}

Posted posted_in(std::string_view all) {
    Bytes bytes(all);
    Posted posted;
    posted.fingerprint = bytes.take<std::uint64_t>();
    posted.is_group = bytes.take<std::uint8_t>() != 0;
    while (!bytes.is_empty()) posted.postings.emplace_back(bytes.take(bytes.take<std::uint16_t>()));
    return posted;
}

std::uint64_t fingerprint_in(std::string_view bytes) { return Bytes(bytes).take<std::uint64_t>(); }

std::string name_of_key(const Key& key) {
    return name_of(sort_of(key), key.parts().front(), std::span(key.parts()).subspan(1));
}
std::string name_of_root(const Key& key) { return name_of(sort_of(key), key.parts().front(), {}); }
std::string name_of_attribute(std::string_view attribute) { return name_of(attribute_sort, attribute, {}); }

bool is_name_of_known(std::string_view name) { return name.front() == known_sort; }
bool is_name_of_names(std::string_view name) {
    return is_name_of_known(name) && name.substr(1) == word_of(Known::name);
}

bool has_names_only(const Key& key) {
    return std::none_of(key.parts().begin() + 1, key.parts().end(),
                        [](const std::string& member) { return index_of(member).has_value(); });
}

bool is_posted(Known known) {
    return known == Known::value || known == Known::creator ||
           std::find(posted_known.begin(), posted_known.end(), known) != posted_known.end();
}

std::vector<std::string> postings_of(Object& object,
                                     const std::function<std::uint32_t(const std::string&)>& number) {
    std::vector<std::string> postings;
    Poster poster(postings, number);
    const bool is_value = object.info().kind == VariableKind::value;
    const bool has_range =
        is_value ? object.info().bytes <= most_value_bytes : object.has_cheap_range(most_blocks);
    for (const Known known : posted_known) {
        const std::string word(word_of(known));
        if (!has_range && (known == Known::min || known == Known::max))
            poster.more(known_sort, word);
        else
            poster.post(word, object.facts(Key({word}, Key::Means::known)));
    }
    poster.post(known_sort, word_of(Known::creator), object.creator_leaves());
    poster.post(known_sort, "value", object.value_leaves(most_value_bytes, most_leaves));
    const bool is_group = object.info().kind == VariableKind::group;
    for (const auto& [name, leaves] : object.attribute_leaves(most_leaves)) {
        poster.post(attribute_sort, name, leaves);
        // It hides one that a group has, though nothing is in it.
        if (leaves.leaves.empty()) poster.more(attribute_sort, name);
        if (is_group) postings.push_back(posting_of_group(number(name_of_attribute(name))));
    }
    std::sort(postings.begin(), postings.end());
    postings.erase(std::unique(postings.begin(), postings.end()), postings.end());
    std::vector<std::string> several;
    for (std::size_t i = 1; i < postings.size(); ++i) {
        const std::string_view key = key_in(postings[i]);
        const bool is_another = key_in(postings[i - 1]) == key && sort_in(postings[i]) < PostedSort::more;
        if (is_another) several.push_back(std::string(key) + static_cast<char>(PostedSort::several));
    }
    postings.insert(postings.end(), several.begin(), several.end());
    std::sort(postings.begin(), postings.end());
    postings.erase(std::unique(postings.begin(), postings.end()), postings.end());
    return postings;
}

}  // namespace pmemcpy::index
