// Of names that look wrong: whether that is damage, or the work of a process that is at it, is held up in it, or died in it.

#include "catalog/catalog.hpp"
#include "os/lock.hpp"
#include "pool/locks.hpp"

namespace pmemcpy::catalog {

using persist::Medium;

// A process says in its slot what it renames or erases before anybody can see it, and until everything is in order again;
// what the dead say stays until another process has finished it. A mere reader sees no slots, so it does not know better
// than that some process may be at work.
bool Catalog::is_under_way(Link identity, Link name) const {
    if (pool_.read_only()) return os::conflicts(pool_.file(), os::LockKind::exclusive, pool::attach_byte, 1);
    const pool::Runtime& runtime = pool_.runtime();
    const std::uint64_t used = Medium::load(&runtime.header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        const pool::Slot& slot = runtime.slot(i);
        if (Medium::load(&slot.intent) == 0) continue;
        if (Medium::load(&slot.intent_a) == identity.word || Medium::load(&slot.intent_b) == name.word)
            return true;
    }
    return false;
}

// The order of the looks is the proof. The name was wrong; after that no process was at it, so nothing has been left half
// done, and whatever a process had finished by then had taken the wrong name out of its chain; after that it was still
// there, and still wrong by the same word. Where a word has moved between the looks it is begun anew: another process
// has got on with its work.
bool Catalog::is_damage(const std::uint64_t* head, Link name, Link identity,
                        const std::function<Wrong()>& wrong) const {
    for (;;) {
        const Wrong before = wrong();
        if (!before || is_under_way(identity, name)) return false;
        bool is_there = false;
        walk(
            head, [&](Link link, const Entry&, const std::string&) { is_there = is_there || link == name; },
            {}, [] {});
        if (!is_there) return false;
        if (wrong() == before) return true;
    }
}

}  // namespace pmemcpy::catalog
