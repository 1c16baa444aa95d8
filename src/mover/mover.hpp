#pragma once

#include "mover/reads.hpp"
#include "store/store.hpp"

#include <pmemcpy/tiers.hpp>

#include <memory>
#include <string>
#include <vector>

namespace pmemcpy::mover {

/// Works in the background on a pool's blocks, as its hierarchy says, as long as this lives: copies them to the flush target, brings
/// them down from targets that are nearly full, removes copies of what is gone. Nothing is promised of when; a crash loses none of it, for
/// what is left is found again by whoever does this next.
class Mover {
public:
    /// Beside a program that has the pool open, which closes it after this has gone.
    explicit Mover(store::Store& program);
    /// The same by a process that does nothing else, before which the others step back. `cores`: it runs on these; empty: on those of the hierarchy.
    /// Errors: those of opening for writing; busy, when there is one already; invalid_argument for processors that are not there.
    Mover(const std::string& path, std::vector<unsigned> cores);
    /// Waits for what it is at; and, where a trigger of the hierarchy is `close`, or `exit` and this is the last, until everything is flushed.
    ~Mover();
    Mover(const Mover&) = delete;
    Mover& operator=(const Mover&) = delete;

    /// Somebody in this process has read a block.
    void note(store::Store::Read read);
    /// Somebody in this process is about to store one.
    void note_store();
    ReadCounters read_counters() const;
    /// Why the last thing that it tried could not be done; empty if it could.
    std::string trouble() const;
    /// Blocks that are to come up as soon as it can be.
    void want(std::vector<store::Store::Read> blocks);
    void set_prefetcher(std::shared_ptr<const Prefetcher> next);

private:
    class Worker;
    std::unique_ptr<Worker> worker_;
};

}  // namespace pmemcpy::mover
