#pragma once

#include "heap/heap.hpp"
#include "heap/record.hpp"

namespace pmemcpy::heap {

/// Keeps a record, and the extent that it names, where they are, for as long as this lives: an array's or one with an extent.
/// Announces the pin and then looks whether the record is still in use: whoever retires a record changes its state before
/// looking for pins, so one of the two sees the other. A recovery frees what nothing leads to without retiring it: it makes its
/// count odd before it looks for pins, and a mere reader, which may be there meanwhile, pins nothing until it is even. The process
/// that recovers pins what it reads.
class Pin {
public:
    Pin(Heap& heap, const Seen& record) : heap_(heap), record_(record.link) {
        const auto& header = heap_.pool().as<RecordHeader>(record_.offset());
        heap_.pool().check_memory(&header, sizeof header);
        heap_.pins().pin(record_);
        const bool is_recovering = heap_.pool().read_only() && heap_.pool().recovery_count() % 2 != 0;
        const UnitState state{persist::Medium::load(&header.state)};
        held_ = persist::still(!is_recovering && state.kind() == UnitState::owned &&
                               is_current(heap_.pool(), record));
        if (!held_) heap_.pins().unpin(record_);
    }
    ~Pin() {
        if (held_) heap_.pins().unpin(record_);
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    /// False: it is not in use any more, and may be something else now.
    explicit operator bool() const { return held_; }

private:
    Heap& heap_;
    Link record_;
    bool held_ = false;
};

}  // namespace pmemcpy::heap
