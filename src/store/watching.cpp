#include "store/watching.hpp"

#include "array/id.hpp"
#include "catalog/retry.hpp"
#include "os/process.hpp"

#include <algorithm>
#include <pmemcpy/watch.hpp>

namespace pmemcpy {

bool Watch::wait(std::optional<std::chrono::nanoseconds> at_most) { return watching_->wait(at_most); }

namespace store {

using catalog::Retry;

Store::Seen Store::look(std::string_view id) const {
    check_readable();
    for (Retry retry(id);; retry.again()) {
        const auto named = catalog_.find_named(id);
        if (!named) return {};
        if (!is_array(named->definition)) {
            const auto seen = visible_value(*named);
            return seen ? Seen{seen->link, {seen->seen().version}} : Seen{};
        }
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
        Seen seen{is_visible(directory->definition().step) ? named->definition : Link{}, {}};
        for (const auto& [handle, block] : directory->blocks()) {
            if (is_visible(block.block.step)) seen.versions.push_back(block.version);
        }
        std::sort(seen.versions.begin(), seen.versions.end());
        return seen;
    }
}

Watching::Watching(std::shared_ptr<Store> store, std::string id)
    : store_(std::move(store)), id_(std::move(id)), waiting_(store_->pool_) {
    array::validate_id(id_);
    seen_ = store_->look(id_);
}

bool Watching::wait(std::optional<std::chrono::nanoseconds> at_most) {
    constexpr std::uint64_t a_day_ns = 86'400'000'000'000;
    const std::uint64_t begin = os::monotonic_ns();
    for (;;) {
        store_->check_readable();  // a forked child has no memory of the pool
        const std::uint64_t news = waiting_.news();
        const Store::Seen now = store_->look(id_);
        // A block that went because somebody has read it is no news. One that came may have a lower version than others that were there
        // before: its store, or the commit of its step, was slower.
        const bool is_news =
            now.link != seen_.link || !std::includes(seen_.versions.begin(), seen_.versions.end(),
                                                     now.versions.begin(), now.versions.end());
        seen_ = now;
        if (is_news) return true;
        std::uint64_t left = a_day_ns;
        if (at_most) {
            const auto all = static_cast<std::uint64_t>(std::max<std::int64_t>(at_most->count(), 0));
            const std::uint64_t waited = os::monotonic_ns() - begin;
            if (waited >= all) return false;
            left = std::min(left, all - waited);
        }
        if (waiting_.wait(news, left) == os::Woken::by_signal) return false;
    }
}

}  // namespace store
}  // namespace pmemcpy
