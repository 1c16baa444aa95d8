#pragma once

#include <cstddef>
#include <type_traits>

namespace pmemcpy::os {

/// Runs action(context); false if a SIGBUS at an address inside [begin, begin + length) ended it.
[[nodiscard]] bool run_guarded(const void* begin, std::size_t length, void (*action)(void*), void* context);

/// Runs f, and says false if memory in [begin, begin + length) vanished or is poisoned (SIGBUS) while it ran.
/// f is left by a long jump then: it must only copy bytes, own nothing and take no lock. Any other SIGBUS
/// goes to whoever handled it before. The handler is installed at the first call; a program that installs its
/// own later without chaining takes this protection away. Cost: some ten nanoseconds.
template <class F>
[[nodiscard]] bool guarded(const void* begin, std::size_t length, F&& f) {
    using Action = std::remove_reference_t<F>;
    return run_guarded(
        begin, length, [](void* context) { (*static_cast<Action*>(context))(); },
        const_cast<void*>(static_cast<const void*>(&f)));
}

/// Touches every page of [begin, begin + length); false if one vanished or is poisoned. For memory that others are about to
/// follow with code that owns things: it tells all that the kernel knows, not what the next access may find out.
[[nodiscard]] bool can_read(const void* begin, std::size_t length);
[[nodiscard]] bool can_write(void* begin, std::size_t length);

}  // namespace pmemcpy::os
