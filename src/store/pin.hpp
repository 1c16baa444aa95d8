#pragma once

#include "heap/pin.hpp"
#include "store/store.hpp"

namespace pmemcpy::store {

using heap::Pin;

/// A pin that keeps the mapping too, so that a view survives munmap.
class HeldPin {
public:
    HeldPin(std::shared_ptr<Store> store, heap::Heap& heap, const heap::Seen& record)
        : store_(std::move(store)), pin_(heap, record) {}
    bool holds() const { return static_cast<bool>(pin_); }
    heap::Bytes bytes;

private:
    std::shared_ptr<Store> store_;
    Pin pin_;
};

}  // namespace pmemcpy::store
