# The two targets a user links: pmemcpy::pmemcpy, and pmemcpy::mpi for programs that hand it a communicator.
# The rooms add their sources to the first with target_sources(pmemcpy PRIVATE ...).

add_library(pmemcpy)
add_library(pmemcpy::pmemcpy ALIAS pmemcpy)

# Names are not hidden: the unit tests beside the code reach a room's insides through the library itself, so what is
# tested is what is shipped.
set_target_properties(pmemcpy PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(pmemcpy PUBLIC cxx_std_20)
target_include_directories(pmemcpy
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PMEMCPY_xxhash_INCLUDE}")
if(PMEMCPY_TRACE)
    # The hook is inlined from headers, so whoever includes them must agree with the library.
    target_compile_definitions(pmemcpy PUBLIC PMEMCPY_TRACE=1)
endif()

# Libraries inside: compiled against here, named bare in the exported targets. --as-needed drops what no room calls.
set(PMEMCPY_PRIVATE_LIBRARIES "")
function(pmemcpy_use_plain name library)
    target_link_libraries(pmemcpy PRIVATE $<BUILD_INTERFACE:pmemcpy_plain_${name}> $<INSTALL_INTERFACE:${library}>)
    set(PMEMCPY_PRIVATE_LIBRARIES "${PMEMCPY_PRIVATE_LIBRARIES} -l${library}" PARENT_SCOPE)
endfunction()

target_link_libraries(pmemcpy PUBLIC Threads::Threads)
target_link_options(pmemcpy PRIVATE -Wl,--as-needed -Wl,-Bsymbolic-functions)
if(TARGET pmemcpy_plain_blosc)
    target_compile_definitions(pmemcpy PRIVATE PMEMCPY_HAVE_BLOSC=1)
    pmemcpy_use_plain(blosc blosc)
endif()
if(TARGET pmemcpy_plain_yaml)
    pmemcpy_use_plain(yaml yaml-cpp)
endif()
if(TARGET pmemcpy_plain_acl)
    target_compile_definitions(pmemcpy PRIVATE PMEMCPY_HAVE_ACL=1)
    pmemcpy_use_plain(acl acl)
endif()
if(cereal_FOUND)
    target_compile_definitions(pmemcpy PRIVATE PMEMCPY_HAVE_CEREAL=1)
    target_link_libraries(pmemcpy PRIVATE $<BUILD_INTERFACE:cereal::cereal>)
endif()
if(CapnProto_FOUND)
    target_compile_definitions(pmemcpy PRIVATE PMEMCPY_HAVE_CAPNPROTO=1)
    target_link_libraries(pmemcpy PRIVATE $<BUILD_INTERFACE:CapnProto::capnp>
                                          $<INSTALL_INTERFACE:capnp> $<INSTALL_INTERFACE:kj>)
    string(APPEND PMEMCPY_PRIVATE_LIBRARIES " -lcapnp -lkj")
endif()

# The library links no MPI, so that one installed libpmemcpy serves Open MPI and MPICH: only the user's own program
# sees mpi.h, through <pmemcpy/mpi.hpp>. A user who compiles with mpicxx has no MPI::MPI_CXX, and needs none.
add_library(pmemcpy_mpi INTERFACE)
add_library(pmemcpy::mpi ALIAS pmemcpy_mpi)
set_target_properties(pmemcpy_mpi PROPERTIES EXPORT_NAME mpi)
target_link_libraries(pmemcpy_mpi INTERFACE pmemcpy $<TARGET_NAME_IF_EXISTS:MPI::MPI_CXX>)
target_compile_definitions(pmemcpy_mpi INTERFACE PMEMCPY_WITH_MPI=1)
