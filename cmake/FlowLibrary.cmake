# What makes a target one of flow's libraries, and the installed package of them.

# flow_library(TARGET NAME): is flow::NAME where it is found by find_package(flow), with a set of exported targets of its own.
function(flow_library target name)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
    if(BUILD_SHARED_LIBS)
        # Only what the public headers declare is seen from outside (flow/detail/export.hpp). Before 1.0 a minor version may break.
        set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VERSION ${PROJECT_VERSION}
            SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
    endif()
    if(FLOW_INSTALL)
        install(TARGETS ${target} EXPORT flow-${name} FILE_SET HEADERS)
        install(EXPORT flow-${name} NAMESPACE flow:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/flow FILE flow-${name}.cmake)
    endif()
endfunction()

function(flow_install_package)
    include(CMakePackageConfigHelpers)
    set(flow_is_static ON)
    if(BUILD_SHARED_LIBS)
        set(flow_is_static OFF)
    endif()
    set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/flow)
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/flowConfig.cmake.in ${PROJECT_BINARY_DIR}/flowConfig.cmake
        INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO)
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/flowConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/flowConfig.cmake ${PROJECT_BINARY_DIR}/flowConfigVersion.cmake DESTINATION ${folder})
endfunction()
