// The run-time library of an instrumentation that is not used for what it was made for: -fsanitize=thread has the compiler call
// a function before each load, store and atomic operation of the whole library. The thread sanitizer's own functions look
// for races; these tell a listener. So the compiler finds every access to shared memory, plain ones, copies of structs
// and volatile ones included, and no code has to say where it reads.
//
// Not seen: streaming stores (their bytes are nobody else's until a word is published), and inline assembly (there is none).
// A copy of a struct is one access; memcpy and memset are made word by word.

#include "accesses.hpp"

#include <atomic>
#include <cstring>

namespace pmemcpy::hold {
namespace {

std::uintptr_t shared_begin = 0;
std::uintptr_t shared_bytes = 0;
std::uintptr_t more_begin = 0;  // whose words come behind the kernel's
std::uintptr_t more_bytes = 0;
thread_local Listener* told = nullptr;

using Kind = Access::Kind;

inline bool is_shared(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at - shared_begin < shared_bytes || at - more_begin < more_bytes;
}

inline void tell(Kind kind, const void* address, std::size_t size, const void* place) {
    if (told == nullptr || !is_shared(address)) return;
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address) - shared_begin;
    if (at >= shared_bytes)
        at = shared_bytes + word_bytes + (reinterpret_cast<std::uintptr_t>(address) - more_begin);
    const auto first = static_cast<std::uint32_t>(at / word_bytes);
    const auto last = static_cast<std::uint32_t>((at + size - 1) / word_bytes);
    told->before({kind, first, last - first + 1, place});
}

}  // namespace

void watch(const void* begin, std::size_t bytes) {
    shared_begin = reinterpret_cast<std::uintptr_t>(begin);
    shared_bytes = bytes;
}
void watch_too(const void* begin, std::size_t bytes) {
    more_begin = reinterpret_cast<std::uintptr_t>(begin);
    more_bytes = bytes;
}

void set_listener(Listener* listener) { told = listener; }
Listener* listener() { return told; }

std::uint32_t kernel_word() { return static_cast<std::uint32_t>(shared_bytes / word_bytes); }

void before_call(bool changes, const void* place) {
    if (told != nullptr) told->before({changes ? Kind::call : Kind::load, kernel_word(), 1, place});
}

}  // namespace pmemcpy::hold

// What the instrumentation calls. The names and signatures are the compiler's.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
using pmemcpy::hold::tell;
using Kind = pmemcpy::hold::Access::Kind;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void*) {}
void __tsan_vptr_update(void*, void*) {}

#define PMEMCPY_PLAIN(size)                                                                                 \
    void __tsan_read##size(void* at) { tell(Kind::load, at, size, __builtin_return_address(0)); }           \
    void __tsan_write##size(void* at) { tell(Kind::store, at, size, __builtin_return_address(0)); }         \
    void __tsan_unaligned_read##size(void* at) { tell(Kind::load, at, size, __builtin_return_address(0)); } \
    void __tsan_unaligned_write##size(void* at) { tell(Kind::store, at, size, __builtin_return_address(0)); }
PMEMCPY_PLAIN(1)
PMEMCPY_PLAIN(2)
PMEMCPY_PLAIN(4)
PMEMCPY_PLAIN(8)
PMEMCPY_PLAIN(16)
#undef PMEMCPY_PLAIN
void __tsan_read_range(void* at, std::size_t size) {
    if (size != 0) tell(Kind::load, at, size, __builtin_return_address(0));
}
void __tsan_write_range(void* at, std::size_t size) {
    if (size != 0) tell(Kind::store, at, size, __builtin_return_address(0));
}

// One process runs at a time, so that each is sequentially consistent whatever it asks for.
#define PMEMCPY_FETCH(bits, type, name, operation)                                              \
    type __tsan_atomic##bits##_fetch_##name(volatile type* at, type value, int) {               \
        tell(Kind::exchange, const_cast<type*>(at), sizeof(type), __builtin_return_address(0)); \
        return operation(at, value, __ATOMIC_SEQ_CST);                                          \
    }
