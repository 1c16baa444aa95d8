#include "script.hpp"

#include <stdexcept>

#include "pool/geometry.hpp"

namespace pmemcpy::crash {

Options small_pool(std::uint64_t max_bytes) {
    Options options;
    options.max_bytes = max_bytes;
    options.chunk_bytes = 4096;
    return options;
}

bool is_clean(std::span<const std::byte> pool) {
    const auto& state = *reinterpret_cast<const pool::PoolState*>(pool.data() + pool::state_offset);
    return state.clean.value == pool::clean_mark(state);
}

namespace {

// What would be seen had the dead one not come to do it; what somebody has changed since is as he left it.
Content with_doubt(const Content& now, const Content& before, const Content& after) {
    Content content = now;
    const auto value_in = [](const Content& all, const std::string& key) {
        const auto found = all.find(key);
        return found == all.end() ? std::optional<std::uint64_t>{} : found->second;
    };
    const auto doubt = [&](const std::string& key) {
        const std::optional<std::uint64_t> old = value_in(before, key);
        if (old == value_in(after, key) || value_in(now, key) != value_in(after, key)) return;
        old ? content.insert_or_assign(key, *old).second : content.erase(key) != 0;
    };
    for (const auto& [key, value] : before) doubt(key);
    for (const auto& [key, value] : after) doubt(key);
    return content;
}

}  // namespace

Run perform(SimulatedKernel& kernel, const Script& script, Grain grain, std::optional<MutantSite> left_out) {
    Run run;
    kernel.remove_pool();
    {
        PMEM creator;
        Options options = script.options;
        options.mode = Mode::exclusive;
        creator.mmap(SimulatedKernel::path, options);
    }
    run.start.assign(kernel.pool().begin(), kernel.pool().end());
    run.allocation = kernel.allocation();
    run.first_operation = script.first_operation;
    Recorder recorder(kernel, std::move(left_out));
    PMEM pmem;
    run.contents.emplace_back();
    run.otherwise.emplace_back();
    Content doubt, doubtful;  // what was seen before and after a process died in a call
    run.is_sync.push_back(true);
    run.formats.push_back(false);
    run.is_clean.push_back(true);
    for (std::size_t i = 0; i < script.operations.size(); ++i) {
        const Operation& operation = script.operations[i];
        recorder.begin(i);
        try {
            operation.call(pmem);
        } catch (const std::exception& error) {
            throw std::logic_error(script.name + ", operation " + std::to_string(i) + " (" + operation.name +
                                   "): " + error.what());
        }
        recorder.acknowledge(i);
        const Content before = run.contents.back();
        Content after = before;
        if (operation.effect != Effect::hidden && pmem.is_mapped()) after = observe(pmem, grain);
        if (operation.effect == Effect::either) {
            doubt = before;
            doubtful = after;
        } else if (operation.effect != Effect::maybe &&
                   (operation.effect == Effect::changes) == (before == after)) {
            throw std::logic_error(
                script.name + ", operation " + std::to_string(i) + " (" + operation.name + ") " +
                (before == after ? "changed nothing"
                                 : "changed what it should not: " + difference(after, before)));
        }
        if (grain != Grain::element && after != before) {
            for (const std::string& key : operation.builds_on) {
                doubt.erase(key);
                doubtful.erase(key);
            }
        }
        // Made durable by now, whoever did it: behind the page cache by a sync, elsewhere by whoever closed the pool.
        if (grain == Grain::element ? operation.is_sync : !pmem.is_mapped()) doubt = doubtful = {};
        run.otherwise.push_back(with_doubt(after, doubt, doubtful));
        run.contents.push_back(std::move(after));
        if (pmem.is_mapped()) run.old_steps.merge(observe_old_steps(pmem));
        run.is_sync.push_back(operation.is_sync);
        run.formats.push_back(operation.formats);
        run.is_clean.push_back(is_clean(kernel.pool()));
    }
    if (pmem.is_mapped()) {
        recorder.begin(script.operations.size());
        pmem.munmap();
        recorder.acknowledge(script.operations.size());
        run.contents.push_back(run.contents.back());
        run.otherwise.push_back(run.contents.back());
        run.is_sync.push_back(true);
        run.formats.push_back(false);
        run.is_clean.push_back(is_clean(kernel.pool()));
    }
    run.recording = recorder.recording();
    return run;
}

}  // namespace pmemcpy::crash
