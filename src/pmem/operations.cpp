#include "operate/hints.hpp"
#include "operate/job.hpp"
#include "operate/registry.hpp"
#include "os/process.hpp"
#include "pmem/sides.hpp"

#include <pmemcpy/error.hpp>
#include <pmemcpy/operations.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace pmemcpy {

using pmem::Sides;

namespace {

operate::Functions functions_of(Sides& sides) {
    return [&sides](const std::string& name) {
        for (const operate::Operator* each : sides.operators()) {
            if (Operate found = each->function(name)) return found;
        }
        return Operate{};
    };
}

}  // namespace

const char* name_of(OperationState::Progress progress) noexcept {
    switch (progress) {
        case OperationState::Progress::none:
            return "none";
        case OperationState::Progress::waiting:
            return "waiting";
        case OperationState::Progress::done:
            return "done";
        case OperationState::Progress::failed:
            return "failed";
    }
    return "none";
}

void hint(PMEM& pool, std::string_view id, const Hint& hint) {
    Sides& sides = Sides::of(pool);
    store::Store& store = *sides.of(id);
    const bool is_first = !operate::has_hints(store);
    operate::set_hint(store, id, hint);
    if (hint.mask == 0) return;
    sides.operator_of(id);
    if (is_first) store.announce_scopes();  // which has others look for what they do not know of yet
}

Hint hint_of(const PMEM& pool, std::string_view id) { return operation_state(pool, id).hint; }

OperationState operation_state(const PMEM& pool, std::string_view id) {
    const store::Store& store = *Sides::of(pool).of(id);
    if (!store.exists(id))
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + store.path());
    return operate::state_of(store, id);
}

std::vector<OperationState> operation_states(const PMEM& pool) {
    std::vector<OperationState> all;
    for (const std::string& id : pool.ids()) {
        OperationState state = operate::state_of(*Sides::of(pool).of(id), id);
        if (state.progress != OperationState::Progress::none) all.push_back(std::move(state));
    }
    return all;
}

void wait_for_operations(PMEM& pool) {
    operate::refuse_in_function("waiting for operations");
    for (operate::Operator* each : Sides::of(pool).operators()) each->wait();
}

// Through an attachment of its own: a lock of this pool's is all its threads', and what is in a step is not seen by others yet.
std::vector<std::string> run_operations(PMEM& pool, std::string_view id, const Hint& hint) {
    operate::refuse_in_function("operating");
    Sides& sides = Sides::of(pool);
    operate::check_hint(*sides.of(id), id, hint);
    Options options;
    options.mode = Mode::update;
    options.verify_loads = true;  // or damage would become a result with a good checksum
    const std::shared_ptr<store::Store> side = sides.of(id);
    const auto store = store::Store::open(side->path(), options, nullptr, {.again = side->itself()});
    struct Closed {
        store::Store& store;
        ~Closed() {
            try {
                store.close();
            } catch (const Error&) {
                // What could not be synced is told when the pool itself is closed.
            }
        }
    } const closed{*store};
    const std::string name(id);
    std::optional<pool::Patience> patience;
    for (;;) {
        const auto lock = store->try_operate(operate::lock_number(id));
        if (lock) {
            try {
                return operate::operate_on(*store, name, hint, functions_of(sides), [] { return true; }).ids;
            } catch (const operate::Incomplete& part) {
                throw Error(Code::not_found, part.text);
            }
        }
        if (!patience) patience.emplace(lock.patience(store->path(), "operating on '" + name + "'"));
        patience->nap();
    }
}

std::uint32_t add_operation(PMEM& pool, const std::string& name, const std::string& file,
                            const OperationLimits& limits) {
    return operation::registered(operate::register_file(*Sides::of(pool).shared(), name, file, limits));
}

std::uint32_t add_operation(PMEM& pool, const std::string& name, Operate function) {
    Sides& sides = Sides::of(pool);
    if (!function) throw Error(Code::invalid_argument, "there is no function to register as '" + name + "'");
    const int number = operate::register_in_process(*sides.shared(), name);
    sides.operator_of("/").set_function(name, std::move(function));
    return operation::registered(number);
}

void remove_operation(PMEM& pool, const std::string& name) {
    store::Store& store = *Sides::of(pool).shared();
    std::uint32_t bit = 0;
    for (const operate::Registered& one : operate::registered_in(store)) {
        if (one.name == name) bit = operation::registered(one.number);
    }
    const std::vector<std::string> ids = store.ids("", false);
    const auto user = std::find_if(ids.begin(), ids.end(), [&](const std::string& id) {
        return (operate::hint_of(store, id).mask & bit) != 0;
    });
    if (user != ids.end())
        throw Error(Code::busy, "function '" + name + "' is in the hint of '" + *user +
                                    "'; give that another hint first");
    operate::unregister(store, name);
}

std::vector<OperationInfo> registered_operations(const PMEM& pool) {
    Sides& sides = Sides::of(pool);
    const store::Store& store = *sides.shared();
    std::vector<OperationInfo> all;
    for (const operate::Registered& one : operate::registered_in(store)) {
        OperationInfo info{
            .name = one.name, .number = one.number, .in_process = one.in_process, .limits = one.limits};
        if (!one.in_process) info.library = operate::path_of_library(store, one.name);
        info.trouble = operate::trouble_with(store, operation::registered(one.number), functions_of(sides));
        all.push_back(std::move(info));
    }
    return all;
}

std::uint32_t operation_mask(const PMEM& pool, const std::vector<std::string>& names) {
    return operate::mask_of(*Sides::of(pool).shared(), names);
}
std::vector<std::string> operation_names(const PMEM& pool, std::uint32_t mask) {
    return operate::names_of(*Sides::of(pool).shared(), mask);
}

}  // namespace pmemcpy