#define PMEMCPY_ATOMIC(bits, type)                                                                          \
    type __tsan_atomic##bits##_load(const volatile type* at, int) {                                         \
        tell(Kind::load, const_cast<const type*>(at), sizeof(type), __builtin_return_address(0));           \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                       \
    }                                                                                                       \
    void __tsan_atomic##bits##_store(volatile type* at, type value, int) {                                  \
        tell(Kind::store, const_cast<type*>(at), sizeof(type), __builtin_return_address(0));                \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                       \
    type __tsan_atomic##bits##_exchange(volatile type* at, type value, int) {                               \
        tell(Kind::exchange, const_cast<type*>(at), sizeof(type), __builtin_return_address(0));             \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                            \
    }                                                                                                       \
    PMEMCPY_FETCH(bits, type, add, __atomic_fetch_add)                                                      \
    PMEMCPY_FETCH(bits, type, sub, __atomic_fetch_sub)                                                      \
    PMEMCPY_FETCH(bits, type, and, __atomic_fetch_and)                                                      \
    PMEMCPY_FETCH(bits, type, or, __atomic_fetch_or)                                                        \
    PMEMCPY_FETCH(bits, type, xor, __atomic_fetch_xor)                                                      \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected, type desired, int, \
                                                      int) {                                                \
        tell(Kind::exchange, const_cast<type*>(at), sizeof(type), __builtin_return_address(0));             \
        return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,                  \
                                           __ATOMIC_SEQ_CST);                                               \
    }                                                                                                       \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type desired, int,   \
                                                    int) {                                                  \
        tell(Kind::exchange, const_cast<type*>(at), sizeof(type), __builtin_return_address(0));             \
        return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,                  \
                                           __ATOMIC_SEQ_CST);                                               \
    }
PMEMCPY_ATOMIC(8, unsigned char)
PMEMCPY_ATOMIC(16, unsigned short)
PMEMCPY_ATOMIC(32, unsigned int)
PMEMCPY_ATOMIC(64, unsigned long)
#undef PMEMCPY_ATOMIC
#undef PMEMCPY_FETCH
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

// Every call of these in the program comes here (ld --wrap), for the compiler instruments none of them.
void* __real_memcpy(void* to, const void* from, std::size_t size);
void* __real_memset(void* to, int byte, std::size_t size);
void* __real_memmove(void* to, const void* from, std::size_t size);
int __real_memcmp(const void* one, const void* other, std::size_t size);

void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
    const bool reads = pmemcpy::hold::is_shared(from), writes = pmemcpy::hold::is_shared(to);
    if (pmemcpy::hold::listener() == nullptr || (!reads && !writes)) return __real_memcpy(to, from, size);
    const void* place = __builtin_return_address(0);
    for (std::size_t done = 0; done < size;) {
        const std::size_t piece = size - done < 8 ? size - done : 8;
        if (reads) tell(Kind::load, static_cast<const char*>(from) + done, piece, place);
        std::uint64_t word = 0;
        __real_memcpy(&word, static_cast<const char*>(from) + done, piece);
        if (writes) tell(Kind::store, static_cast<char*>(to) + done, piece, place);
        __real_memcpy(static_cast<char*>(to) + done, &word, piece);
        done += piece;
    }
    return to;
}

void* __wrap_memset(void* to, int byte, std::size_t size) {
    if (pmemcpy::hold::listener() == nullptr || !pmemcpy::hold::is_shared(to))
        return __real_memset(to, byte, size);
    const void* place = __builtin_return_address(0);
    for (std::size_t done = 0; done < size;) {
        const std::size_t piece = size - done < 8 ? size - done : 8;
        tell(Kind::store, static_cast<char*>(to) + done, piece, place);
        __real_memset(static_cast<char*>(to) + done, byte, piece);
        done += piece;
    }
    return to;
}

// These two are one access each.
void* __wrap_memmove(void* to, const void* from, std::size_t size) {
    if (size != 0) tell(Kind::load, from, size, __builtin_return_address(0));
    if (size != 0) tell(Kind::store, to, size, __builtin_return_address(0));
    return __real_memmove(to, from, size);
}
int __wrap_memcmp(const void* one, const void* other, std::size_t size) {
    if (size != 0) tell(Kind::load, one, size, __builtin_return_address(0));
    if (size != 0) tell(Kind::load, other, size, __builtin_return_address(0));
    return __real_memcmp(one, other, size);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
