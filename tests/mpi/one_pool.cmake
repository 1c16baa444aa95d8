# The word for tests of several programs, one after the other on the same pool:
#
#   pmemcpy_one_pool_test(NAME none PROGRAM POOL ARG... THEN PROGRAM POOL ARG... THEN ...)
#   pmemcpy_one_pool_test(NAME openmpi RANKS PROGRAM POOL ARG... THEN RANKS PROGRAM POOL ARG... THEN ...)
include_guard()

function(pmemcpy_one_pool_test name flavour)
    pmemcpy_room_name(room)
    set(labels ${room})
    set(environment ${PMEMCPY_TEST_ENVIRONMENT})
    if(NOT flavour STREQUAL none)
        list(APPEND labels mpi)
        set(environment ${PMEMCPY_MPI_TEST_ENVIRONMENT})
    endif()
    add_test(NAME ${name}
             COMMAND "${PROJECT_SOURCE_DIR}/tests/mpi/on_one_pool.sh" ${PMEMCPY_${flavour}_LAUNCH} -- ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${PMEMCPY_TEST_TIMEOUT} PROCESSORS 2
                         ENVIRONMENT "${environment}")
endfunction()
