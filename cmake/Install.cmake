# What `cmake --install` lays down: the library, both target names, pkg-config files, the headers, the command.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pmemcpy")
install(TARGETS pmemcpy EXPORT pmemcpyTargets)
install(TARGETS pmemcpy_mpi EXPORT pmemcpyMpiTargets)  # read only where there is an MPI, so that its lack is told at configure time
if(TARGET pmemcpy_exchange)
    install(TARGETS pmemcpy_exchange EXPORT pmemcpyTargets)
    set_target_properties(pmemcpy_exchange PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
install(EXPORT pmemcpyTargets NAMESPACE pmemcpy:: DESTINATION "${package_dir}")
install(EXPORT pmemcpyMpiTargets NAMESPACE pmemcpy:: DESTINATION "${package_dir}")
foreach(headers pmemcpy pmap)
    if(EXISTS "${PROJECT_SOURCE_DIR}/include/${headers}")
        install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/${headers}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
                FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
    endif()
endforeach()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# The command lies beside the library it was built with, wherever the prefix is moved to.
if(TARGET pmemcpy_cli)
    set_target_properties(pmemcpy_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS pmemcpy_cli)
    get_target_property(cli_dir pmemcpy_cli BINARY_DIR)
    install(DIRECTORY "${cli_dir}/share/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    install(DIRECTORY "${cli_dir}/share/bash/" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(DIRECTORY "${cli_dir}/share/zsh/" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
    install(DIRECTORY "${cli_dir}/share/fish/" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

# All that is installed, for those who build nothing else.
add_custom_target(installed DEPENDS pmemcpy)
foreach(target pmemcpy_exchange pmemcpy_cli)
    if(TARGET ${target})
        add_dependencies(installed ${target})
    endif()
endforeach()

configure_package_config_file(cmake/pmemcpyConfig.cmake.in "${PROJECT_BINARY_DIR}/package/pmemcpyConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may change the promise, so only the same one will do.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/pmemcpyConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/pmemcpyConfig.cmake" "${PROJECT_BINARY_DIR}/package/pmemcpyConfigVersion.cmake"
        DESTINATION "${package_dir}")

# The prefix is written relative to the .pc file, so that an installed tree can be moved.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${pc_dir}" OUTPUT_VARIABLE pc_to_prefix)
foreach(pc pmemcpy pmemcpy-mpi)
    configure_file(cmake/${pc}.pc.in "${PROJECT_BINARY_DIR}/package/${pc}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/package/${pc}.pc" DESTINATION "${pc_dir}")
endforeach()
