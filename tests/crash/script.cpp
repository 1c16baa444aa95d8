#include "script.hpp"

#include <stdexcept>

namespace pmemcpy::crash {

Options small_pool(std::uint64_t max_bytes) {
    Options options;
    options.max_bytes = max_bytes;
    options.chunk_bytes = 4096;
    return options;
}

Run perform(SimulatedKernel& kernel, const Script& script, Grain grain, std::optional<MutantSite> left_out) {
    Run run;
    kernel.remove_pool();
    {
        PMEM creator;
        creator.mmap(SimulatedKernel::path, script.options);
    }
    run.start.assign(kernel.pool().begin(), kernel.pool().end());
    Recorder recorder(kernel, std::move(left_out));
    PMEM pmem;
    run.contents.emplace_back();
    run.is_sync.push_back(true);
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
        run.is_sync.push_back(operation.is_sync);
    }
    if (pmem.is_mapped()) {
        recorder.begin(script.operations.size());
        pmem.munmap();
        recorder.acknowledge(script.operations.size());
        run.contents.push_back(run.contents.back());
        run.is_sync.push_back(true);
    }
    run.recording = recorder.recording();
    return run;
}

}  // namespace pmemcpy::crash
