// One target under libFuzzer: FUZZ_TARGET is its function.

#include "target.hpp"

/// An exception is no rare thing here, and looking after the stack of each costs more than all the rest.
extern "C" const char* __asan_default_options() {  // NOLINT: the sanitizer's name
    return "detect_stack_use_after_return=0:malloc_context_size=8:allocator_may_return_null=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    pmemcpy::fuzz::FUZZ_TARGET({data, size});
    return 0;
}
