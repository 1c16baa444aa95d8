// Steps: what is stored in one carries its number, and one word of the pool says up to which number readers see.

#include "store/store.hpp"

namespace pmemcpy::store {

using persist::Medium;

bool Store::is_committed(std::uint64_t step) const {
    return step <= Medium::load(&pool_.state().committed_step.value);
}

bool Store::is_visible(std::uint64_t step) const {
    return step == 0 || step == step_.load() || is_committed(step);
}

void Store::begin(std::uint64_t step) {
    check_writable();
    if (step == 0 || is_committed(step)) {
        throw Error(Code::invalid_argument, "step " + std::to_string(step) +
                                                " cannot begin: the newest committed step is " +
                                                std::to_string(pool_.state().committed_step.value) +
                                                ", and a step has a higher number than those before it");
    }
    std::uint64_t* begun = &pool_.state().begun_step.value;
    std::uint64_t before = Medium::load(begun);
    while (before < step && !pool_.medium().compare_exchange(begun, before, step)) {
    }
    pool_.medium().persist(begun, sizeof *begun);
    step_ = step;
    settle_names();
}

void Store::commit(std::uint64_t step) {
    check_writable();
    if (step == 0 || is_committed(step)) {
        throw Error(Code::invalid_argument, "step " + std::to_string(step) +
                                                " cannot be committed: the newest committed step is " +
                                                std::to_string(pool_.state().committed_step.value));
    }
    if (step > Medium::load(&pool_.state().begun_step.value)) {
        throw Error(Code::invalid_argument,
                    "step " + std::to_string(step) + " cannot be committed: nobody has begun it");
    }
    std::uint64_t* committed = &pool_.state().committed_step.value;
    std::uint64_t before = Medium::load(committed);
    // Relied on by readers of the step: all that its stores wrote is there before they may look at it.
    pool_.medium().fence();
    while (before < step && !pool_.medium().compare_exchange(committed, before, step)) {
    }
    pool_.medium().persist(committed, sizeof *committed);
    step_ = 0;
    settle_names();
}

}  // namespace pmemcpy::store
