# The words that the rooms' own CMakeLists.txt use:
#
#   pmemcpy_test(a_test.cpp b_test.cpp)                one GoogleTest program per file, run by ctest, labelled by room
#   pmemcpy_mpi_program(name source...)                one program per flavour of MPI found: name.openmpi, name.mpich
#   pmemcpy_mpi_test(name RANKS 2 4 ARGS ... SOURCES ...)   the same, run by ctest with each number of ranks

# What a program inside this repository may reach beyond the promise: the rooms, and the optional libraries.
add_library(pmemcpy_insides INTERFACE)
target_link_libraries(pmemcpy_insides INTERFACE pmemcpy)
target_include_directories(pmemcpy_insides INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
if(TARGET pmemcpy_plain_blosc)
    target_link_libraries(pmemcpy_insides INTERFACE pmemcpy_plain_blosc)
    target_compile_definitions(pmemcpy_insides INTERFACE PMEMCPY_HAVE_BLOSC=1)
endif()
if(cereal_FOUND)
    target_link_libraries(pmemcpy_insides INTERFACE cereal::cereal)
    target_compile_definitions(pmemcpy_insides INTERFACE PMEMCPY_HAVE_CEREAL=1)
endif()
if(CapnProto_FOUND)
    target_link_libraries(pmemcpy_insides INTERFACE CapnProto::capnp)
    target_compile_definitions(pmemcpy_insides INTERFACE PMEMCPY_HAVE_CAPNPROTO=1)
endif()

# What the sanitizers should know: a test may fork, and reports end a test. MPI keeps memory until the process ends and
# synchronises in ways that TSan does not see, so there only our own code is judged.
set(PMEMCPY_TEST_ENVIRONMENT
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1" "TSAN_OPTIONS=die_after_fork=0:halt_on_error=1"
    "LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/tests/leaks-of-others")
set(PMEMCPY_MPI_TEST_ENVIRONMENT
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1" "ASAN_OPTIONS=detect_leaks=0"
    "TSAN_OPTIONS=die_after_fork=0:halt_on_error=1:ignore_noninstrumented_modules=1")

# Python with the packages of tools/python-packages.txt, for tests that read our bytes with somebody else's code.
if(EXISTS "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
    set(PMEMCPY_PYTHON "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
endif()

# The long form of the tests takes hours.
if(PMEMCPY_LONG)
    set(PMEMCPY_TEST_TIMEOUT 40000)
endif()

# Where threads meet, or a process is watched while others work: all that CI runs under the thread sanitizer.
set(PMEMCPY_THREADED_TESTS
    buckets.buckets_test buckets.processes_test conformance.limits_test conformance.steps_test conformance.threads_test conformance.views_test conformance.watch_test engine.engine_test heap.heap_test heat.tally_test index.search_test members.claims_test messages.messages_test messages.processes_test os.fork_test
    os.guard_test os.lock_test pool.feed_test pool.pool_test processes.attach_test processes.chaos_test processes.contention_test
    processes.fork_test processes.insert_test processes.sharing_test processes.step_test)
if(NOT TARGET threaded_tests)
    add_custom_target(threaded_tests)
    add_custom_target(crash_tests)  # all that CI runs of a trace build
    add_custom_target(hold_tests)   # and of one that tells of every access
endif()

# CI builds and runs some sixths of the tests in each preset, each day others (`sample_of` in ./run).
set(PMEMCPY_SAMPLE "" CACHE STRING "Only these sixths of the tests, as 0,1,2; all if empty")
string(REPLACE "," ";" PMEMCPY_SIXTHS "${PMEMCPY_SAMPLE}")
function(pmemcpy_is_drawn result name)
    string(MD5 hash "${name}")
    string(SUBSTRING "${hash}" 0 6 hash)
    math(EXPR sixth "0x${hash} % 6")
    if(PMEMCPY_SIXTHS STREQUAL "" OR sixth IN_LIST PMEMCPY_SIXTHS)
        set(${result} TRUE PARENT_SCOPE)
    else()
        set(${result} FALSE PARENT_SCOPE)
    endif()
endfunction()

# pmemcpy_draw(TEST [NAME]): a test that is not of this sample is not run; tests with one NAME are run together
function(pmemcpy_draw test)
    list(APPEND ARGN ${test})
    list(GET ARGN 0 name)
    pmemcpy_is_drawn(is_drawn ${name})
    if(NOT is_drawn)
        set_tests_properties(${test} PROPERTIES DISABLED TRUE)
    endif()
endfunction()

# What QEMU's emulation of one program lacks, in the preset aarch64: a test, or a case of it, and what came of it there.
set(PMEMCPY_NOT_EMULATED
    "os.child_test child.that_does_not_exist_is_an_error: QEMU makes a vfork a fork, whose parent is not told that the child could not begin"
    "os.guard_test os.a_fault_elsewhere_goes_to_the_handler_that_was_there_before: GoogleTest starts the program again by its path, and the kernel starts none for Arm"
    "os.map_test os.map_sync_is_unsupported_on_tmpfs: QEMU does not tell the kernel of MAP_SYNC"
    "os.map_test os.a_child_does_not_inherit_a_mapping: QEMU does not tell the kernel of MADV_DONTFORK"
    "os.names_test os.small_texts_of_proc_are_read_whole: the name of the process is QEMU's"
    "processes.fork_test processes.a_killed_parent_is_dead_to_the_pool_though_its_forked_child_lives: the child keeps its mappings, and with them the locks, for QEMU does not tell the kernel of MADV_DONTFORK"
    "conformance.operations_test: functions are called in a program of their own, and the kernel starts none for Arm"
    "processes.torn_read_test processes.without_the_fence_a_reader_sees_torn_data: the memory of x86 keeps the order of the stores that QEMU makes of a bulk copy")
# What takes more memory or time there than CI has.
set(PMEMCPY_TOO_LARGE_TO_EMULATE)
foreach(entry IN LISTS PMEMCPY_NOT_EMULATED PMEMCPY_TOO_LARGE_TO_EMULATE)
    if(NOT entry MATCHES "^[a-z_0-9]+\\.[a-z_0-9]+( [^ ]+)?: .")
        message(FATAL_ERROR "this names no test and reason: ${entry}")
    endif()
endforeach()

# pmemcpy_left_out(CASES TEST): which cases of a test are in these lists, as --gtest_filter takes them; * if it is there as a whole
function(pmemcpy_left_out cases test)
    set(found "")
    foreach(entry IN LISTS PMEMCPY_NOT_EMULATED PMEMCPY_TOO_LARGE_TO_EMULATE)
        if(CMAKE_CROSSCOMPILING AND entry MATCHES "^${test}( ([^ ]+))?: ")
            message(STATUS "not emulated: ${entry}")  # tools/list_skipped.py tells of it
            if(CMAKE_MATCH_1 STREQUAL "")
                set(CMAKE_MATCH_2 "*")
            endif()
            string(APPEND found ":${CMAKE_MATCH_2}")
        endif()
    endforeach()
    string(REGEX REPLACE "^:" "" found "${found}")
    set(${cases} "${found}" PARENT_SCOPE)
endfunction()

function(pmemcpy_room_name result)
    get_filename_component(room "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
    set(${result} "${room}" PARENT_SCOPE)
endfunction()

function(pmemcpy_test)
    if(NOT PMEMCPY_TESTS)
        return()
    endif()
    pmemcpy_room_name(room)
    if(PMEMCPY_HOLD AND NOT room STREQUAL hold)
        return()
    endif()
    foreach(file IN LISTS ARGN)
        get_filename_component(stem "${file}" NAME_WE)
        set(target ${room}_${stem})
        add_executable(${target} ${file})
        set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # it would make the one file of a test one that includes it
        target_link_libraries(${target} PRIVATE pmemcpy_insides GTest::gtest_main)
        # Two thirds of the time to build all is spent on tests, and what runs long in them is in the library.
        if(PMEMCPY_SANITIZE)
            target_compile_options(${target} PRIVATE -O0)
        else()
            target_compile_options(${target} PRIVATE -O1)
        endif()
        add_test(NAME ${room}.${stem} COMMAND ${target})
        set(labels ${room})
        if(${room}.${stem} IN_LIST PMEMCPY_THREADED_TESTS)
            list(APPEND labels threaded)
        endif()
        # Where the hook itself is tested; and where it puts workers off the processor right after what they store.
        if(PMEMCPY_TRACE AND (room STREQUAL persist OR room STREQUAL processes))
            list(APPEND labels crash)
        endif()
        set_tests_properties(${room}.${stem} PROPERTIES LABELS "${labels}" TIMEOUT ${PMEMCPY_TEST_TIMEOUT}
                             ENVIRONMENT "${PMEMCPY_TEST_ENVIRONMENT}")
        # Of the room hold each test draws a sample by itself.
        pmemcpy_is_drawn(is_drawn ${target})
        if(room STREQUAL hold)
            set(is_drawn TRUE)
        endif()
        if(is_drawn)
            pmemcpy_left_out(left_out ${room}.${stem})
            if(left_out STREQUAL "*")
                set(is_drawn FALSE)
            elseif(NOT left_out STREQUAL "")
                set_property(TEST ${room}.${stem} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${left_out}")
            endif()
        endif()
        if(is_drawn)
            foreach(label IN ITEMS threaded crash hold)
                if(label IN_LIST labels)
                    add_dependencies(${label}_tests ${target})
                endif()
            endforeach()
        else()
            set_tests_properties(${room}.${stem} PROPERTIES DISABLED TRUE)
            set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
        endif()
    endforeach()
endfunction()

function(pmemcpy_mpi_program name)
    foreach(flavour IN LISTS PMEMCPY_MPI_FLAVOURS)
        add_executable(${name}.${flavour} ${ARGN})
        if(flavour STREQUAL openmpi)
            target_link_libraries(${name}.${flavour} PRIVATE PkgConfig::ompi-cxx)
            # The old C++ bindings are off, for their headers do not survive our warnings and nobody uses them.
            target_compile_definitions(${name}.${flavour} PRIVATE OMPI_SKIP_MPICXX)
        else()
            target_link_libraries(${name}.${flavour} PRIVATE PkgConfig::mpich)
            target_compile_definitions(${name}.${flavour} PRIVATE MPICH_SKIP_MPICXX)
        endif()
        target_link_libraries(${name}.${flavour} PRIVATE pmemcpy_mpi)
    endforeach()
endfunction()

# How to start ranks here: more ranks than cores and root are normal in CI, and its kernels may forbid one process to
# read another's memory, which Open MPI's shared memory transport would otherwise do. UCX, below MPICH, would replace
# mmap and free in the whole process, which the sanitizers do too.
set(PMEMCPY_openmpi_LAUNCH
    "${CMAKE_COMMAND}" -E env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated
    OMPI_MCA_pml=ob1 OMPI_MCA_btl=vader,self "${PMEMCPY_openmpi_RUN}")
set(PMEMCPY_mpich_LAUNCH "${CMAKE_COMMAND}" -E env UCX_MEM_EVENTS=no "${PMEMCPY_mpich_RUN}" -launcher fork)

function(pmemcpy_mpi_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "RANKS;ARGS;SOURCES")
    if(NOT PMEMCPY_TESTS)
        return()
    endif()
    pmemcpy_room_name(room)
    pmemcpy_mpi_program(${name} ${arg_SOURCES})
    foreach(flavour IN LISTS PMEMCPY_MPI_FLAVOURS)
        target_link_libraries(${name}.${flavour} PRIVATE pmemcpy_insides)
        foreach(ranks IN LISTS arg_RANKS)
            set(test ${room}.${name}.${flavour}.${ranks})
            add_test(NAME ${test} COMMAND ${PMEMCPY_${flavour}_LAUNCH} -n ${ranks} $<TARGET_FILE:${name}.${flavour}> ${arg_ARGS})
            set_tests_properties(${test} PROPERTIES LABELS "${room};mpi" TIMEOUT ${PMEMCPY_TEST_TIMEOUT} PROCESSORS 2
                                 ENVIRONMENT "${PMEMCPY_MPI_TEST_ENVIRONMENT}")
        endforeach()
    endforeach()
endfunction()

if(PMEMCPY_TESTS)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)  # there the emulator would be given this machine's Python
        add_test(NAME layers COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_layers.py")
        add_test(NAME files COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_files.py")
        add_test(NAME laws_catch COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_test.py")
        add_test(NAME docs COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_docs.py")
        set_tests_properties(layers files laws_catch docs PROPERTIES LABELS laws TIMEOUT 60)
    endif()
endif()
