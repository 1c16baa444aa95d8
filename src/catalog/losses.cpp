#include "catalog/losses.hpp"

#include "base/hash.hpp"

#include <utility>

namespace pmemcpy::catalog {

void Losses::knows(std::uint64_t incarnation, std::uint64_t parent, std::string key) {
    names_[incarnation] = {parent, std::move(key)};
}

void Losses::add(std::uint64_t incarnation, std::string what, const Selection& box) {
    losses_.push_back({incarnation, box, std::move(what)});
}

void Losses::add_record(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room) {
    const auto& header = pool.as<RecordHeader>(offset);
    if (std::string key = key_beyond_doubt(pool, offset, room); !key.empty())
        knows(header.incarnation, pool.as<Entry>(offset).parent, std::move(key));
    add(header.incarnation, "a record at offset " + std::to_string(offset) + " is damaged");
}

std::vector<Damage> Losses::named() const {
    std::vector<Damage> damages;
    for (const Loss& loss : losses_) {
        Damage damage{{}, loss.box, loss.what};
        auto name = names_.find(loss.incarnation);
        if (name != names_.end() && name->second.parent != 0) {
            damage.what = "attribute '" + name->second.key + "': " + damage.what;
            name = names_.find(name->second.parent);
        }
        if (name != names_.end()) damage.id = name->second.key;
        damages.push_back(std::move(damage));
    }
    return damages;
}

std::string key_beyond_doubt(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room) {
    const auto& entry = pool.as<Entry>(offset);
    if (room <= sizeof(Entry) || entry.key_bytes == 0 || entry.key_bytes > room - sizeof(Entry)) return {};
    std::string key(entry.key_bytes, '\0');
    heap::racy_copy(key.data(), pool.at(offset + sizeof(Entry)), key.size());
    return base::xxh3_64(key) == entry.hash ? key : std::string();
}

}  // namespace pmemcpy::catalog
