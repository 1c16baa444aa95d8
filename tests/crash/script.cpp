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
    Recorder recorder(kernel, std::move(left_out));
    PMEM pmem;
    run.contents.emplace_back();
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
        if ((operation.effect == Effect::changes) == (before == after)) {
            throw std::logic_error(
                script.name + ", operation " + std::to_string(i) + " (" + operation.name + ") " +
                (before == after ? "changed nothing"
                                 : "changed what it should not: " + difference(after, before)));
        }
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
        run.is_sync.push_back(true);
        run.formats.push_back(false);
        run.is_clean.push_back(is_clean(kernel.pool()));
    }
    run.recording = recorder.recording();
    return run;
}

}  // namespace pmemcpy::crash
