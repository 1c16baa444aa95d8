#pragma once

#include "store/store.hpp"

namespace pmemcpy::store {

/// Announces a pin and then looks whether the record is still in use: whoever retires a record changes its state
/// before looking for pins, so one of the two sees the other.
class Store::Pin {
public:
    Pin(heap::Heap& heap, Link record) : heap_(heap), record_(record) {
        const auto& header = heap_.pool().as<heap::RecordHeader>(record_.offset());
        heap_.pool().check_memory(&header, sizeof header);
        heap_.pins().pin(record_);
        const heap::UnitState state{persist::Medium::load(&header.state)};
        held_ = state.kind() == heap::UnitState::owned && heap::is_current(heap_.pool(), record_);
        if (!held_) heap_.pins().unpin(record_);
    }
    ~Pin() {
        if (held_) heap_.pins().unpin(record_);
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    explicit operator bool() const { return held_; }

private:
    heap::Heap& heap_;
    Link record_;
    bool held_ = false;
};

/// A pin that keeps the mapping too, so that a view survives munmap.
class HeldPin {
public:
    HeldPin(std::shared_ptr<Store> store, heap::Heap& heap, Link record)
        : store_(std::move(store)), pin_(heap, record) {}
    bool holds() const { return static_cast<bool>(pin_); }
    heap::Bytes bytes;

private:
    std::shared_ptr<Store> store_;
    Store::Pin pin_;
};

}  // namespace pmemcpy::store
