# How our own sources are compiled: warnings, sanitizers, ccache, a hint when no build type was given.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()

find_program(PMEMCPY_CCACHE ccache)
if(PMEMCPY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${PMEMCPY_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${PMEMCPY_CCACHE}")
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion)
if(PMEMCPY_WERROR)
    add_compile_options(-Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # At -O3 GCC 12 follows lengths that cannot occur into the standard library's strings and vectors (its bug 105651).
    add_compile_options(-Wno-restrict -Wno-stringop-overflow)
endif()

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The presets compile several files of a room as one, in a third of the time (build/*/CMakeFiles/*/Unity). GCC 12 then sees more of a
    # std::variant than it understands; clang-tidy looks at each file alone.
    add_compile_options(-Wno-maybe-uninitialized)
endif()

# GCC allows for a program that puts functions of its own in the place of a shared library's, at the price of a detour for each call and of
# inlining. Here nobody does. (Attributes counted a second: 1.7 times; small stores: 5 to 10 % more.)
add_compile_options(-fno-semantic-interposition)

if(PMEMCPY_SANITIZE)
    add_compile_options(-fsanitize=${PMEMCPY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${PMEMCPY_SANITIZE})
endif()
if(PMEMCPY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees uninitialised and overlong reads that are not there once the sanitizers' checks are in the code, and
    # warns of every std::atomic_thread_fence because TSan does not model it.
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-tsan)
endif()

if(PMEMCPY_HOLD)
    # The compiler calls a function before each access to memory, and tests/hold has these functions; the sanitizer's own library is not
    # linked, and no code is to take this for a build with it.
    add_compile_options(-fsanitize=thread -U__SANITIZE_THREAD__ -fno-builtin-memcpy -fno-builtin-memset -fno-builtin-memmove
                        -fno-builtin-memcmp -Wno-tsan -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                        -Wno-stringop-overread)
endif()
