// Length: what follows, makes and copies an index begins anew by one rule and under one lock; in files of their own each would repeat both.
#include "index/keeper.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <pmemcpy/error.hpp>
#include <random>

#include "index/modes.hpp"
#include "index/object.hpp"
#include "index/posted.hpp"
#include "index/posting.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "os/lock.hpp"
#include "os/names.hpp"

namespace pmemcpy::index {

namespace {

constexpr std::string_view about_key = "state";
constexpr std::uint64_t changes_at_once = 1024;
constexpr std::size_t objects_at_once = 128;  // while a whole index is made: so long does who stores wait
constexpr int most_generations_tried = 8;

unsigned file_mode(unsigned pool_mode) { return (pool_mode & 0666) | 0600; }
// With a mode that no umask has taken anything from, and the pool's group.
void share(const store::Store& store, os::File file) {
    store.share_like(file, file_mode(store.permissions()));
}
// Before the engine opens it. One that is there gets the rights that the pool has now.
void make_file(const store::Store& store, const std::string& path) {
    if (!os::exists(path)) {
        try {
            return share(store, os::File::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
        } catch (const Error&) {
            if (!os::exists(path)) throw;  // else somebody else has just made it
        }
    }
    try {
        auto there = os::File::open_if_exists(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        if (there && there->is_regular()) store.keep_like(*there, file_mode(store.permissions()));
    } catch (const Error&) {
        // Another user owns it, and this one may not open it: the engine says so when it opens it.
    }
}

// Of a longer one the table of objects tells.
std::string_view posted_id(std::string_view id) {
    return id.size() <= longest_posted_id ? id : std::string_view();
}

void put_about(Writing& writing, const About& about) {
    writing.put(Table::about, about_key, {reinterpret_cast<const char*>(&about), sizeof about});
}

}  // namespace

About about_in(const Reading& reading) {
    About about;
    const auto bytes = reading.get(Table::about, about_key);
    if (bytes && bytes->size() == sizeof about) std::memcpy(&about, bytes->data(), sizeof about);
    return about;
}

std::string key_of(std::uint64_t place) {
    std::array<char, sizeof place> key{};
    std::memcpy(key.data(), &place, sizeof place);
    return {key.data(), key.size()};
}
std::uint64_t place_in(std::string_view key) {
    std::uint64_t place = 0;
    key.copy(reinterpret_cast<char*>(&place), sizeof place);
    return place;
}

Keeper::Keeper(const PMEM& reader, const store::Store& store, const store::Store& program,
               Generations generations, std::uint64_t at_most_bytes)
    : reader_(reader),
      store_(store),
      program_(program),
      generations_(std::move(generations)),
      at_most_bytes_(at_most_bytes) {}

std::shared_ptr<Engine> Keeper::engine() {
    const std::lock_guard lock(mutex_);
    return opened();
}

// With the mutex.
std::shared_ptr<Engine> Keeper::opened() {
    if (engine_ && engine_->is_there()) return engine_;
    engine_.reset();
    numbers_.clear();
    if (store_.index_word("/").value_or("none") == "none")
        throw Error(Code::not_found, "the pool has no index any more");
    for (int tries = 0;; ++tries) {
        const std::uint64_t generation = newest_or_first();
        try {
            engine_ = begin(generation);
            // Of two that begin with none at once one has made the newer one.
            if (generations_.newest() == generation && is_of_this_pool(*engine_)) {
                generation_ = generation;
                copied_position_.reset();
                return engine_;
            }
        } catch (const Error& error) {
            // Somebody else has just removed it, or it is no index.
            const bool is_useless = error.kind() == Code::corrupt || error.kind() == Code::not_found;
            if (!is_useless || tries == most_generations_tried) throw;
        }
        engine_.reset();
        if (tries == most_generations_tried)
            throw Error(Code::busy, generations_.directory() + ": others keep replacing the index");
        if (generations_.newest() == generation) generations_.make(generation + 1);
    }
}

// What has been looked at for an index that was removed says nothing of the next: so no number comes again.
std::uint64_t Keeper::newest_or_first() const {
    if (const auto newest = generations_.newest()) return *newest;
    std::random_device random;
    return std::uint64_t{random() >> 2} << 32 | random();
}

std::shared_ptr<Engine> Keeper::begin(std::uint64_t generation) {
    generations_.make(generation);
    const std::string path = generations_.path(generation);
    make_file(store_, path + "/" + tree_file);
    auto engine = open_engine(path, at_most_bytes_, file_mode(store_.permissions()));
    const auto is_begun = [](const Reading& there) { return there.get(Table::about, about_key).has_value(); };
    // Another process may be stopped in the middle of a change, and this one is only about to open the pool.
    if (!is_begun(*engine->read())) {
        const auto writing = engine->write();
        if (!is_begun(*writing)) {
            // What is published after this position is heard of; what was before, the first look at all finds.
            put_about(*writing, {index_format, 0, store_.feed().position(), 1, reader_.info().uuid});
            writing->commit();
        }
    }
    generations_.remove_all_before(generation);
    return engine;
}

bool Keeper::is_of_this_pool(Engine& engine) {
    const About about = about_in(*engine.read());
    return about.format == index_format && about.uuid == reader_.info().uuid;
}

// Runs f(engine), and once more with a new generation, larger if the old one was full.
template <class F>
void Keeper::retried(F&& f) {
    for (int tries = 0;; ++tries) {
        const std::shared_ptr<Engine> engine = opened();
        try {
            return f(*engine);
        } catch (const Error& error) {
            numbers_.clear();  // some of them were not kept
            const bool is_full = error.kind() == Code::no_space && engine->is_full();
            if ((error.kind() != Code::corrupt && !is_full) || tries == most_generations_tried) throw;
            if (is_full) at_most_bytes_ *= 2;
            engine_.reset();
            if (generations_.newest() == generation_) generations_.make(generation_ + 1);
        }
    }
}

About Keeper::follow(MayMiss most) {
    const std::lock_guard lock(mutex_);
    // What others change meanwhile they see to themselves: a store waits for what it has stored.
    std::uint64_t position = ~std::uint64_t{0};
    const auto behind = [&](std::uint64_t changes) { return position - std::min(position, changes); };
    std::optional<About> about;
    retried([&](Engine& engine) {
        do {
            // Where no feed tells of changes none of them is ever come by, so this is an error and not a wait.
            program_.feed().start();
            if (!store_.feed().is_heard())
                throw Error(Code::io_error, "the feed of " + reader_.info().path + " cannot be read");
            // Positions grow, but those of a new feed, in the place of one that was removed, are others.
            position = std::min(position, store_.feed().position());
            about = follow_some(engine, behind(most.changes), behind(most.while_another_is_at_it));
        } while (!about);
    });
    return *about;
}

std::optional<About> Keeper::follow_some(Engine& engine, std::uint64_t target,
                                         std::uint64_t target_of_another) {
    const auto has_come_to = [&](std::uint64_t place, const About& about) {
        return !store_.feed().since(about.position, 0).lost && about.position >= place;
    };
    const About before = about_in(*engine.read());
    if (has_come_to(target, before)) return before;
    const auto is_at_it = program_.try_to_index();
    if (!is_at_it && has_come_to(target_of_another, before)) return before;
    has_own_modes_ = store_.has_own_index_words();
    const auto writing = engine.write();
    const auto is_at_it_now = program_.try_to_index();  // who had to wait
    About about = about_in(*writing);
    if (has_come_to(target, about)) return about;  // who was writing while we waited has come by ours
    pool::Changes changes = store_.feed().since(about.position, changes_at_once);
    about.position = changes.next;
    if (changes.lost) {
        ++about.losses;
        about.is_complete = 0;
    }
    // Asked before the looks: what is not committed by then has its commit said behind these changes.
    const bool step_is_open = store_.step_is_open();
    std::sort(changes.offsets.begin(), changes.offsets.end());
    changes.offsets.erase(std::unique(changes.offsets.begin(), changes.offsets.end()), changes.offsets.end());
    for (const std::uint64_t place : changes.offsets) {
        look_at(*writing, place);
        if (step_is_open) writing->put(Table::pending, key_of(place), {});
    }
    if (changes.committed) {
        std::vector<std::uint64_t> pending;
        writing->walk(Table::pending, {}, [&](std::string_view key, std::string_view) {
            pending.push_back(place_in(key));
            return true;
        });
        for (const std::uint64_t place : pending) {
            look_at(*writing, place);
            if (!step_is_open) writing->erase(Table::pending, key_of(place));
        }
    }
    put_about(*writing, about);
    writing->commit();
    return {};
}

// With the mutex. Another thread may have begun another one meanwhile.
void Keeper::give_up(const std::shared_ptr<Engine>& damaged) {
    if (engine_ != damaged) return;
    numbers_.clear();
    engine_.reset();
    if (generations_.newest() == generation_) generations_.make(generation_ + 1);
}

std::uint32_t Keeper::number_of(Writing& writing, const std::string& name) {
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    std::uint32_t number = 0;
    if (const auto there = writing.get(Table::keys, name)) {
        if (there->size() != sizeof number) throw Error(Code::corrupt, "a key of the index makes no sense");
        std::memcpy(&number, there->data(), sizeof number);
    } else {
        number = static_cast<std::uint32_t>(writing.size(Table::keys)) + 1;
        if (is_name_of_known(name)) number |= known_key_bit;
        if (is_name_of_names(name)) number |= name_key_bit;
        writing.put(Table::keys, name, {reinterpret_cast<const char*>(&number), sizeof number});
    }
    numbers_.emplace(name, number);
    return number;
}

bool Keeper::is_posted(const std::string& id) const {
    return !has_own_modes_ || mode_of(store_, id) != IndexMode::none;
}

// Of an object with all that it is posted for.
std::uint64_t Keeper::fingerprint(const std::string& id) const {
    return store_.fingerprint(id) ^ (is_posted(id) ? 0 : ~std::uint64_t{0});
}

// Posts what is at a place now, and nothing else that was.
void Keeper::look_at(Writing& writing, std::uint64_t place) {
    const std::string key = key_of(place);
    Posted old;
    if (const auto bytes = writing.get(Table::posted, key)) old = posted_in(*bytes);
    Posted fresh;
    std::optional<std::string> id = store_.id_at(place);
    const std::string old_id(writing.get(Table::objects, key).value_or(std::string_view()));
    const bool is_named_anew = id && old_id != *id;
    if (id) {
        fresh.fingerprint = fingerprint(*id);  // first: what changes meanwhile is looked at again
        fresh.is_group = store_.is_group(*id) == true;
        if (!is_posted(*id)) {
            fresh.postings = {posting_of_more(number_of(writing, std::string(unposted_key)))};
        } else
            try {
                Surroundings around(reader_);
                Object object(reader_, *id, around);
                fresh.postings =
                    postings_of(object, [&](const std::string& name) { return number_of(writing, name); });
            } catch (const Error& error) {
                if (error.kind() == Code::not_found) {
                    id.reset();  // erased just now
                } else if (error.kind() == Code::corrupt || error.kind() == Code::io_error ||
                           is_of_another_meanwhile(error)) {
                    fresh.postings = {posting_of_more(number_of(writing, std::string(unposted_key)))};
                } else {
                    throw;
                }
            }
    }
    std::vector<std::string> gone;
    std::vector<std::string> come;
    if (is_named_anew || fresh.is_group != old.is_group) {  // which each posting says
        gone = old.postings;
        come = fresh.postings;
    } else {
        std::set_difference(old.postings.begin(), old.postings.end(), fresh.postings.begin(),
                            fresh.postings.end(), std::back_inserter(gone));
        std::set_difference(fresh.postings.begin(), fresh.postings.end(), old.postings.begin(),
                            old.postings.end(), std::back_inserter(come));
    }
    for (const std::string& posting : gone)
        writing.unpost(table_of(posting), posting, {place, posted_id(old_id), old.is_group});
    for (const std::string& posting : come)
        writing.post(table_of(posting), posting,
                     {place, posted_id(id ? *id : std::string_view()), fresh.is_group});
    if (!id) {
        writing.erase(Table::objects, key);
        writing.erase(Table::posted, key);
        return;
    }
    writing.put(Table::posted, key, bytes_of(fresh));
    if (is_named_anew) writing.put(Table::objects, key, *id);
}

/// One process at a time looks at everything, or writes a copy.
class Keeper::LookingAtAll {
public:
    explicit LookingAtAll(const Keeper& keeper) {
        make_file(keeper.store_, keeper.lock_path());
        file_ = os::File::open(keeper.lock_path(), O_RDWR | O_NOFOLLOW);
        in_child_ = os::ClosedInChild(file_);  // else a child that lives on keeps everybody from it
        is_held_ = os::try_lock(file_, os::LockKind::exclusive, 0, 1);
    }
    explicit operator bool() const { return is_held_; }

private:
    os::File file_;
    os::ClosedInChild in_child_;
    bool is_held_ = false;
};

bool Keeper::complete(const std::function<bool()>& stops) {
    const auto engine = this->engine();
    try {
        return try_to_complete(stops);
    } catch (const Error& error) {
        if (error.kind() != Code::corrupt) throw;
        const std::lock_guard lock(mutex_);
        give_up(engine);
        return false;
    }
}

bool Keeper::try_to_complete(const std::function<bool()>& stops) {
    std::uint64_t losses = 0;
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        const About about = about_in(*opened()->read());
        if (about.is_complete != 0) return true;
        losses = about.losses;
        generation = generation_;
    }
    has_own_modes_ = store_.has_own_index_words();
    const LookingAtAll alone(*this);
    if (!alone) return false;
    std::vector<std::uint64_t> places;
    store_.for_each_place([&](std::uint64_t place, const std::string&) { places.push_back(place); });
    std::sort(places.begin(), places.end());
    std::vector<std::uint64_t> gone;
    {
        const auto engine = this->engine();
        engine->read()->walk(Table::objects, {}, [&](std::string_view key, std::string_view) {
            const std::uint64_t place = place_in(key);
            if (!std::binary_search(places.begin(), places.end(), place)) gone.push_back(place);
            return true;
        });
    }
    places.insert(places.begin(), gone.begin(), gone.end());
    for (std::size_t at = 0; at < places.size(); at += objects_at_once) {
        to_do_ = places.size() - at;
        if (stops()) return false;
        const std::lock_guard lock(mutex_);
        retried([&](Engine& engine) {
            const auto writing = engine.write();
            const std::size_t end = std::min(places.size(), at + objects_at_once);
            for (std::size_t i = at; i < end; ++i) {
                const std::string key = key_of(places[i]);
                const auto there = writing->get(Table::objects, key);
                const auto posted = writing->get(Table::posted, key);
                const auto id = store_.id_at(places[i]);
                const bool is_same =
                    there && posted && id && *there == *id && fingerprint_in(*posted) == fingerprint(*id);
                if (!is_same) look_at(*writing, places[i]);
            }
            writing->commit();
        });
    }
    to_do_ = 0;
    const std::lock_guard lock(mutex_);
    bool is_complete = false;
    retried([&](Engine& engine) {
        const auto writing = engine.write();
        About about = about_in(*writing);
        is_complete = about.losses == losses && generation_ == generation;
        about.is_complete = is_complete ? 1 : 0;
        put_about(*writing, about);
        writing->commit();
    });
    return is_complete;
}

bool Keeper::publish_copy() {
    const std::lock_guard lock(mutex_);
    const auto engine = opened();
    try {
        return write_copy(*engine);
    } catch (const Error& error) {
        // Not found: another process has just made a new generation, and removed this one.
        if (error.kind() == Code::not_found) return false;
        if (error.kind() != Code::corrupt) throw;
        give_up(engine);
        return false;
    }
}

// False if another process is at it, or looks at everything.
bool Keeper::write_copy(const Engine& engine) {
    const About about = about_in(*engine.read());
    if (about.is_complete == 0 || copied_position_ == about.position) return true;
    const LookingAtAll alone(*this);
    if (!alone) return false;
    const std::string path = generations_.copy_path(generation_);
    // One at a time, so it may have a fixed name; what a killed process has left is removed by the next.
    const std::string fresh = path + ".new";
    os::remove_file(fresh);
    engine.copy_to(fresh);
    share(store_, os::File::open(fresh, O_RDWR | O_NOFOLLOW));
    os::rename_file(fresh, path);
    copied_position_ = about.position;
    return true;
}

void Keeper::sync() { engine()->sync(); }

}  // namespace pmemcpy::index
