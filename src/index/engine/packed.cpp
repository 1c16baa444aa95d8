#include "index/engine/packed.hpp"

namespace pmemcpy::index {

namespace {

/// At the posting, or at the first one behind where it would be. True if it is there.
bool seek(PackReader& reader, std::string_view key, const Posting& posting) {
    const std::uint64_t marked = marked_place(posting);
    while (reader.next()) {
        const int order = reader.compare(key, marked);
        if (order >= 0) return order == 0;
    }
    return false;
}

}  // namespace

bool add_to_pack(std::string& pack, std::string_view key, const Posting& posting) {
    PackReader reader(pack);
    if (seek(reader, key, posting)) return false;
    const auto length = static_cast<std::uint16_t>(key.size());
    const std::uint64_t marked = marked_place(posting);
    std::string one(PackReader::head_bytes, '\0');
    std::memcpy(one.data(), &length, sizeof length);
    std::memcpy(one.data() + sizeof length, &marked, sizeof marked);
    pack.insert(reader.begin(), one += key);
    return true;
}

bool remove_from_pack(std::string& pack, std::string_view key, const Posting& posting) {
    PackReader reader(pack);
    if (!seek(reader, key, posting)) return false;
    pack.erase(reader.begin(), reader.end() - reader.begin());
    return true;
}

std::size_t place_to_cut(std::string_view pack, std::string_view was_added, bool behind) {
    std::size_t middle = 0;
    std::size_t last = 0;
    std::string_view before;
    for (PackReader reader(pack); reader.next(); before = reader.key()) {
        if (reader.begin() == 0 || reader.key() == before) continue;
        last = reader.begin();
        if (middle == 0 || last <= pack.size() / 2) middle = last;
    }
    if (!behind && before == was_added) return last;
    return middle;
}

}  // namespace pmemcpy::index
